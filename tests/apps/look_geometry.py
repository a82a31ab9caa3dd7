#!/usr/bin/env python3
"""Finds the geometry of scans from the page of `tandem look`, takes its numbers, and sees the slices of that geometry.

usage: look_geometry.py PROGRAM [--in-browser]

With --in-browser a headless Chromium presses the buttons; without one the exit code is 77 (skipped).
"""
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import threading

from audited import audit
from driven_browser import driven
from live_page import get
from look_attack import exchanged
from look_page import answer, heard, looking, picture, posted
from pages import browser, require

ROWS, BINS, VIEWS, SIDE = 48, 72, 60, 60  # side of the slices, voxels
AXIS, ROLL = 37.2, 1  # degrees
SHAPE = ["--pixel-size", "0.8", "--size", "62", "--bins", str(BINS), "--rows", str(ROWS)]
CONE = ["--geometry", "cone", "--arc", "360", "--sod", "200", "--sdd", "300", "--pixel-size", "0.8"]
PARALLEL = ["--flats", "flat", "--darks", "dark", "--arc", "360", "--pixel-size", "0.8"]


def simulate(program, folder, name, *options):
    subprocess.run([program, "simulate", "-o", name, "--quiet", *options], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def write_views(program, folder, scan, to, change):
    """The views of a scan as text, each of which has changed. 12 numbers: source, detector, steps from bin to bin and row to row."""
    subprocess.run([program, "info", scan, "--write-geometry", "level.txt", "--overwrite"], cwd=folder, check=True, capture_output=True)
    lines = (folder / "level.txt").read_text().splitlines()
    views = [[float(word) for word in line.split()] for line in lines[1:]]
    changed = [" ".join(map(repr, change(k, *(view[i:i + 3] for i in (0, 3, 6, 9))))) for k, view in enumerate(views)]
    (folder / to).write_text("\n".join([lines[0], *changed]) + "\n")


def rolled_scan(program, folder, name, *beam):
    """Line integrals of foam on a detector that is rolled about its middle."""
    simulate(program, folder, "level.h5", *beam, *SHAPE, "--views", str(VIEWS), "--arc", "360", "--axis-bin", str(AXIS))
    c, s = math.cos(math.radians(ROLL)), math.sin(math.radians(ROLL))

    def rolled(_, source, detector, u, v):
        return source + detector + [c * a + s * b for a, b in zip(u, v)] + [c * b - s * a for a, b in zip(u, v)]

    write_views(program, folder, "level.h5", "rolled.txt", rolled)
    simulate(program, folder, name, "--geometry", "rolled.txt", *SHAPE, "--phantom", "foam")


def start_of(port):
    return json.loads(get(port, "about.json")[1])["start"]


def slices(port, options, shift=0):
    """Values at three heights: in the middle, and far from it; so many slices higher, between two of them."""
    values = []
    for z in (6, ROWS // 2, ROWS - 7):
        below, part = math.floor(z + shift), (z + shift) % 1
        low, high = (struct.unpack(f"{SIDE * SIDE}f", picture(port, "slice", {"options": options, "z": below + k})[1]) for k in (0, 1))
        values += [(1 - part) * a + part * b for a, b in zip(low, high)]
    return values


def middle(program, folder, port, options):
    """The height of the middle of the volume, in slices."""
    command = answer(port, "recipe", {"options": options})["command"].replace("tandem", f"'{program}'", 1)
    subprocess.run(["sh", "-c", command + " --dry-run --json plan.json --overwrite"], cwd=folder, check=True, capture_output=True)
    volume = json.loads((folder / "plan.json").read_text())["volume"]
    return volume["centre"][0] / volume["pitch"][0]


def rms(some, others):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(some, others)) / len(some))


