#!/usr/bin/env python3
"""Solvers against those of SciPy and scikit-image: solvers_of_others.py PROGRAM

LSQR and LSMR take the same steps as SciPy's with the explicit matrix, whose columns are projections of single pixels.
SART of whole steps, of which the default is a tenth, comes as near to the truth in each pass as scikit-image's, whose
rays, weights and lengths of steps are others, and the two are nearer to each other.
Skipped (exit code 77) where numpy, h5py, scipy or scikit-image are not installed.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
    from scipy.sparse.linalg import lsmr, lsqr
    from skimage.data import shepp_logan_phantom
    from skimage.transform import iradon_sart, radon, resize
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

failures = 0


def expect(holds, what):
    global failures
    print(what, "" if holds else " FAILED")
    failures += not holds


def write_scan(name, rows, degrees):
    """Line integrals (view, row, bin)."""
    with h5py.File(name, "w") as file:
        file["/exchange/data"] = rows.astype(np.float32)
        file["/exchange/theta"] = degrees
        file["/exchange/data_white"] = np.ones((1, *rows.shape[1:]), np.float32)
        file["/exchange/data_dark"] = np.zeros((1, *rows.shape[1:]), np.float32)


def volume_of(name):
    found = []
    with h5py.File(name) as file:
        file.visititems(
            lambda _, item: found.append(item[:]) if isinstance(item, h5py.Dataset) and item.ndim == 3 else None)
    return found[0].astype(float)


def run(program, *words):
    subprocess.run([program, *map(str, words), "--quiet", "--overwrite"], check=True, stdout=subprocess.DEVNULL)


def reconstructed(program, scan, axis, size, *words):
    run(program, "recon", scan, "-o", "volume.h5", "--device", "cpu", "--minus-log", "false", "--model", "joseph",
        "--rotation-axis", axis, "--size", size, "--initial", "zero", "--reconstruction-algorithm", *words)
    return volume_of("volume.h5")[0]


def matrix_of(program, size, bins, axis, degrees):
    """A slice for each pixel, and so a row of each view."""
    with h5py.File("pixels.h5", "w") as file:
        file["/exchange/data"] = np.eye(size * size, dtype=np.float32).reshape(-1, size, size)
    np.savetxt("degrees.txt", degrees)
    run(program, "project", "pixels.h5", "-o", "columns.h5", "--bins", bins, "--axis-bin", axis, "--angles",
        "degrees.txt", "--model", "joseph")
    with h5py.File("columns.h5") as file:
        columns = -np.log(file["/exchange/data"][:].astype(float))
    return columns.transpose(0, 2, 1).reshape(-1, size * size)


def compare_krylov(program):
    random = np.random.default_rng(1)
    size, bins, axis, views = 13, 13, 5.6, 17  # solvers work on all that the detector sees
    degrees = 180 * (np.arange(views) + 0.4 * random.random(views)) / views
    matrix = matrix_of(program, size, bins, axis, degrees)
    data = matrix @ random.random(size * size) + 0.1 * random.standard_normal(len(matrix))
    write_scan("scan.h5", data.reshape(views, 1, bins), degrees)
    for steps in (1, 2, 3, 4):  # rounding in float grows soon, as it does in float by NumPy
        for name, theirs in (("lsqr", lsqr(matrix, data, atol=0, btol=0, conlim=0, iter_lim=steps)[0]),
                             ("lsmr", lsmr(matrix, data, atol=0, btol=0, conlim=0, maxiter=steps)[0])):
            ours = reconstructed(program, "scan.h5", axis, size, name, "--iterations", steps).ravel()
            error = np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)
            expect(error <= 1e-5, f"{name}, {steps} steps: {error:.2g} from SciPy's")


def compare_sart(program):
    size = 65
    degrees = np.linspace(0, 180, 90, endpoint=False)
    truth = resize(shepp_logan_phantom(), (size, size), anti_aliasing=True)
    down, across = np.mgrid[:size, :size] - size // 2
    truth[np.hypot(down, across) > size // 2] = 0
    sinogram = radon(truth, degrees)
    write_scan("scan.h5", sinogram.T[:, None, :], -degrees)  # rows of their images go down against y
    theirs = None
    for passes in (1, 2, 3):
        theirs = iradon_sart(sinogram, degrees, image=theirs)
        ours = reconstructed(program, "scan.h5", size // 2, size, "sart", "--relaxation", 1, "--iterations", passes)
        errors = [np.linalg.norm(image - truth) / np.linalg.norm(truth) for image in (ours, theirs)]
        between = np.linalg.norm(ours - theirs) / np.linalg.norm(truth)
        expect(errors[0] <= 1.05 * errors[1] and between <= min(errors),
               f"sart, {passes} passes: error {errors[0]:.3f}, scikit-image's {errors[1]:.3f}, between {between:.3f}")


if __name__ == "__main__":
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("TANDEM_CACHE", folder)
        os.chdir(folder)
        compare_krylov(program)
        compare_sart(program)
    sys.exit(1 if failures else 0)
