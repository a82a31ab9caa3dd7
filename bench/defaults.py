#!/usr/bin/env python3
"""What each method makes by default, beside FBP with the best of its windows:
defaults.py PROGRAM FOLDER [--data FOLDER] [--device D] [--methods M ...]

A table in Markdown: PSNR in dB of the best FBP, and of each method by how many dB it is better, with its iterations.
Simulated scans are compared with the truth. Measured ones, if --data names the folder that holds them, are thinned to
every fourth view, and are compared with what FBP with a Hann window makes of all views. Exit code 1 if a method is
worse than FBP by more than 0.5 dB. With --pairs instead: the pairs of projections (A and its adjoint, for all views)
after which a volume is within 1 % of the one of 300 iterations that is nearest to the truth.
"""
import argparse
import itertools
import json
import math
import pathlib
import subprocess
import sys

METHODS = ["sirt", "os-sirt", "sart", "cgls", "lsqr", "lsmr", "ba-gmres", "mlem", "osem", "mltr", "tv"]
WINDOWS = list(itertools.product(["ramp", "shepp", "hamming", "hann", "parzen"], ["1", "0.7", "0.5", "0.35"]))
LEAST = -0.5  # dB

CONE = ["--phantom", "ellipsoids", "--geometry", "cone", "--sod", 300, "--sdd", 600]
SIMULATED = {
    "slice": ["--size", 128, "--views", 120, "--photons", 1e4],
    "no noise": ["--size", 128, "--views", 120],
    "disc": ["--phantom", "disc", "--size", 128, "--photons", 1e4],
    "many photons": ["--size", 128, "--views", 200, "--photons", 1e5],
    "few photons": ["--phantom", "ellipsoids", "--size", 128, "--views", 90, "--photons", 300],
    "few views": ["--phantom", "foam", "--size", 128, "--views", 40, "--photons", 1e5],
    "fan": [*CONE, "--pixel-size", 2, "--size", 128, "--bins", 160, "--views", 180, "--photons", 1e4],
    "cone": [*CONE, "--pixel-size", 4, "--size", 64, "--bins", 80, "--rows", 64, "--views", 90, "--photons", 1e4],
}
MEASURED = {
    "tooth": ("dxchange/tooth.h5", ["--rotation-axis", 295.5, "--detector-rows", ":1"]),
    "capsule": ("nxtomo/capsule_nxtomo.nxs", ["--rotation-axis", 85.8, "--detector-rows", "90:94"]),
    "sweetener": ("fan-tiff/sweetener", ["--rotation-axis", 971.1, "--size", 486, "--voxel-size", 0.24]),
}

arguments = argparse.ArgumentParser()
arguments.add_argument("program", type=pathlib.Path)
arguments.add_argument("folder", type=pathlib.Path)
arguments.add_argument("--data", type=pathlib.Path)
arguments.add_argument("--device", default="cpu")
arguments.add_argument("--methods", nargs="*", default=METHODS)
arguments.add_argument("--pairs", action="store_true")
given = arguments.parse_args()
given.folder.mkdir(parents=True, exist_ok=True)


def run(*command):
    subprocess.run([str(given.program.resolve()), *map(str, command), "--quiet", "--overwrite"], check=True,
                   cwd=given.folder, stdout=subprocess.DEVNULL)


def report_of(scan, *options):
    run("recon", scan, "-o", "volume.h5", "--json", "report.json", "--truth", "truth.h5", "--device", given.device,
        *options)
    return json.loads((given.folder / "report.json").read_text())


def made(scan, *options):
    """PSNR and iterations of a reconstruction."""
    report = report_of(scan, *options)
    return report["quality"]["psnr_db"], report.get("iterations")


def pairs_of(method, scan, *options):
    iterations = 60 if method == "ba-gmres" else 300  # it keeps a volume of each
    report = report_of(scan, "--reconstruction-algorithm", method, "--iterations", iterations, *options)
    curve = report["curves"]["psnr_db"]
    enough = max(curve["values"]) - 20 * math.log10(1.01)
    first = next(k for k, psnr in zip(curve["iterations"], curve["values"]) if psnr >= enough)
    of_pair = 2 * report["geometry"]["views"] * math.prod(report["volume"]["solved_shape"])
    return first * report["updates"] / report["iterations"] / of_pair


def prepared():
    """Names, scans and options; the truth of each lies in the folder while it is looked at."""
    for name, options in SIMULATED.items():
        run("simulate", "-o", "scan.h5", "--truth", "truth.h5", *options)
        yield name, "scan.h5", ["--size", options[options.index("--size") + 1]]
    for name, (path, options) in MEASURED.items() if given.data else ():
        scan = (given.data / path).resolve()
        run("recon", scan, "-o", "truth.h5", "--fbp-filter", "hann", *options)
        yield name, scan, [*options, "--views", "::4"]


def row_of_pairs(name, scan, options):
    cells = [f"{pairs_of(method, scan, *options):.0f}" for method in given.methods]
    print(f"| {name} |", " | ".join(cells), "|", flush=True)


def row_of_gains(name, scan, options):
    best = max(made(scan, "--fbp-filter", window, "--fbp-cutoff", cutoff, *options)[0] for window, cutoff in WINDOWS)
    cells = []
    for method in given.methods:
        psnr, iterations = made(scan, "--reconstruction-algorithm", method, *options)
        cells.append(f"{psnr - best:+.1f} ({iterations})")
        if psnr - best < LEAST:
            worse.append(f"{name}, {method}")
    print(f"| {name} | {best:.1f} |", " | ".join(cells), "|", flush=True)


worse = []
head = ["scan"] + ([] if given.pairs else ["best FBP"]) + given.methods
print("|", " | ".join(head), "|\n" + "| --- " * len(head) + "|")
for one in prepared():
    (row_of_pairs if given.pairs else row_of_gains)(*one)
if worse:
    sys.exit("worse than FBP: " + "; ".join(worse))