def check_numbers(program, folder, scan, beam, expected):
    """Numbers are right within three times their uncertainty, and their options make the slices of the file of `calibrate`."""
    with looking(program, folder, *beam, "--fbp-filter", "hann", "--size", str(SIDE), scan=scan) as (_, port):
        start = start_of(port)
        head, pixels = picture(port, "calibrate", {"options": start, "side": 64})
        numbers = {one["what"]: one for one in head["numbers"]}
        for name, (value, option) in expected(numbers).items():
            one = numbers[name]
            require(abs(one["value"] - value) < 3 * one["uncertainty"] and one["option"] == option, name, "is", value, "and not", one)
            require(abs(float(one["text"]) - one["value"]) <= 0.1 * one["uncertainty"], one)
        require(head["height"] % len(head["captions"]) == 0 and head["width"] <= 64, head["width"], head["height"])
        require(head["captions"][:2] == ["as the scan says", "calibrated"], head["captions"])
        shown = struct.unpack(f"{len(pixels) // 4}f", pixels)
        area = len(shown) // len(head["captions"])
        energy = [sum(v * v for v in shown[k * area:(k + 1) * area]) for k in (0, 1)]
        require(energy[1] > 1.01 * energy[0], "slices before and after have the squares", energy)  # a wrong axis blurs
        taken = {**start, **{one["option"]: one["text"] for one in head["numbers"] if one["option"]}}
        untaken, right = slices(port, start), slices(port, taken)
        wrong = slices(port, {**taken, "detector-roll": str(-float(taken["detector-roll"]))})
        commands = head["commands"]
        height = middle(program, folder, port, taken)
    subprocess.run(["sh", "-c", commands[0].replace("tandem", f"'{program}'", 1)], cwd=folder, check=True, capture_output=True)
    words = commands[1].split()
    require(words[:3] == ["tandem", "look", scan] and words[3:5] == ["--geometry", "views.npy"], commands)
    with looking(program, folder, *words[3:], scan=scan) as (_, port):
        exact = slices(port, start_of(port), height - middle(program, folder, port, start_of(port)))
        again, _ = picture(port, "calibrate", {"options": start_of(port)})
        require(all(one["option"] is None and "by a file" in one["why_not"] for one in again["numbers"]), again["numbers"])
    off = {name: rms(some, exact) for name, some in (("untaken", untaken), ("taken", right), ("wrong", wrong))}
    # What is left is the interpolation of frames that are made upright, which a roll the other way has, too.
    require(off["taken"] < 0.5 * off["wrong"] and off["taken"] < 0.2 * off["untaken"], "slices are off by", off)
    return head


def in_rolled(bin_, row):
    """Where a cell of the level detector lies on the rolled one."""
    c, s = math.cos(math.radians(ROLL)), math.sin(math.radians(ROLL))
    u, v = bin_ - (BINS - 1) / 2, row - (ROWS - 1) / 2
    return (BINS - 1) / 2 + c * u + s * v, (ROWS - 1) / 2 + c * v - s * u


def axis_at(row):
    """The bin of the axis in a row of the rolled detector."""
    bin_, passed = in_rolled(AXIS, 0)
    return bin_ + (row - passed) * math.tan(math.radians(ROLL))


def check_cone(program, folder):
    rolled_scan(program, folder, "cone.h5", "--geometry", "cone", "--sod", "200", "--sdd", "300", "--midplane-row", "24.5")
    expected = lambda found: {"axis_bin": (axis_at(found["midplane_row"]["value"]), "rotation-axis"), "roll_deg": (ROLL, "detector-roll"),
                              "midplane_row": (in_rolled(AXIS, 24.5)[1], "midplane-row")}
    check_numbers(program, folder, "cone.h5", CONE, expected)
    with looking(program, folder, *CONE, "--rotation-direction", "-1", "--remove-stripe-method", "fw:sigma=3", scan="cone.h5") as (_, port):
        head, _ = picture(port, "calibrate", {"options": {**start_of(port), "detector-roll": 1}})
        turned = [one for one in head["numbers"] if one["what"] == "rotation"]
        require([(one["option"], one["text"]) for one in turned] == [("rotation-direction", "+1")], head["numbers"])
        require(sorted(head["left_out"]) == ["detector-roll", "remove-stripe-method"] and len(head["warnings"]) == 1, head["left_out"], head["warnings"])
        require("--detector-roll" not in head["commands"][1] and "fw:sigma=3" in head["commands"][1], head["commands"])


