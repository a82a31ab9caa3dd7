#!/usr/bin/env python3
r"""Whether `tandem calibrate` errs as much as it says: many scans whose geometry is known, drawn at random.

    python bench/coverage.py [--draws 40] [--size 80] [--seed 1] [--beams parallel,fan,cone] [--quantities axis,roll,...]
        [--processes N]

Each draw is a scan of --body, turned at random, with noise of --noise of the largest line integral, or of --photons a
cell. Its axis, roll, tilt or midplane are off at random by up to the numbers below; for bin_shifts and row_shifts each
view is off by half a cell, root mean square, instead. The program is told the scanner without all that. The table has, for
each number: bias and root mean square of the errors, the uncertainty that was said (root mean square), how many errors
lie within one and two of it (68 and 95 % if it is right), and verdicts other than `resolved`. --json keeps it, with each
error; bench/results/coverage.json has the tables alone. The package `tandem` is needed. Figures of docs/calibrate.md:

    python bench/coverage.py --quantities axis,roll,tilt,midplane --json out/ellipsoids.json
    python bench/coverage.py --body foam --beams parallel,cone,wide --quantities axis,roll,tilt,midplane \
        --json out/foam.json
    python bench/coverage.py --body foam --beams parallel,cone,wide --quantities bin_shifts,row_shifts --draws 6
    python bench/coverage.py --beams parallel,cone,wide --quantities bin_shifts,row_shifts --draws 6
"""
import argparse
import collections
import functools
import json
import multiprocessing
import os
import pathlib
import sys
import tempfile

import numpy as np

import tandem

FARTHEST = {"axis": 2.0, "roll": 0.8, "tilt": 0.6, "midplane": 5.0}  # bins, degrees, degrees, rows
SHIFT = 0.5  # cells, root mean square
NAMES = {"axis": ("axis_bin", "bins"), "roll": ("roll_deg", "degrees"), "tilt": ("tilt_deg", "degrees"),
         "midplane": ("midplane_row", "rows"), "bin_shifts": ("bin_shifts", "bins"), "row_shifts": ("row_shifts", "rows")}
SHIFTS = ("bin_shifts", "row_shifts")
KNOWS = {"parallel": ("axis", "roll", "tilt", *SHIFTS), "fan": ("axis",),
         "cone": ("axis", "roll", "midplane", *SHIFTS), "wide": ("axis", "roll", "midplane", *SHIFTS)}
DISTANCES = {"fan": (2.5, 3.75), "cone": (2.5, 3.75), "wide": (1.0, 1.5)}  # sod and sdd, in widths of the detector


class Scanner:
    """A scan on a circle as it is thought to be, or with its axis on `axis` and its midplane on `midplane`."""

    def __init__(self, beam, size, axis=None, midplane=None):
        rows, views = 1 if beam == "fan" else 2 * size // 3, 2 * size
        self.middle = 0.5 * (size - 1), 0.5 * (rows - 1)
        detector = tandem.Detector(size, rows, axis_bin=self.middle[0] if axis is None else axis)
        self.angles = np.arange(views) * (2 * np.pi / views)
        if beam == "parallel":
            self.scan, self.radius = tandem.ParallelBeam(detector, self.angles), 0.42 * size
        else:
            sod, sdd = (size * distance for distance in DISTANCES[beam])
            self.radius = 0.45 * size * sod / sdd
            self.scan = (tandem.FanBeam(detector, self.angles, sod, sdd) if beam == "fan" else
                         tandem.ConeBeam(detector, self.angles, sod, sdd, self.middle[1] if midplane is None else midplane))


def turned(vectors, about, angle):
    """Vectors (view, 3) turned about directions (view, 3), by Rodrigues."""
    about = about / np.linalg.norm(about, axis=1, keepdims=True)
    along = np.sum(vectors * about, 1, keepdims=True) * about
    return along + np.cos(angle) * (vectors - along) + np.sin(angle) * np.cross(about, vectors)


def off_circle(scan, roll=0.0, tilt=0.0, bins=0.0, rows=0.0):
    """The views of a scan whose axis leans, by degrees, and whose images lie so many bins and rows higher."""
    free = tandem.as_free_views(scan)
    source, detector, u, v = np.array(free.vectors).reshape(-1, 4, 3).transpose(1, 0, 2)
    detector = detector - np.reshape(bins, (-1, 1)) * u - np.reshape(rows, (-1, 1)) * v
    source, detector, v = (turned(each, u, np.radians(tilt)) for each in (source, detector, v))
    back = -source if free.parallel else source
    detector, u, v = (turned(each, back, np.radians(roll)) for each in (detector, u, v))
    vectors = np.stack([source, detector, u, v], 1).reshape(-1, 12)
    return tandem.FlexibleBeam(free.bins, free.rows, vectors.tolist(), free.parallel)


