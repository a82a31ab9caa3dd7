#!/usr/bin/env python3
"""FBP of noise by the Fourier model against finufft in double: finufft_reference.py PROGRAM

Skipped (exit code 77) where numpy, h5py or finufft are not installed.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import finufft
    import h5py
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

BINS, VIEWS, ROWS, AXIS = 200, 150, 2, 101.37
PADDED = 512  # the length of a row's transform, by the rule of docs/kernels/fourier.md


def write_scan(name, rows, angles):
    with h5py.File(name, "w") as file:
        file["/exchange/data"] = rows
        file["/exchange/theta"] = np.degrees(angles)
        file["/exchange/data_white"] = np.ones((1, ROWS, BINS), np.float32)
        file["/exchange/data_dark"] = np.zeros((1, ROWS, BINS), np.float32)


def volume_of(name):
    found = []
    with h5py.File(name) as file:
        file.visititems(
            lambda _, item: found.append(item[:]) if isinstance(item, h5py.Dataset) and item.ndim == 3 else None)
    return found[0].astype(float)


def reference(row_of_view, angles):
    """The sum over views of each row's trigonometric polynomial, which no window filters, at all pixels."""
    k = np.arange(-PADDED // 2, PADDED // 2 + 1)
    weights = np.ones(k.size)
    weights[0] = weights[-1] = 0.5
    waves = np.exp(-2j * np.pi * np.outer(np.arange(BINS), k) / PADDED)
    samples = (row_of_view @ waves) * weights / PADDED * np.exp(2j * np.pi * k * AXIS / PADDED)
    gaps = np.diff(np.r_[angles[-1] - np.pi, angles, angles[0] + np.pi])
    samples *= (0.5 * (gaps[1:] + gaps[:-1]))[:, None]
    x = (2 * np.pi * k / PADDED * np.cos(angles)[:, None]).ravel()
    y = (2 * np.pi * k / PADDED * np.sin(angles)[:, None]).ravel()
    half_a_pixel = np.exp(0.5j * (x + y))  # finufft has a pixel at zero, the grid has its middle there
    return finufft.nufft2d1(x, y, samples.ravel() * half_a_pixel, (BINS, BINS), eps=1e-12, isign=1).real.T


def main(program):
    random = np.random.default_rng(1)
    rows = (random.random((VIEWS, ROWS, BINS)) - 0.3).astype(np.float32)
    angles = np.pi * (np.arange(VIEWS) + 0.3 * random.random(VIEWS)) / VIEWS
    exact = [reference(rows[:, row].astype(float), angles) for row in range(ROWS)]
    inside = np.hypot(*(np.mgrid[:BINS, :BINS] - 0.5 * (BINS - 1))) < 0.5 * BINS
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("TANDEM_CACHE", folder)
        scan, volume = pathlib.Path(folder) / "scan.h5", pathlib.Path(folder) / "volume.h5"
        write_scan(scan, rows, angles)
        for accuracy in ("1e-3", "1e-4", "1e-5"):
            subprocess.run([program, "recon", scan, "-o", volume, "--overwrite", "--device", "cpu", "--quiet",
                            "--model", f"fourier:accuracy={accuracy}", "--minus-log", "false",
                            "--rotation-axis", str(AXIS), "--size", str(BINS), "--fbp-filter", "none"],
                           check=True, stdout=subprocess.DEVNULL)
            for row, image in enumerate(volume_of(volume)):
                error = np.linalg.norm((image - exact[row])[inside]) / np.linalg.norm(exact[row][inside])
                print(f"accuracy {accuracy}, row {row}: relative error {error:.2g}")
                failures += not error <= float(accuracy)
    return failures


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1]) else 0)