def write_images(program, folder, scan):
    """The frames of a scan as images of EDF, which say nothing of the geometry, in a folder for each kind."""
    head = f"{{\nByteOrder = LowByteFirst ;\nDataType = FloatValue ;\nDim_1 = {BINS} ;\nDim_2 = {ROWS} ;\n".encode().ljust(510) + b"}\n"
    with looking(program, folder, scan=scan) as (_, port):
        for kind in ("projection", "flat", "dark"):
            (folder / kind).mkdir()
            count = picture(port, "frame", {"kind": kind})[0]["count"]
            for k in range(count):
                (folder / kind / f"{k:03}.edf").write_bytes(head + picture(port, "frame", {"kind": kind, "index": k})[1])


def check_parallel(program, folder):
    """A tilted axis goes with no filter; the page says so."""
    rolled_scan(program, folder, "parallel.h5")
    write_images(program, folder, "parallel.h5")
    expected = lambda _: {"axis_bin": (axis_at((ROWS - 1) / 2), "rotation-axis"), "roll_deg": (ROLL, "detector-roll"), "tilt_deg": (0, None)}
    head = check_numbers(program, folder, "projection", PARALLEL, expected)
    require("axis-tilt" in next(one["why_not"] for one in head["numbers"] if one["what"] == "tilt_deg"), head["numbers"])


def check_each_view(program, folder):
    """Shifts of rows that are other ones in each view: their root mean square. The files are those of the command line."""
    cells = ["--pixel-size", "1", "--size", "40", "--bins", "40", "--rows", "32", "--phantom", "ellipsoids"]
    simulate(program, folder, "level.h5", "--views", "60", *cells)
    row = lambda k: 0.7 * math.cos(1.7 * k)
    write_views(program, folder, "level.h5", "shaken.txt", lambda k, source, detector, u, v: source + [d - row(k) * b for d, b in zip(detector, v)] + u + v)
    simulate(program, folder, "shaken.h5", "--geometry", "shaken.txt", *cells)
    with looking(program, folder, "--geometry", "level.txt", "--pixel-size", "1", scan="shaken.h5") as (_, port):
        head, _ = picture(port, "calibrate", {"options": start_of(port), "each_view": True})
        rows = next(one for one in head["numbers"] if one["what"] == "row_shifts")
        exact = math.sqrt(sum(row(k) ** 2 for k in range(60)) / 60)
        require(abs(rows["value"] - exact) < 0.05 and rows["uncertainty"] < 0.08 and rows["option"] is None, rows, exact)  # cells
        require(head["row_shifts"] is None and head["captions"][1] == "each view where it was", head["captions"])
        require(head["commands"][0].endswith("--each-view -o views.npy"), head["commands"])


def check_refused(program, folder):
    """What calibrate refuses comes back as its one line."""
    simulate(program, folder, "plain.h5", "--views", "30", "--rows", "4", "--bins", "32")
    with looking(program, folder, scan="plain.h5") as (_, port):
        cases = [({"options": {"pixel-size": "1", "dezinger": "3", "dezinger:window": "cube"}}, "leave it out"),
                 ({"options": {"output": "evil.h5"}}, "not taken from a page"),
                 ({"options": {"stitch": "z"}}, "not taken from a page"), ({"options": 7}, "an object"), ({"side": 1}, "side"),
                 ({"options": {"pixel-size": "1", "detector-rows": "9:"}}, "detector-rows"), ({"pane": 3}, "another kind"),
                 ({"options": {"pixel-size": "1"}, "each_view": 3}, "another kind")]
        for command, part in cases:
            status, _, body = posted(port, "calibrate", command)
            error = json.loads(body)["error"]
            require(status == 422 and part in error and error.count("\n") == 0, command, "gives", status, error)


def search(port, statuses):
    found = exchanged(port, "calibrate", {"pane": "same"})
    if found:  # the end may cut it off
        statuses.append(found[0])


