#!/usr/bin/env python3
"""Reads volumes with h5py, tifffile, zarr, SimpleITK, pynrrd and pydicom, and compares every voxel: read_by_others.py PROGRAM

Skipped (exit code 77) where numpy, h5py or tifffile are not installed; parts, where another is not.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
    import tifffile
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

RANGE = (-0.4, 2)
INTEGERS = ["--range", "{}:{}".format(*RANGE)]
PACKED = ("zstd", "blosc")
TYPES = {"float32": [], "float16": [], "uint16": INTEGERS, "uint8": INTEGERS}


def filters():
    """The kinds of compression that h5py can read here."""
    try:
        import hdf5plugin
    except ImportError:
        return ()
    found = getattr(hdf5plugin, "FILTERS", {})
    return [kind for kind in PACKED if kind in found]


def stored_as(volume, name):
    """The voxels of a type, by numpy alone."""
    if name.startswith("float"):
        return volume.astype(name)
    top, (low, high) = np.iinfo(name).max, (np.float32(v).astype(float) for v in RANGE)
    return np.floor(np.clip((volume - low) * (top / (high - low)), 0, top) + 0.5).astype(name)


def require_same(found, expected, what):
    same = found.dtype == expected.dtype and np.array_equal(found, expected)
    print(f"{what}: {found.dtype} {found.shape}", "as expected" if same else "DIFFERS")
    return same


def h5_voxels(path):
    with h5py.File(path) as file:
        return file["/exchange/data"][...]


def tiff_voxels(path):
    return np.stack([tifffile.imread(p) for p in sorted(path.parent.glob(path.stem + "_*.tif"))])


def close(found, expected, what):
    same = np.allclose(found, expected, rtol=1e-6, atol=0)
    print(f"{what}: {found}", "as expected" if same else f"DIFFERS from {expected}")
    return same


PITCH = 0.025  # mm
FIRST = -PITCH * (48 - 1) / 2  # along x and y; the centre of the first voxel


def check_tiff(folder, plain):
    """The size of voxels, in slices and in one BigTIFF."""
    with tifffile.TiffFile(folder / "float32_00000.tif") as file:
        tags = file.pages[0].tags
        right = close(np.divide(*tags["XResolution"].value), 10 / PITCH, "TIFF, pixels per centimetre")
        right &= int(tags["ResolutionUnit"].value) == 3
    with tifffile.TiffFile(folder / "v.btf") as file:
        about = file.imagej_metadata
        right &= file.is_bigtiff and about["unit"] == "mm" and about["slices"] == 5
        right &= close(about["spacing"], PITCH, "BigTIFF, spacing")
        right &= close(np.divide(*file.pages[0].tags["XResolution"].value), 1 / PITCH, "BigTIFF, pixels per mm")
        right &= len(file.pages) == 5 and len(file.series) == 1
        right &= require_same(file.asarray(), plain, "BigTIFF")
    return right & require_same(tifffile.memmap(folder / "v.btf", mode="r")[...], plain, "BigTIFF in memory")


def check_itk(folder, plain):
    try:
        import SimpleITK
    except ImportError:
        print("skipped: MetaImage and NRRD need SimpleITK")
        return True
    right = True
    for name in ("v.mha", "v.nrrd"):
        image = SimpleITK.ReadImage(str(folder / name))
        right &= require_same(SimpleITK.GetArrayFromImage(image), plain, name)
        right &= close(image.GetSpacing(), [PITCH] * 3, name + ", spacing")
        right &= close(image.GetOrigin(), [FIRST, FIRST, -2 * PITCH], name + ", origin")
        right &= close(image.GetDirection(), np.eye(3).ravel(), name + ", direction")
    return right


def read_series(folder):
    """A series of DICOM, by SimpleITK: voxels, and the image."""
    import SimpleITK

    reader = SimpleITK.ImageSeriesReader()
    assert len(reader.GetGDCMSeriesIDs(str(folder))) == 1
    reader.SetFileNames(reader.GetGDCMSeriesFileNames(str(folder)))
    image = reader.Execute()
    return SimpleITK.GetArrayFromImage(image), image


WATER = 2.0  # 1/mm


def check_dicom(folder, plain):
    try:
        import pydicom
        import SimpleITK
    except ImportError as missing:
        print("skipped: DICOM:", missing)
        return True
    units = 1000 * (plain / WATER - 1)
    right = True
    for name, expected, slack in (("series", plain, None), ("units", units, 0.51)):
        voxels, image = read_series(folder / name)
        first = pydicom.dcmread(folder / name / "v_00000.dcm")
        slope = float(first.RescaleSlope)
        by_pydicom = first.pixel_array * slope + float(first.RescaleIntercept)
        far = max(np.abs(voxels - expected).max(), np.abs(by_pydicom - expected[0]).max())
        right &= bool(far <= (slack or 0.51 * slope))
        print(f"DICOM, {name}: {voxels.shape}, within {far:.2g}", "as expected" if right else "DIFFERS")
        right &= first.RescaleType == ("US" if slack is None else "HU") and (slack is None or slope == 1)
        right &= close(image.GetSpacing(), [PITCH] * 3, "DICOM, spacing")
        right &= close(image.GetOrigin(), [FIRST, FIRST, -2 * PITCH], "DICOM, origin")
        right &= close(image.GetDirection(), np.eye(3).ravel(), "DICOM, direction")
    return right


def check_nrrd(folder, plain):
    try:
        import nrrd
    except ImportError:
        print("skipped: NRRD needs pynrrd")
        return True
    voxels, head = nrrd.read(str(folder / "v.nrrd"))
    return require_same(voxels.transpose(), plain, "NRRD") & (head["space units"] == ["mm"] * 3)


def check_zarr(folder, plain):
    try:
        import zarr
    except ImportError:
        print("skipped: OME-Zarr needs zarr")
        return True
    right = True
    for name in ("v.zarr", "new.zarr", *(kind + ".zarr" for kind in (*PACKED, *("new_" + kind for kind in PACKED)))):
        group = zarr.open(str(folder / name), mode="r")
        right &= require_same(np.asarray(group["0"]), plain, name)
        levels = group.attrs.get("ome", group.attrs)["multiscales"][0]["datasets"]
        scale, place = levels[0]["coordinateTransformations"]
        right &= close(scale["scale"], [PITCH] * 3, name + ", scale")
        right &= close(place["translation"], [-2 * PITCH, FIRST, FIRST], name + ", place")
    return right & check_ome(folder / "wide.zarr") & check_ome(folder / "wide_new.zarr") & check_model(folder) & read_back(folder, plain)


def check_model(folder):
    """OME-Zarr 0.5 as the models of its specification have it."""
    try:
        import ome_zarr_models
        import zarr
    except ImportError:
        print("skipped: the specification of OME-Zarr needs ome-zarr-models")
        return True
    model = ome_zarr_models.open_ome_zarr(zarr.open(str(folder / "wide_new.zarr"), mode="r"))
    right = model.ome_zarr_version == "0.5"
    print("OME-Zarr, model:", type(model).__module__, "as expected" if right else "DIFFERS")
    return right


def read_back(folder, plain):
    """Arrays of zarr-python in Zarr 3, by default and in shards, have the voxels of the volume."""
    import zarr
    right = True
    for name, options in (("default", {}), ("plain", {"compressors": None, "dtype": ">f4"}),
                          ("sharded", {"chunks": (1, 16, 24), "shards": (3, 48, 48)}),
                          ("gzip", {"chunks": (2, 20, 48), "compressors": zarr.codecs.GzipCodec()})):
        options = {"dtype": plain.dtype, **options}
        array = zarr.create_array(str(folder / (name + "_3.zarr")), shape=plain.shape, **options)
        array[...] = plain
        right &= rmse_of(folder, name + "_3.zarr") == 0
    print("Zarr 3 of zarr-python:", "as expected" if right else "DIFFERS")
    return right


def rmse_of(folder, truth):
    subprocess.run([program(), "recon", "scan.h5", "-o", "again.h5", "--truth", truth, "--json", "again.json", "--quiet"],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return json.loads((folder / "again.json").read_text())["quality"]["rmse"]


def check_ome(path):
    try:
        from ome_zarr.io import parse_url
        from ome_zarr.reader import Reader
    except ImportError:
        print("skipped: levels of OME-Zarr need ome-zarr")
        return True
    node = next(iter(Reader(parse_url(str(path)))()))
    shapes = [level.shape for level in node.data]
    full, half = (np.asarray(level) for level in node.data[:2])
    means = np.pad(full, [(0, n % 2) for n in full.shape], constant_values=np.nan)
    means = np.nanmean(means.reshape(half.shape[0], 2, half.shape[1], 2, half.shape[2], 2), axis=(1, 3, 5))
    right = shapes == [(5, 131, 131), (3, 66, 66), (2, 33, 33)]
    # eight numbers in float32, of which the largest has the error of all
    right &= np.allclose(half, means, rtol=0, atol=8 * 2.0**-24 * np.abs(full).max())
    print("OME-Zarr, levels:", shapes, [axis["unit"] for axis in node.metadata["axes"]], "as expected" if right else "DIFFER")
    return bool(right) and all(axis["unit"] == "millimeter" for axis in node.metadata["axes"])


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def check_nexus(path, plain):
    """As programs for NeXus find the default plot."""
    with h5py.File(path) as file:
        entry = file["entry"]
        data = entry[entry.attrs["default"]]
        right = text(entry.attrs["NX_class"]) == "NXentry" and text(data.attrs["NX_class"]) == "NXdata"
        right &= text(entry["definition"][()]) == "NXtomoproc"
        right &= [text(axis) for axis in data.attrs["axes"]] == ["z", "y", "x"]
        right &= require_same(data[data.attrs["signal"]][...], plain, "NeXus")
        right &= close(data["x"][0], FIRST, "NeXus, x") & (text(data["x"].attrs["units"]) == "mm")
    print("NeXus, names:", "as expected" if right else "DIFFER")
    return bool(right)


def program():
    return str(pathlib.Path(sys.argv[1]).resolve())


def main():
    right = True
    with tempfile.TemporaryDirectory() as name:
        os.environ.setdefault("TANDEM_CACHE", name)
        folder = pathlib.Path(name)

        def run(*arguments):
            subprocess.run([program(), *arguments, "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)

        run("simulate", "-o", "scan.h5", "--size", "48", "--rows", "5", "--views", "40", "--pixel-size", str(PITCH))
        run("recon", "scan.h5", "-o", "plain.h5")
        plain = h5_voxels(folder / "plain.h5")
        for kind, options in TYPES.items():
            run("recon", "scan.h5", "-o", "v.h5", "--dtype", kind, *options)
            right &= require_same(h5_voxels(folder / "v.h5"), stored_as(plain, kind), "HDF5")
            for packing in filters():
                run("recon", "scan.h5", "-o", "v.h5", "--dtype", kind, "--compression", packing, *options)
                right &= require_same(h5_voxels(folder / "v.h5"), stored_as(plain, kind), "HDF5, " + packing)
            run("recon", "scan.h5", "-o", kind + ".tif", "--dtype", kind, *options)
            right &= require_same(tiff_voxels(folder / (kind + ".tif")), stored_as(plain, kind), "TIFF")
        for name in ("v.btf", "v.mha", "v.nrrd", "v.zarr"):
            run("recon", "scan.h5", "-o", name)
        for packing in PACKED:
            run("recon", "scan.h5", "-o", packing + ".zarr", "--compression", packing)
            run("recon", "scan.h5", "-o", "new_" + packing + ".zarr", "--compression", packing, "--ome-zarr", "0.5")
        run("recon", "scan.h5", "-o", "new.zarr", "--ome-zarr", "0.5")
        for name, version in (("wide", "0.4"), ("wide_new", "0.5")):
            run("recon", "scan.h5", "-o", name + ".zarr", "--size", "131", "--ome-zarr", version)
        for name, options in (("series", ["--range", "-3:12"]), ("units", ["--hu", str(WATER)])):
            (folder / name).mkdir()
            run("recon", "scan.h5", "-o", name + "/v.dcm", *options)
        for check in (check_tiff, check_itk, check_nrrd, check_zarr, check_dicom):
            right &= check(folder, plain)
        right &= check_nexus(folder / "plain.h5", plain)
    for packing in set(PACKED) - set(filters()):
        print("skipped:", packing, "needs hdf5plugin")
    return 0 if right else 1


sys.exit(main())
