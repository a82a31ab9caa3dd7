#!/usr/bin/env python3
"""Reads volumes with h5py and tifffile and compares every voxel: read_by_others.py PROGRAM

Skipped (exit code 77) where numpy, h5py or tifffile are not installed.
"""
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

INTEGERS = ["--min", "-0.01", "--max", "0.05"]
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
    top, (low, high) = np.iinfo(name).max, (np.float32(v).astype(float) for v in INTEGERS[1::2])
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


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    right = True
    with tempfile.TemporaryDirectory() as name:
        os.environ.setdefault("TANDEM_CACHE", name)
        folder = pathlib.Path(name)

        def run(*arguments):
            subprocess.run([program, *arguments, "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)

        run("simulate", "-o", "scan.h5", "--size", "48", "--rows", "5", "--views", "40")
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
    for packing in set(PACKED) - set(filters()):
        print("skipped:", packing, "needs hdf5plugin")
    return 0 if right else 1


sys.exit(main())
