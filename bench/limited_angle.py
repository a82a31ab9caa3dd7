#!/usr/bin/env python3
"""Simulated scans of 120 degrees, whose truth is known: limited_angle.py PROGRAM FOLDER [--device D] [--json FILE]

A table in Markdown: PSNR in dB of a first reconstruction, of tv by its defaults, of --limited-angle auto, and of the
same with the attenuation of the one material that the objects have.
"""
import argparse
import json
import pathlib
import subprocess

import h5py

CONE = ["--geometry", "cone", "--sod", 300, "--sdd", 600]
SCANS = {
    "tilt series, foam": ["--phantom", "foam", "--size", 96, "--bins", 144, "--rows", 8, "--views", 180],
    "tilt series, plate": ["--phantom", "plate", "--size", 96, "--bins", 144, "--rows", 8, "--views", 180],
    "fan, foam": [*CONE, "--phantom", "foam", "--pixel-size", 2, "--size", 128, "--bins", 160, "--views", 360],
    "cone, foam": [*CONE, "--phantom", "foam", "--pixel-size", 4, "--size", 64, "--bins", 80, "--rows", 48,
                   "--views", 360],
    "cone, ellipsoids": [*CONE, "--phantom", "ellipsoids", "--pixel-size", 4, "--size", 64, "--bins", 80,
                         "--rows", 64, "--views", 360],
}

arguments = argparse.ArgumentParser()
arguments.add_argument("program", type=pathlib.Path)
arguments.add_argument("folder", type=pathlib.Path)
arguments.add_argument("--device", default="cpu")
arguments.add_argument("--json", type=pathlib.Path)
given = arguments.parse_args()
given.folder.mkdir(parents=True, exist_ok=True)


def run(*command):
    subprocess.run([str(given.program.resolve()), *map(str, command), "--quiet", "--overwrite"], check=True,
                   cwd=given.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def report_of(*options):
    run("recon", "scan.h5", "-o", "volume.h5", "--json", "report.json", "--truth", "truth.h5", "--device", given.device,
        *options)
    return json.loads((given.folder / "report.json").read_text())


rows = []
print("| scan | fbp, fdk | tv | --limited-angle auto | and --levels |\n| --- | --- | --- | --- | --- |")
for name, what in SCANS.items():
    run("simulate", "-o", "scan.h5", "--truth", "truth.h5", "--photons", 2e4, *what)
    with h5py.File(given.folder / "truth.h5") as file:
        highest = float(file["/exchange/data"][:].max())
    ways = {"fbp": [], "tv": ["--reconstruction-algorithm", "tv"], "limited-angle": ["--limited-angle", "auto"],
            "levels": ["--limited-angle", "auto", "--levels", f"0:{highest:.6g}"]}
    psnr = {way: report_of("--views", "0:120", *options)["quality"]["psnr_db"] for way, options in ways.items()}
    rows.append({"scan": name, **psnr})
    print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in psnr.values()) + " |", flush=True)
if given.json:
    given.json.write_text(json.dumps(rows, indent=1))