def body_of(name, radius, random):
    """The body, turned about z at random; foam of other bubbles each time."""
    if name == "foam":  # the cylinder and its largest bubbles
        return tandem.Phantom(tandem.foam(int(random.integers(2**31))).ellipsoids[:121]).scaled(radius)
    turn = random.uniform(0, 2 * np.pi)
    c, s = np.cos(turn), np.sin(turn)
    parts = []
    for part in tandem.ellipsoids().ellipsoids:
        x, y, z = part.centre
        parts.append(tandem.Ellipsoid(part.attenuation, part.semi_axes, (c * x - s * y, s * x + c * y, z),
                                      part.rotation_rad + turn))
    return tandem.Phantom(parts).scaled(radius)


def frames_of(body, views, asked, random, samples=2):
    y = tandem.project(body, views, samples=samples)
    y *= asked.attenuation / y.max()
    if asked.photons:
        return -np.log(np.maximum(random.poisson(asked.photons * np.exp(-y)), 0.5) / asked.photons).astype(np.float32)
    return y + asked.noise * asked.attenuation * random.standard_normal(y.shape).astype(np.float32)


def report_of(frames, scan, folder, **options):
    tandem.write_scan(folder / "scan.h5", frames, scan)
    try:
        return tandem.calibrate(folder / "scan.h5", folder / "found.npy", progress=False, overwrite=True,
                                pixel_size=1, **options)
    except tandem.GeometryError:
        return None


def draw_numbers(beam, asked, random, folder):
    """{quantity: (error, uncertainty, verdict)} of one scanner that is off as a whole."""
    off = {name: random.uniform(-most, most) for name, most in FARTHEST.items()}
    if asked.roll is not None:
        off["roll"] = asked.roll
    thought = Scanner(beam, asked.size)
    axis, midplane = (middle + off[name] for middle, name in zip(thought.middle, ("axis", "midplane")))
    there = Scanner(beam, asked.size, axis, midplane)
    leans = {} if beam == "fan" else {"roll": off["roll"]}
    if beam == "parallel":
        leans["tilt"] = off["tilt"]
    body = body_of(asked.body, thought.radius, random)
    views = off_circle(there.scan, **leans) if leans else there.scan
    report = report_of(frames_of(body, views, asked, random), thought.scan, folder)
    if report is None:
        return {name: (None, None, "refused") for name in KNOWS[beam] if name not in SHIFTS}
    truth = {"roll": off["roll"], "tilt": off["tilt"], "midplane": midplane, "axis": axis}
    if "midplane" in KNOWS[beam]:  # the report has the axis in the row that it has as the midplane
        row = report["midplane_row"]["value"] if report["midplane_row"] else thought.middle[1]
        truth["axis"] += (row - midplane) * np.tan(np.radians(off["roll"]))
    searches = {each["what"]: each["verdict"] for each in report["searches"]}
    found = {}
    for name in KNOWS[beam]:
        if name in SHIFTS:
            continue
        number = report[NAMES[name][0]]
        found[name] = ((number["value"] - truth[name], number["uncertainty"], "resolved") if number else
                       (None, None, searches.get(NAMES[name][0], "flat")))
    return found


def told_part(shifts, columns):
    """What of shifts is told: not the mean, and not what a sample makes that lies elsewhere."""
    columns = np.stack(columns, 1)
    return shifts - columns @ np.linalg.lstsq(columns, shifts, rcond=None)[0]


def draw_shifts(beam, asked, random, folder):
    """The same of a scanner whose views are moved one by one; errors and uncertainties have a value a view."""
    thought = Scanner(beam, asked.size)
    angles, ones = thought.angles, np.ones(len(thought.angles))
    bins, rows = SHIFT * random.standard_normal((2, len(angles)))
    body = body_of(asked.body, thought.radius, random)
    # With 2 x 2 rays a cell, edges lie 0.005 bins off, each view's by itself, which no frame tells.
    frames = frames_of(body, off_circle(thought.scan, bins=bins, rows=rows), asked, random, samples=4)
    report = report_of(frames, thought.scan, folder, each_view=True)
    truth = {"bin_shifts": told_part(bins, (ones, np.cos(angles), np.sin(angles))), "row_shifts": told_part(rows, (ones,))}
    found = {}
    for name in SHIFTS:
        number = report and report[name]
        found[name] = ((np.array(number["value"]) - truth[name], np.array(number["uncertainty"]), "resolved") if number
                       else (None, None, report[f"{name}_verdict"] if report else "refused"))
    return found