def check_given_up(program, folder):
    """A newer command of the page, and the end, give a search up that would take some 10 s."""
    simulate(program, folder, "long.h5", "--views", "360", "--rows", "200", "--bins", "256", "--size", "200", "--phantom", "ellipsoids",
             "--pixel-size", "1", "--arc", "360")
    at_work = lambda news: news["geometry"] and news["geometry"]["stage"].startswith("find")
    statuses = []
    with looking(program, folder, "--threads", "1", scan="long.h5") as (_, port):
        for ends in (False, True):
            thread = threading.Thread(target=search, args=(port, statuses))
            thread.start()
            heard(port, at_work, "a search")
            if not ends:
                require(posted(port, "calibrate", {"pane": "same", "side": 1})[0] == 422, "the newer command")
                thread.join()
                require(statuses == [409], "the older command gives", statuses)
                heard(port, lambda news: news["geometry"] is None, "that no search is at work")
    thread.join()
    require(set(statuses[1:]) <= {409, 503}, "a search that Ctrl-C ends gives", statuses)


def check_in_browser(program, folder):
    """The button finds numbers and shows slices, other buttons take them; what is wrong is said, and nothing is left of before."""
    rolled_scan(program, folder, "cone.h5", "--geometry", "cone", "--sod", "200", "--sdd", "300")
    state = "document.getElementById('geometry-state').textContent"
    with looking(program, folder, *CONE, scan="cone.h5") as (_, port), driven(browser(), folder / "profile") as page:
        for width, dark in ((400, True), (1400, False)):
            page.open(f"http://127.0.0.1:{port}{port.path('')}", width, dark=dark)
            page.until("panes.A.found && askA.flying === 0", "a slice")
            page.click("tab-geometry")
            page.click("calibrate")
            page.until("!document.getElementById('geometry-found').hidden && !document.getElementById('calibrate').disabled", "the geometry")
            rows = page.value("[...document.querySelectorAll('#geometry-numbers tr')].map(row => row.textContent)")
            require(len(rows) == 4 and rows[1].startswith("axis, bin37.2") and rows[2].startswith("roll of the detector, degrees"), rows)
            require(all("±" in row and row.endswith("take") for row in rows[1:]), rows)
            require(page.value("[...document.querySelectorAll('#geometry-slices figcaption')].map(one => one.textContent)") ==
                    ["as the scan says", "calibrated", "as the scan says, higher up", "calibrated, higher up"], "captions")
            require(page.value("document.documentElement.scrollWidth") <= width, "the page is wider than", width)
            page.value("document.getElementById('many').open = true")
            page.until("document.querySelectorAll('#scan-list input').length >= 1", "scans of the folder")
            audit(page, f"the geometry, {width} pixels wide:")
        page.value("document.querySelectorAll('#geometry-numbers button')[1].click()")
        page.until("S.tab === 'slice' && Math.abs(Number(S.options['detector-roll']) - 1) < 0.05 && !('midplane-row' in S.options)", "the roll alone")
        page.click("tab-geometry")
        page.click("take-geometry")
        page.until("S.tab === 'slice' && 'midplane-row' in S.options && document.getElementById('caption-a').textContent.includes('axis 37.2')", "all numbers")
        page.set("option-pixel-size", "-1")
        page.click("tab-geometry")
        page.click("calibrate")
        page.until(f"{state}.includes('pixel-size') && document.getElementById('geometry-found').hidden", "what is wrong with a pixel of -1 mm")
        complaints = [text for text in page.said if not re.search("422|409|willReadFrequently", text)]
        require(not complaints, "the page complains:", complaints)
    print("look_geometry: Chromium finds the geometry, and takes it")


CHECKS = [check_cone, check_parallel, check_each_view, check_refused, check_given_up]


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    for check in [check_in_browser] if "--in-browser" in sys.argv[2:] else CHECKS:
        with tempfile.TemporaryDirectory() as made:
            check(program, pathlib.Path(made))
    if "--in-browser" not in sys.argv[2:]:
        print("look_geometry: the options that the page takes make the slices of the file of calibrate")


if __name__ == "__main__":
    main()
