#!/usr/bin/env python3
"""Parts of a turn, scored: htc.py PROGRAM FOLDER [--size N] [--device D] [--starts DEG,DEG,...] [--json FILE]

FOLDER has scans a, b and the solid disc of the Helsinki Tomography Challenge 2022 (Zenodo record 6984868: *_full.mat,
*_full_recon_fbp_seg.png). The solid disc tells the hardening of the beam: a polynomial of line integrals whose values
are chords of its circle. A line of the table has Matthews correlations (MCC) with the segmentation of the whole scan,
for tv by its defaults and for --limited-angle auto, which is told that the outer 4 mm are full, as those of all discs
are. Without FOLDER it says "skipped".
"""
import argparse
import json
import pathlib
import subprocess
import sys

arguments = argparse.ArgumentParser()
arguments.add_argument("program", type=pathlib.Path)
arguments.add_argument("folder", type=pathlib.Path)
arguments.add_argument("--size", type=int, default=256, choices=(256, 512))
arguments.add_argument("--device", default="cpu")
arguments.add_argument("--starts", default="0")
arguments.add_argument("--json", type=pathlib.Path)
given = arguments.parse_args()
if not given.folder.is_dir():
    sys.exit(print(f"skipped: {given.folder} is not there"))

import h5py
import numpy as np
import scipy.io
from PIL import Image

SOURCE, DETECTOR, CELL, SHELL = 410.66, 553.74, 0.2, 4.0  # mm
PUBLISHED = {"a": (0.988, 0.963, 0.916), "b": (0.933, 0.892, 0.785)}  # CIL Algo2, its README
AIR = "0:16"  # columns
OUT = pathlib.Path("htc_volume.h5")


def scan(name):
    """Line integrals (view, bin) from the level of air."""
    content = scipy.io.loadmat(given.folder / f"htc2022_{name}_full.mat", simplify_cells=True)
    lines = next(v for k, v in content.items() if not k.startswith("__"))["sinogram"].astype(float)
    return lines - lines[:, :16].mean(axis=1, keepdims=True)


def recon(name, views, *options):
    """The slice, and the report."""
    report = OUT.with_suffix(".json")
    command = [given.program.resolve(), "recon", given.folder / f"htc2022_{name}_full.mat", "-o", OUT, "--overwrite", "--minus-log",
               "false", "--air-columns", AIR, "--views", views, "--size", given.size, "--voxel-size",
               0.14832 * 512 / given.size, "--device", given.device, "--json", report, *options]
    if given.size == 256:
        command += ["--binning", "2"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    with h5py.File(OUT) as file:
        return file["/exchange/data"][0], json.loads(report.read_text())


def rays(name, views):
    """Chords of the circle of the disc, and how deep within it rays run, mm."""
    first, last = map(int, views.split(":"))
    disc = recon(name, views, "--reconstruction-algorithm", "sirt", "--iterations", "1",
                 "--support", "disc")[1]["support"]
    angles = np.deg2rad(np.arange(first, last) / 2)[:, None]
    bins = (np.arange(560) - 279.5) * CELL
    across = disc["x"] * np.cos(angles) + disc["y"] * np.sin(angles)
    along = SOURCE - disc["x"] * np.sin(angles) + disc["y"] * np.cos(angles)
    depth = disc["radius"] - np.abs(bins * along - across * DETECTOR) / np.hypot(bins, DETECTOR)
    beside = disc["radius"] - np.maximum(depth, 0)
    return 2 * np.sqrt(disc["radius"] ** 2 - beside ** 2), depth


def hardening():
    """Coefficients of b, b^2, b^3 whose sum has the slope 1 at b = 0."""
    chords, depth = rays("solid_disc", "0:721")
    inside = depth > 0.5
    b, chord = scan("solid_disc")[inside], chords[inside]
    powers = np.stack([b, b ** 2, b ** 3], axis=1)
    weights = 1 / np.maximum(chord, 5)
    found = np.linalg.lstsq(powers * weights[:, None], chord * weights, rcond=None)[0]
    return found / found[0]


def mcc(slice_, level, name):
    with Image.open(given.folder / f"htc2022_{name}_full_recon_fbp_seg.png") as picture:
        truth = np.asarray(picture) > 0
    if given.size == 256:
        slice_ = np.asarray(Image.fromarray(slice_).resize((512, 512), Image.Resampling.BILINEAR))
    found = slice_[::-1] > level
    a, b, c, d = (float(np.sum(x)) for x in (found & truth, ~found & ~truth, found & ~truth, ~found & truth))
    return (a * b - c * d) / np.sqrt((a + c) * (a + d) * (b + c) * (b + d))


def main():
    coefficients = hardening()
    beam = ("--beam-hardening", ",".join(f"{c:.5g}" for c in coefficients))
    rows = []
    print(f"hardening {beam[1]}\nscan  arc start  level 1/mm     tv  recipe  CIL Algo2")
    for name in "ab":
        for k, arc in enumerate((90, 60, 30)):
            for start in map(int, given.starts.split(",")):
                views = f"{2 * start}:{2 * (start + arc) + 1}"
                slice_, report = recon("t" + name, views, *beam, "--photons", "40000", "--limited-angle", "auto",
                                       "--shell", SHELL)
                level = report["shell"]["attenuation"]
                plain = recon("t" + name, views, *beam, "--reconstruction-algorithm", "tv")[0]
                row = dict(scan=name, arc=arc, start=start, level=level, tv=mcc(plain, level / 2, "t" + name),
                           recipe=mcc(slice_, level / 2, "t" + name), published=PUBLISHED[name][k])
                rows.append(row)
                print(f"{name:>4} {arc:4} {start:5}     {level:7.5f}  {row['tv']:5.3f}   {row['recipe']:5.3f}      "
                      f"{row['published']:5.3f}", flush=True)
    for made in (OUT, OUT.with_suffix(".json")):
        made.unlink()
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


main()
