#!/usr/bin/env python3
"""Reads projections that pydicom writes as DICOM-CT-PD, and finds balls where they are: dicom_of_others.py PROGRAM

The places of sources and cells are those of the user manual, and the projections are chords through balls. Skipped (exit
code 77) where numpy, h5py or pydicom are not installed.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
    import pydicom
    from pydicom.dataset import FileDataset, FileMetaDataset
    from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, ImplicitVRLittleEndian, JPEG2000, generate_uid
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

# centres in the frame of the manual (mm), radii (mm), attenuations (1/mm): no two are mirrored
BALLS = [((22, 8, 5), 6, 0.05), ((-6, -20, -4), 5, 0.03), ((4, 18, -9), 4, 0.04)]
HALF = {"HFS": (1, -1, -1), "FFS": (-1, -1, 1), "HFP": (-1, 1, -1), "FFP": (1, 1, 1)}
ROWS, COLUMNS, VIEWS, TURNS, CLIMB = 24, 120, 360, 3, 14
RHO, DISTANCE, WIDTH, HEIGHT, CENTRAL = 150.0, 250.0, 1.1, 1.6, (61.75, 12.25)


def flying(view, mode):
    """How far the source is off the focal centre in a view: rad, mm, mm."""
    if mode == "FFSNONE":
        return 0.0, 0.0, 0.0
    side = (-1) ** view
    return side * 0.0011, side * 0.35, side * 0.9


def in_space(rho, phi, z):
    return np.stack(np.broadcast_arrays(-rho * np.sin(phi), rho * np.cos(phi), z), axis=-1)


def cells_of(phi, z, shape):
    """The cells (row, column) of a view, by the manual: columns count with phi, rows against z."""
    aside = (np.arange(1, COLUMNS + 1) - CENTRAL[0]) * WIDTH
    height = z - (np.arange(1, ROWS + 1) - CENTRAL[1]) * HEIGHT
    focal, ray, along = in_space(RHO, phi, 0.0), in_space(-1, phi, 0), np.array([np.cos(phi), np.sin(phi), 0])
    if shape == "FLAT":
        flat = focal + DISTANCE * ray + aside[:, None] * along
    else:
        turn = aside / DISTANCE
        flat = focal + DISTANCE * (np.cos(turn)[:, None] * ray + np.sin(turn)[:, None] * along)
    return flat[None] + height[:, None, None] * np.array([0, 0, 1])


def projection(source, cells):
    rays = cells - source
    rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
    total = np.zeros(cells.shape[:2])
    for centre, radius, attenuation in BALLS:
        to = np.array(centre) - source
        square = radius**2 - (to @ to - (rays @ to) ** 2)
        total += attenuation * 2 * np.sqrt(np.maximum(square, 0))
    return total


def write_view(path, k, mode, shape, position, syntax, turned):
    phi, z = 2 * np.pi * TURNS * k / VIEWS + 0.3, CLIMB * TURNS * (k / (VIEWS - 1) - 0.5)
    d_phi, d_z, d_rho = flying(k, mode)
    values = projection(in_space(RHO + d_rho, phi + d_phi, z + d_z), cells_of(phi, z, shape))
    slope, intercept = 0.0001, -0.01
    pixels = np.round((values - intercept) / slope).astype("<u2")
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID, meta.TransferSyntaxUID = CTImageStorage, generate_uid(), syntax
    data = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    data.SOPClassUID, data.SOPInstanceUID = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID
    data.SeriesInstanceUID, data.InstanceNumber, data.Modality = "2.25.7", k + 1, "CT"
    if position:
        data.PatientPosition = position
    stored = pixels.T if turned else pixels
    data.Rows, data.Columns = stored.shape
    data.SamplesPerPixel, data.PhotometricInterpretation = 1, "MONOCHROME2"
    data.BitsAllocated = data.BitsStored = 16
    data.HighBit, data.PixelRepresentation = 15, 0
    data.RescaleSlope, data.RescaleIntercept = slope, intercept
    group = {g: None for g in (0x7029, 0x7031, 0x7033, 0x7037, 0x7039, 0x7041)}
    for g in group:
        data.add_new((g, 0x0010), "LO", "CT-PD")
    for tag, vr, value in (
        ((0x7029, 0x1010), "US", ROWS), ((0x7029, 0x1011), "US", COLUMNS), ((0x7029, 0x1002), "FL", WIDTH),
        ((0x7029, 0x1006), "FL", HEIGHT), ((0x7029, 0x100B), "CS", shape), ((0x7031, 0x1001), "FL", phi),
        ((0x7031, 0x1002), "FL", z), ((0x7031, 0x1003), "FL", RHO), ((0x7031, 0x1031), "FL", DISTANCE),
        ((0x7031, 0x1033), "FL", list(CENTRAL)), ((0x7033, 0x100B), "FL", d_phi), ((0x7033, 0x100C), "FL", d_z),
        ((0x7033, 0x100D), "FL", d_rho), ((0x7033, 0x100E), "CS", mode), ((0x7037, 0x1009), "CS", "HELICAL"),
        ((0x7037, 0x100A), "CS", "FANBEAM"), ((0x7039, 0x1009), "CS", "YES"), ((0x7041, 0x1001), "DS", "0.0192"),
    ):  # fmt: skip
        data.add_new(tag, vr, value)
    sequence = pydicom.Dataset()  # its length is not said
    sequence.CodeValue = "x"
    data.ProcedureCodeSequence = pydicom.Sequence([sequence])
    data["ProcedureCodeSequence"].is_undefined_length = True
    data.PixelData = stored.tobytes()
    data["PixelData"].VR = "OW"
    data.save_as(path, enforce_file_format=True)


def mean_at(voxels, axes, place, radius):
    """The mean of the voxels within half the radius of a place (x, y, z)."""
    z, y, x = np.meshgrid(*axes, indexing="ij", sparse=True)
    near = (x - place[0]) ** 2 + (y - place[1]) ** 2 + (z - place[2]) ** 2 < (radius / 2) ** 2
    assert near.any(), place
    return voxels[near].mean()


def check_balls(path, signs, what, slack=0.03):
    """Balls have their attenuation where they are, and nearly none is where they would be in a mirror."""
    with h5py.File(path) as file:
        voxels = file["/exchange/data"][...]
        pitch, centre = (file["/process/tandem/" + name][...] for name in ("pitch", "centre"))
    axes = [c + p * (np.arange(n) - (n - 1) / 2) for c, p, n in zip(centre, pitch, voxels.shape)]
    right = True
    for place, radius, attenuation in BALLS:
        here = np.array(place) * signs
        found = mean_at(voxels, axes, here, radius)
        mirrored = max(mean_at(voxels, axes, here * m, radius) for m in ((-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, -1)))
        good = abs(found - attenuation) < slack * attenuation and mirrored < 0.2 * attenuation
        print(f"{what}: ball at {here}: {found:.4f} of {attenuation}, mirrored {mirrored:.4f}", "as expected" if good else "DIFFERS")
        right &= bool(good)
    return right


CASES = {  # flying focal spot, shape, position of the patient, transfer syntax, whether the image is turned
    "siemens": ("FFSXYZ", "CYLINDRICAL", "HFS", ExplicitVRLittleEndian, True),
    "plain": ("FFSNONE", "CYLINDRICAL", "FFS", ImplicitVRLittleEndian, False),
    "flat": ("FFSNONE", "FLAT", "", ExplicitVRLittleEndian, True),
}


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    right = True
    with tempfile.TemporaryDirectory() as name:
        os.environ.setdefault("TANDEM_CACHE", name)
        folder = pathlib.Path(name)

        def run(*arguments, fails=False):
            done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False)
            if (done.returncode != 0) != fails:
                print(done.stdout, done.stderr)
                sys.exit(1)
            return done.stdout + done.stderr

        for case, (mode, shape, position, syntax, turned) in CASES.items():
            (folder / case).mkdir()
            for k in range(VIEWS):
                write_view(folder / case / f"1-{k + 1:04d}.dcm", k, mode, shape, position, syntax, turned)
            signs = np.array(HALF.get(position, (1, 1, 1)))
            size = ["--voxel-size", "0.8", "--size", "80", "--slices", "44"]
            said = run("recon", case, "-o", case + ".h5", *size)
            right &= "0.0192" in said and "line integrals" in said
            right &= check_balls(folder / (case + ".h5"), signs, case)
            if mode != "FFSNONE":
                coarse = ["--voxel-size", "1.6", "--size", "40", "--slices", "22", "--views", "::2"]
                run("recon", case, "-o", "s.h5", *coarse, "--reconstruction-algorithm", "cgls", "--iterations", "8", "--quiet")
                right &= check_balls(folder / "s.h5", signs, case + ", solver", 0.12)
        slice_ = folder / "plain" / "1-0001.dcm"
        right &= "give their folder" in run("info", str(slice_), fails=True)
        data = pydicom.dcmread(slice_)
        for tag in [e.tag for e in data if e.tag.group > 0x7000 and e.tag.group < 0x7FE0]:
            del data[tag]
        (folder / "slices").mkdir()
        data.save_as(folder / "slices" / "a_1.dcm")
        said = run("info", "slices", fails=True)
        right &= said.count("\n") == 1 and "is a CT image of DICOM" in said
        (folder / "packed").mkdir()
        data.file_meta.TransferSyntaxUID = JPEG2000
        data.PixelData = pydicom.encaps.encapsulate([b"\xff\x4f\xff\x51"])
        data["PixelData"].is_undefined_length = True
        data.save_as(folder / "packed" / "a_1.dcm", implicit_vr=False, little_endian=True)
        said = run("info", "packed", fails=True)
        right &= said.count("\n") == 1 and "is a CT image, packed by JPEG 2000" in said
    return 0 if right else 1


sys.exit(main())
