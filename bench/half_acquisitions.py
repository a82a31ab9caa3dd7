#!/usr/bin/env python3
"""Half acquisitions beside whole scans: half_acquisitions.py PROGRAM FOLDER [--device D] [--widths W,W,...]

A disc in the field of a detector of W bins, views all round, is reconstructed from all columns and from those that are
left where one side of the axis is cut to 0.08 of the other, for every padding. A line of the table says, in percent of
the disc's value, how far the half is from the whole at most, and how far both are from the closed form, along a strip
through the disc (means of 8 voxels). On a GPU also in float16. Exit code 1 if a half differs by more than 0.3 %.
"""
import argparse
import array
import pathlib
import subprocess
import sys

arguments = argparse.ArgumentParser()
arguments.add_argument("program", type=pathlib.Path)
arguments.add_argument("folder", type=pathlib.Path)
arguments.add_argument("--device", default="cpu")
arguments.add_argument("--widths", default="300,1500,3000")
arguments.add_argument("--views", type=int, default=720)
given = arguments.parse_args()
given.folder.mkdir(parents=True, exist_ok=True)

LINES = 8  # lines of a strip
ALLOWED = 0.3  # percent


def run(*command):
    subprocess.run([str(given.program.resolve()), *map(str, command), "--overwrite", "--quiet"], check=True,
                   cwd=given.folder, stdout=subprocess.DEVNULL)


def strip(name, width):
    """Means over the lines of a volume, of the voxels that lie well within the disc."""
    content = (given.folder / name).read_bytes()
    voxels = array.array("f", content[content.index(b"\n\n") + 2:])
    means = [sum(voxels[x::width]) / LINES for x in range(width)]
    middle, radius = 0.6 * width, 0.23 * width  # radius of the body: 0.25
    return [mean for x, mean in enumerate(means) if abs(x + 0.5 - middle) < radius]


def reconstruct(beam, width, options, columns):
    y = round(0.55 * width)
    slice_ = 2 if beam == "cone" else 0
    region = f"0:{width},{y - LINES // 2}:{y + LINES // 2},{slice_}:{slice_ + 1}"
    run("recon", f"{beam}.h5", "-o", "part.nrrd", "--device", given.device, "--size", width, "--region", region, *options,
        *columns)
    return strip("part.nrrd", width)


def simulate(beam, width):
    options = ["--phantom", "disc", "--size", width, "--bins", width, "--views", given.views, "--arc", 360,
               "--max-attenuation", 2]
    if beam == "parallel":
        options += ["--pixel-size", 1]
    else:
        options += ["--geometry", "cone", "--sod", 4 * width, "--sdd", 6 * width, "--pixel-size", 1.5, "--rows",
                    5 if beam == "cone" else 1]
    run("simulate", "-o", f"{beam}.h5", *options)


models = {"parallel": [["--model", "pixel_driven"], ["--model", "joseph"], ["--model", "fourier"]],
          "fan": [[]], "cone": [[]]}
if given.device.startswith("cuda"):
    models["parallel"].append(["--model", "pixel_driven", "--precision", "float16"])
failed = False
print("| bins | beam | model | padding | half beside whole, % | half beside truth, % | whole beside truth, % |")
print("| --- | --- | --- | --- | --- | --- | --- |")
for width in map(int, given.widths.split(",")):
    truth = 2 / (0.5 * width)
    cut = round(0.46 * width)
    for beam in models:
        simulate(beam, width)
        for model in models[beam]:
            for padding in "none", "edge", "cosine":
                options = ["--padding", padding, *model]
                whole = reconstruct(beam, width, options, [])
                half = reconstruct(beam, width, options, ["--columns", f"{cut}:"])
                apart = max(abs(a - b) for a, b in zip(half, whole)) / truth
                errors = [max(abs(a - truth) for a in found) / truth for found in (half, whole)]
                failed |= not 100 * apart <= ALLOWED
                print(f"| {width} | {beam} | {' '.join(model[1::2]) or 'fdk'} | {padding} | {100 * apart:.2g} | "
                      f"{100 * errors[0]:.2g} | {100 * errors[1]:.2g} |", flush=True)
sys.exit("a half is not the whole" if failed else 0)