def row_of(beam, name, draws):
    """A line of the table."""
    told = [draw for draw in draws if draw[2] == "resolved"]
    others = collections.Counter(draw[2] for draw in draws if draw[2] != "resolved")
    row = {"beam": beam, "quantity": name, "unit": NAMES[name][1], "draws": len(draws), "other_verdicts": dict(others)}
    if told:
        error, said = (np.concatenate([np.atleast_1d(draw[k]) for draw in told]) for k in (0, 1))
        share = np.abs(error) / said
        row |= {"bias": error.mean(), "error": np.sqrt((error**2).mean()), "uncertainty": np.sqrt((said**2).mean()),
                "within_one": np.mean(share < 1), "within_two": np.mean(share < 2)}
        if name not in SHIFTS:
            row |= {"errors": error.tolist(), "uncertainties": said.tolist()}
    return row


def line_of(row):
    cells = [row["beam"], f"{row['quantity'].replace('_', ' ')}, {row['unit']}", str(row["draws"])]
    if "error" in row:
        cells += [f"{row['bias']:.2g}", f"{row['error']:.2g}", f"{row['uncertainty']:.2g}",
                  f"{100 * row['within_one']:.0f} %, {100 * row['within_two']:.0f} %"]
    else:
        cells += [""] * 4
    cells.append(", ".join(f"{count} {verdict}" for verdict, count in row["other_verdicts"].items()) or "0")
    return "| " + " | ".join(cells) + " |"


def draw(beam, asked, kind, number):
    """The numbers, or the shifts, of a draw, which is the same in any order and in any process."""
    random = np.random.default_rng([asked.seed, list(KNOWS).index(beam), kind, number])
    with tempfile.TemporaryDirectory() as folder:
        return (draw_shifts if kind else draw_numbers)(beam, asked, random, pathlib.Path(folder))


def stay_on_one_core():
    own = multiprocessing.current_process()._identity[0]
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[own % len(cores)]})


def study(beam, asked, quantities):
    """The lines of a beam."""
    draws = {name: [] for name in KNOWS[beam] if name in quantities}
    for kind, names in enumerate((set(KNOWS[beam]) - set(SHIFTS), SHIFTS)):
        if not draws.keys() & set(names):
            continue
        one = functools.partial(draw, beam, asked, kind)
        if asked.processes == 1:
            all_found = map(one, range(asked.draws))
        else:
            with multiprocessing.get_context("spawn").Pool(asked.processes, stay_on_one_core) as pool:
                all_found = pool.map(one, range(asked.draws), chunksize=1)
        for found in all_found:
            for name in draws.keys() & found.keys():
                draws[name].append(found[name])
    return [row_of(beam, name, each) for name, each in draws.items()]


def main():
    def words(known):
        def parse(text):
            unknown = set(text.split(",")) - set(known)
            if unknown:
                raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: give some of {','.join(known)}")
            return text.split(",")
        return parse

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--size", type=int, default=80, help="bins; two thirds of them are rows, twice as many views")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--beams", type=words(KNOWS), default="parallel,fan,cone", help=",".join(KNOWS))
    parser.add_argument("--quantities", type=words(NAMES), default=",".join(NAMES))
    parser.add_argument("--body", choices=("ellipsoids", "foam"), default="ellipsoids")
    parser.add_argument("--noise", type=float, default=0.01, help="a share of the largest line integral")
    parser.add_argument("--photons", type=float, help="a cell, instead of --noise")
    parser.add_argument("--attenuation", type=float, default=3.0, help="the largest line integral")
    parser.add_argument("--roll", type=float, help="degrees, the same in all draws")
    parser.add_argument("--processes", type=int, default=1, help="draws at the same time, each on a core of its own")
    parser.add_argument("--json", type=pathlib.Path)
    asked = parser.parse_args()
    print("| beam | number | draws | mean error | error, rms | uncertainty said | within one, two | not resolved |")
    print("| --- " * 8 + "|", flush=True)
    rows = []
    words = ["bench/coverage.py", *(word for word in sys.argv[1:])]
    for beam in asked.beams:
        for row in study(beam, asked, asked.quantities):
            print(line_of(row), flush=True)
            rows.append(row)
        if asked.json:  # after each beam, so that a study that ends early keeps what it has
            asked.json.write_text(json.dumps({"case": "coverage", "command": " ".join(words),
                                              "version": tandem.__version__, "numpy": np.__version__,
                                              "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
