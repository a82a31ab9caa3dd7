#!/usr/bin/env python3
"""Reconstructs scans that h5py packed with the filters of hdf5plugin: read_of_others.py PROGRAM

The volumes must have the same bits as that of the scan that is not packed. Skipped (exit code 77) where numpy, h5py or
hdf5plugin are not installed.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import hdf5plugin
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

VIEWS, ROWS, BINS = 24, 37, 41


def packings():
    """Name and arguments of create_dataset, for each filter that is installed here."""
    yield "none", {}
    yield "gzip, shuffle, Fletcher-32", {"compression": "gzip", "shuffle": True, "fletcher32": True}
    if h5py.h5z.filter_avail(32004):
        yield "LZ4", hdf5plugin.LZ4()
    if h5py.h5z.filter_avail(32008):
        yield "bitshuffle", hdf5plugin.Bitshuffle(lz4=False)
        yield "bitshuffle, LZ4", hdf5plugin.Bitshuffle()
        yield "bitshuffle, LZ4, blocks", hdf5plugin.Bitshuffle(nelems=256)
        try:
            yield "bitshuffle, zstd", hdf5plugin.Bitshuffle(cname="zstd")
        except TypeError:
            pass  # an old hdf5plugin
    if h5py.h5z.filter_avail(32001):
        for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
            for shuffle in (0, 1, 2):
                yield f"Blosc, {name}, shuffle {shuffle}", hdf5plugin.Blosc(cname=name, clevel=5, shuffle=shuffle)
    if h5py.h5z.filter_avail(32015):
        yield "zstd, shuffle", {"shuffle": True, **hdf5plugin.Zstd()}


def voxels(program, scan):
    volume = scan.with_suffix(".volume.h5")
    alone = {key: value for key, value in os.environ.items() if key != "HDF5_PLUGIN_PATH"}
    subprocess.run([program, "recon", scan, "-o", volume, "--quiet"], check=True, env=alone, stdout=subprocess.DEVNULL)
    with h5py.File(volume) as file:
        return file["/exchange/data"][...]


def main():
    random = np.random.default_rng(1)
    counts = random.poisson(5000 - 2000 * np.hanning(BINS), (VIEWS, ROWS, BINS))
    same = True
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("TANDEM_CACHE", folder)
        for stored in ("<u2", ">u2", "<i2", "<u4", "<f4", "<f8"):
            plain = None
            for number, (name, arguments) in enumerate(packings()):
                scan = pathlib.Path(folder) / f"scan_{number}.h5"
                with h5py.File(scan, "w") as file:
                    chunks = None if number == 0 else (5, 16, BINS)
                    file.create_dataset("/exchange/data", data=counts.astype(stored), chunks=chunks, **arguments)
                    file["/exchange/data_white"] = np.full((1, ROWS, BINS), 6000, stored)
                    file["/exchange/theta"] = np.linspace(0, 180, VIEWS, endpoint=False)
                found = voxels(sys.argv[1], scan)
                plain = found if plain is None else plain
                good = np.isfinite(found).all() and found.any() and np.array_equal(found, plain)
                print(f"{stored}, {name}:", "as expected" if good else "DIFFERS")
                same = same and good
    return 0 if same else 1


sys.exit(main())
