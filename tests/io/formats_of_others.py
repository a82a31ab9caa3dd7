#!/usr/bin/env python3
"""Reconstructs scans that fabio, tifffile, h5py, scipy and nxtomo wrote: formats_of_others.py PROGRAM

The volume of each format must have the same bits as that of the same scan in plain HDF5. What needs a package that is
missing is skipped; all is if numpy or h5py is missing (exit code 77).
"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

VIEWS, ROWS, BINS = 18, 5, 31


def volume_of(program, scan, *options):
    volume = pathlib.Path(os.environ["TANDEM_CACHE"]) / "volume.h5"
    arguments = ["recon", scan, "-o", volume, "--quiet", "--overwrite", "--rotation-axis", "15.25",
                 "--padding", "cosine", *options]  # circles are found in rows, and some cases have one row
    subprocess.run([program, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)
    with h5py.File(volume) as file:
        return file["/exchange/data"][...]


def plain(folder, counts, flat, dark):
    scan = folder / "plain.h5"
    with h5py.File(scan, "w") as file:
        file["/exchange/data"], file["/exchange/data_white"], file["/exchange/data_dark"] = counts, flat, dark
        file["/exchange/theta"] = np.arange(VIEWS) * 180 / VIEWS
    return scan


def edf_cases(folder, counts, flat, dark):
    """Folders of EDF as the ESRF writes them, in all types and both byte orders, and one file of all views."""
    import fabio

    for kind in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"):
        for order in ("<", ">"):
            place = folder / f"edf_{kind}_{'low' if order == '<' else 'high'}"
            place.mkdir()
            stored = order + kind

            def write(name, image):
                path = str(place / name)
                fabio.edfimage.EdfImage(data=image.astype(kind)).write(path)
                if order == "<":
                    return
                text = pathlib.Path(path).read_bytes()  # fabio writes low bytes first, and reads both
                header = text[:-image.size * np.dtype(kind).itemsize].replace(b"LowByteFirst", b"HighByteFirst")
                pathlib.Path(path).write_bytes(header + image.astype(stored).tobytes())
                assert np.array_equal(fabio.open(path).data, image), "fabio does not read what was made of its file"

            for k, image in enumerate(counts):
                write(f"s_{k:04d}.edf", image)
            write("refHST0000.edf", flat[0])
            write("dark.edf", dark[0])
            (place / "s_.info").write_text(f"TOMO_N= {VIEWS}\nScanRange= 180\n")
            yield place.name, place, []
    many = fabio.edfimage.EdfImage(data=counts[0])
    for image in counts[1:]:
        many.append_frame(data=image)
    many.write(str(folder / "many.edf"))
    header = f"""{{\nByteOrder = LowByteFirst ;\nDataType = UnsignedShort ;\nDim_1 = {BINS} ;\nDim_2 = {ROWS} ;\n
Size = {counts.nbytes} ;\n}}\n"""
    (folder / "one_header.edf").write_bytes(header.encode() + counts.tobytes())
    fabio.edfimage.EdfImage(data=flat[0]).write(str(folder / "one_flat.edf"))
    fabio.edfimage.EdfImage(data=dark[0]).write(str(folder / "one_dark.edf"))
    for name in ("many", "one_header"):
        yield f"EDF of many images, {name}", folder / f"{name}.edf", [
            "--arc", "180", "--flats", folder / "one_flat.edf", "--darks", folder / "one_dark.edf"]


def tiff_cases(folder, counts, flat, dark):
    import tifffile

    tifffile.imwrite(folder / "flat_one.tif", flat[0])
    tifffile.imwrite(folder / "dark_one.tif", dark[0])
    also = ["--arc", "180", "--flats", folder / "flat_one.tif", "--darks", folder / "dark_one.tif"]
    for name, arguments in {"pages": {}, "ImageJ": {"imagej": True},
                            "ImageJ, one directory": {"imagej": True, "truncate": True},
                            "one directory": {"truncate": True}, "big": {"bigtiff": True},
                            "tiles": {"tile": (16, 16)}, "big endian": {"byteorder": ">"}}.items():
        path = folder / f"{name}.tif"
        tifffile.imwrite(path, counts, **arguments)
        yield "TIFF, " + name, path, also
        if "one directory" not in name:
            continue
        halves = folder / name
        halves.mkdir()
        for k in (0, 1):
            tifffile.imwrite(halves / f"{k}.tif", counts[k * VIEWS // 2:(k + 1) * VIEWS // 2], **arguments)
        yield f"TIFF, a folder of {name}", halves, also
    times = np.stack([counts[::-1], counts])
    tifffile.imwrite(folder / "times.tif", times, imagej=True, metadata={"axes": "TZYX"})
    yield "TIFF, a time", folder / "times.tif", [*also, "--time", "1"]


def hdf5_cases(folder, counts, flat, dark):
    """Frames in files of their own, joined by a virtual data set; an axis of times; images turned."""
    for k in range(0, VIEWS, 6):
        with h5py.File(folder / f"part_{k}.h5", "w") as file:
            file.create_dataset("/frames", data=counts[k:k + 6], chunks=(1, ROWS, BINS), compression="gzip")
    layout = h5py.VirtualLayout(shape=counts.shape, dtype=counts.dtype)
    for k in range(0, VIEWS, 6):
        layout[k:k + 6] = h5py.VirtualSource(f"part_{k}.h5", "/frames", shape=(6, ROWS, BINS))
    angles = np.arange(VIEWS) * 180 / VIEWS
    with h5py.File(folder / "virtual.h5", "w") as file:
        file.create_virtual_dataset("/exchange/data", layout)
        file["/exchange/data_white"], file["/exchange/data_dark"], file["/exchange/theta"] = flat, dark, angles
    yield "HDF5, virtual", folder / "virtual.h5", []
    for name, stored, options in (("times", np.stack([counts[::-1], counts]), ["--time", "1"]),
                                  ("turned", np.rot90(counts, axes=(1, 2)), ["--orient", "flip-rows,transpose"])):
        with h5py.File(folder / f"{name}.h5", "w") as file:
            turn = (lambda a: np.rot90(a, axes=(1, 2))) if name == "turned" else (lambda a: a)
            file["/exchange/data"], file["/exchange/theta"] = stored, angles
            file["/exchange/data_white"], file["/exchange/data_dark"] = turn(flat), turn(dark)
        yield "HDF5, " + name, folder / f"{name}.h5", options


def matlab_cases(folder, counts, flat, dark):
    from scipy.io import savemat

    lines = -np.log((counts[:, 2] - dark[0, 2].astype("f4")) / (flat[0, 2] - dark[0, 2].astype("f4")))
    variables = {"scan": {"sinogram": lines.astype("f8"), "parameters": {"angles": np.arange(VIEWS) * 180.0 / VIEWS}}}
    for packed in (False, True):
        path = folder / f"scan_{packed}.mat"
        savemat(path, variables, do_compression=packed)
        yield f"MATLAB, packed {packed}", path, ["--minus-log", "false"]


def nxtomo_checks(program, folder, counts, flat, dark, expected):
    """Files of the package nxtomo whose fields are not harmless, each with what it must give."""
    import nxtomo.application.nxtomo as application
    import pint
    from nxtomo.nxobject.nxdetector import ImageKey

    unit = pint.get_application_registry()

    def write(name, first_flat=flat, **said):
        path, frames, none = folder / f"{name}.nx", VIEWS + 2, np.zeros(2)
        scan = application.NXtomo()
        detector, sample = scan.instrument.detector, scan.sample
        detector.data = np.concatenate([dark, first_flat, counts])
        detector.image_key_control = [ImageKey.DARK_FIELD, ImageKey.FLAT_FIELD] + [ImageKey.PROJECTION] * VIEWS
        sample.rotation_angle = np.concatenate([none, np.arange(VIEWS) * 180 / VIEWS]) * unit.degree
        detector.x_pixel_size = detector.y_pixel_size = 2 * unit.mm
        for key, values in said.items():
            if key.endswith("translation"):
                setattr(sample, key, np.concatenate([none, values]) * unit.mm)
        sample.x_pixel_size = sample.y_pixel_size = said.get("pixel", 2) * unit.mm
        detector.count_time = said.get("times", np.ones(frames)) * unit.second
        scan.save(str(path), data_path="entry", overwrite=True)
        return path

    def same(volume, other):
        return np.allclose(volume, other, rtol=0, atol=1e-5 * np.abs(other).max())

    moved = np.arange(VIEWS) % 3
    np.savetxt(folder / "shifts.txt", moved)
    shifted = volume_of(program, folder / "plain.h5", "--view-shifts", folder / "shifts.txt")
    yield "NXtomo, the pixel at the sample", same(volume_of(program, write("pixel", pixel=0.5)) * 0.5, expected)
    half = dark + (flat - dark) // 2
    volume = volume_of(program, write("times", half, times=np.array([1, 0.5] + [1] * VIEWS)))
    yield "NXtomo, times of exposure", same(volume * 2, expected)
    yield "NXtomo, a sample that moves", same(volume_of(program, write("moves", x_translation=2 * moved)) * 2, shifted)
    helix = [program, "recon", write("helix", y_translation=2 * moved), "-o", folder / "helix.h5", "--quiet"]
    refused = subprocess.run(list(map(str, helix)), stderr=subprocess.PIPE, text=True)
    yield "NXtomo, a helix is refused by a filter", refused.returncode == 4 and "climbs" in refused.stderr
    solver = subprocess.run([*map(str, helix), "--reconstruction-algorithm", "cgls", "--iterations", "1"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield "NXtomo, a helix is taken by a solver", solver.returncode == 0


def main():
    random = np.random.default_rng(2)
    dark = random.integers(1, 6, (1, ROWS, BINS)).astype("u2")
    flat = (dark + 2 * random.integers(45, 55, (1, ROWS, BINS))).astype("u2")
    counts = (dark + 20 + random.integers(0, 60, (VIEWS, ROWS, BINS))).astype("u2")
    right = True
    with tempfile.TemporaryDirectory() as name:
        os.environ["TANDEM_CACHE"] = name
        folder = pathlib.Path(name)
        expected = volume_of(sys.argv[1], plain(folder, counts, flat, dark))
        for cases in (edf_cases, tiff_cases, hdf5_cases, matlab_cases):
            try:
                for what, scan, options in cases(folder, counts, flat, dark):
                    found = volume_of(sys.argv[1], scan, *options)
                    if cases is matlab_cases:  # its logarithm is that of numpy: rounding of float32, twice
                        same = np.allclose(found[0], expected[2], rtol=0, atol=1e-5 * np.abs(expected).max())
                    else:
                        same = np.array_equal(found, expected)
                    print(f"{what}:", "as expected" if same else "DIFFERS")
                    right &= bool(same)
            except ImportError as missing:
                print("skipped:", missing)
        try:
            for what, good in nxtomo_checks(sys.argv[1], folder, counts, flat, dark, expected):
                print(f"{what}:", "as expected" if good else "DIFFERS")
                right &= bool(good)
        except ImportError as missing:
            print("skipped:", missing)
    return 0 if right else 1


sys.exit(main())
