#!/usr/bin/env python3
"""Looks at a scan by `tandem look --follow` while a folder fills with its images.

usage: look_follow.py PROGRAM [--in-browser]

The sample is a disc that lies elsewhere in the second half turn, so that slices of the last half turn show one disc
alone. With --in-browser a headless Chromium follows; without one the exit code is 77 (skipped).
"""
import contextlib
import json
import math
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from driven_browser import driven
from live_page import get, talk
from look_page import looking, picture, posted
from pages import browser, require

BINS, ROWS, HALF = 64, 2, 45  # views of half a turn
RADIUS = 7
PLACES = [(14, 0), (0, 14)]  # x, y of the disc in each half turn, voxels from the axis


def write_tiff(path, rows):
    """Counts of 16 bits, not packed."""
    height, width = len(rows), len(rows[0])
    pixels = b"".join(struct.pack(f"<{width}H", *row) for row in rows)
    tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 16), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8), (277, 3, 1, 1),
            (278, 4, 1, height), (279, 4, 1, len(pixels))]
    directory = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + b"\0" * 4
    made = path.with_suffix(".part")
    made.write_bytes(struct.pack("<2sHI", b"II", 42, 8 + len(pixels)) + pixels + directory)
    made.rename(path)  # a file that has its name is whole


def view(number):
    """Counts behind the disc, by the lengths of rays in it."""
    angle, (x, y) = math.pi * number / HALF, PLACES[number // HALF]
    middle = x * math.cos(angle) + y * math.sin(angle)
    lengths = [2 * math.sqrt(max(0, RADIUS ** 2 - (k - (BINS - 1) / 2 - middle) ** 2)) for k in range(BINS)]
    return [[round(50000 * math.exp(-0.05 * length)) for length in lengths]] * ROWS


def add_views(folder, first, last):
    for number in range(first, last):
        write_tiff(folder / f"view_{number:04}.tif", view(number))


def middle_of(pixels):
    """x and y of what is bright, in voxels from the axis, and its mean."""
    values = struct.unpack(f"{BINS * BINS}f", pixels)
    bright = [k for k, v in enumerate(values) if v > 0.025]
    require(bright, "there is no disc")
    mean = sum(values[k] for k in bright) / len(bright)
    return [sum(k % BINS for k in bright) / len(bright) - (BINS - 1) / 2, sum(k // BINS for k in bright) / len(bright) - (BINS - 1) / 2, mean, len(bright)]


def require_disc(found, place):
    """The disc of the half turn, in its place, of its size and value: no trace of the other one."""
    area = math.pi * RADIUS ** 2
    require(math.dist(found[:2], place) < 0.5 and abs(found[2] - 0.05) < 0.003 and abs(found[3] - area) < 0.1 * area, found, "and not", place)


@contextlib.contextmanager
def followed(program, folder, *options, patience=60):
    """A folder with the views of half a turn, the program that follows it, and its port."""
    scan = folder / "growing"
    scan.mkdir()
    write_tiff(scan / "flat_0000.tif", [[50000] * BINS] * ROWS)
    write_tiff(scan / "dark_0000.tif", [[0] * BINS] * ROWS)
    add_views(scan, 0, HALF)
    with looking(program, folder, f"--follow=views={2 * HALF},seconds={patience}", "--arc", "360", *options, scan="growing") as (_, port):
        yield scan, port


def slice_of(port):
    start = json.loads(get(port, "about.json")[1])["start"]
    return middle_of(picture(port, "slice", {"z": 1, "options": start})[1])


def require_grown(port, views, ring):
    """The views are there after a while: an image counts when it has stayed as it is."""
    end = time.monotonic() + 60
    while (found := json.loads(get(port, "grown.json")[1]))["views"] < views:
        require(time.monotonic() < end, found)
        time.sleep(0.05)
    require(found.items() >= {"views": views, "planned": 2 * HALF, "ring": ring, "unplanned": 0, "next": ""}.items(), found)


def check_as_client(program, folder):
    with followed(program, folder) as (scan, port):
        require_grown(port, HALF, [0, HALF])
        require_disc(slice_of(port), PLACES[0])
        add_views(scan, HALF, HALF + 1)
        require_grown(port, HALF + 1, [1, HALF + 1])
        add_views(scan, HALF + 1, 2 * HALF)
        require_grown(port, 2 * HALF, [HALF, 2 * HALF])
        require_disc(slice_of(port), PLACES[1])
        status, _, body = posted(port, "slice", {"z": 1, "options": {"arc": "180"}})
        require(status == 422 and b"--follow" in body, status, body)
        status, _, body = posted(port, "calibrate", {"options": json.loads(get(port, "about.json")[1])["start"]})
        require(status == 422 and b"without --follow" in body, status, body)
    for words in (["--follow=views=0"], ["--follow", "--rotation-axis=auto"], ["--follow=seconds=0.05"]):
        done = subprocess.run([program, "look", "lost", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        require(done.returncode in (2, 3) and done.stderr.count("\n") <= 2, words, done.returncode, done.stderr)
    print("look_follow: slices are those of the last half turn")


def emptied(scan):
    shutil.rmtree(scan)


def replaced(scan):
    scan.rename(scan.with_name("other"))
    shutil.copytree(scan.with_name("other"), scan)


def shrunk(scan):
    (scan / f"view_{HALF - 1:04}.tif").unlink()


def overtaken(scan):
    (scan / "view_0010.tif").rename(scan / "view_0010a.tif")


TROUBLES = [(emptied, "growing: is gone"), (replaced, "growing: another folder has this name now"), (shrunk, f"view_{HALF - 1:04}.tif, and is missing now"),
            (overtaken, "view 10 was view_0010.tif, and is view_0011.tif now")]


def check_troubles(program, folder):
    """What becomes of a scan is said as it is, each time that the page asks; what was seen is seen further."""
    for number, (trouble, words) in enumerate(TROUBLES):
        place = folder / str(number)
        place.mkdir()
        with followed(program, place) as (scan, port):
            require_grown(port, HALF, [0, HALF])
            require_disc(slice_of(port), PLACES[0])
            trouble(scan)
            for _ in range(3):
                status, _, body = talk(port, f"GET {port.path('grown.json')} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
                require(status == 422 and words in json.loads(body)["error"], trouble.__name__, status, body)
            require_disc(slice_of(port), PLACES[0])
    print("look_follow: a scan that is gone, another one or shorter is told")


def require_said(port, holds, what):
    end = time.monotonic() + 60
    while not holds(found := json.loads(get(port, "grown.json")[1])):
        require(time.monotonic() < end, "not told:", what, found)
        time.sleep(0.05)
    return found


def check_silence(program, folder):
    """A scan that stops growing: how long it has, and why the next view does not count."""
    with followed(program, folder, patience=0.3) as (scan, port):
        found = require_said(port, lambda now: now["waited"] > now["patience"], "silence")
        require(found["views"] == HALF and found["next"] == "", found)
        add_views(scan, HALF, HALF + 2)
        cut = scan / f"view_{HALF:04}.tif"
        cut.write_bytes(cut.read_bytes()[:200])
        found = require_said(port, lambda now: cut.name in now["next"], "an image that is cut off")
        require(found["views"] == HALF, found)
        add_views(scan, HALF, HALF + 1)
        require_said(port, lambda now: now["views"] == HALF + 2 and now["next"] == "", "that it grows again")
        for late in range(HALF + 2, 2 * HALF + 3):
            write_tiff(scan / f"view_{late:04}.tif", view(0))
        require_said(port, lambda now: now["views"] == 2 * HALF and now["unplanned"] == 3, "views that nobody planned")
    print("look_follow: silence is told, and what is not planned")


def check_given_flats(program, folder):
    """Flats and darks of the command line are those of the whole scan, also when it has grown."""
    write_tiff(folder / "flats.tif", [[25000] * BINS] * ROWS)  # half of what the disc was simulated with
    write_tiff(folder / "darks.tif", [[0] * BINS] * ROWS)
    with followed(program, folder, "--flats", "flats.tif", "--darks", "darks.tif") as (scan, port):
        add_views(scan, HALF, HALF + 2)
        require_grown(port, HALF + 2, [2, HALF + 2])
        start = json.loads(get(port, "about.json")[1])["start"]
        head, pixels = picture(port, "frame", {"kind": "flat", "index": 0, "options": start})
        require(head["count"] == 1 and struct.unpack(f"{BINS * ROWS}f", pixels) == (25000,) * (BINS * ROWS), head)
        require(picture(port, "slice", {"z": 0, "options": start})[0]["size"] == [ROWS, BINS, BINS], "no slice")
    print("look_follow: flats that are given stay")


def check_in_browser(program, folder):
    with followed(program, folder) as (scan, port), driven(browser(), folder / "profile") as page:
        page.open(f"http://127.0.0.1:{port}{port.path('')}")
        page.until("panes.A.found && !panes.A.found.rough", "a slice")
        line = "document.getElementById('followed').textContent"
        page.until(f"{line}.includes('{HALF} of {2 * HALF} views; the slice is of views 0 to {HALF - 1}')", "how many views are there")
        first = "(() => { const g = panes.A.found.grey, n = panes.A.found.width; return g[%d * n + %d]; })()"
        places = [((BINS - 1) // 2 + y, (BINS - 1) // 2 + x) for x, y in PLACES]
        require(page.value(first % places[0]) > 0.04 > page.value(first % places[1]), "the first disc is not there")
        add_views(scan, HALF, 2 * HALF)
        page.until(f"{line}.includes('views {HALF} to {2 * HALF - 1}') && {line}.includes('ms after')", "the last half turn")
        page.until(f"{first % places[1]} > 0.04 && {first % places[0]} < 0.02", "the second disc alone")
        require(not [text for text in page.said if "409" not in text], page.said)
        print("look_follow: Chromium follows;", page.value("document.body.dataset.latencyMs"), "ms from a view to its slice")


def check_troubles_in_browser(program, folder):
    """The page tells the cause once and for all, and takes it back when all is well again."""
    with followed(program, folder, patience=1) as (scan, port), driven(browser(), folder / "profile") as page:
        page.open(f"http://127.0.0.1:{port}{port.path('')}")
        line, error = "document.getElementById('followed').textContent", "document.getElementById('error')"
        page.until(f"{line}.includes('none has come since') && {line}.includes('for more than 1 s')", "that no view comes")
        require(page.value("document.getElementById('followed').classList.contains('wrong')"), "silence has no colour")
        away = scan.with_name("away")
        scan.rename(away)
        page.until(f"!{error}.hidden && {error}.textContent.startsWith('growing: is gone')", "that the scan is gone")
        away.rename(scan)
        page.until(f"{error}.hidden", "that the scan is there again")
        add_views(scan, HALF, 2 * HALF)
        page.until(f"{line}.startsWith('{2 * HALF} of {2 * HALF}') && !{line}.includes('none')", "the whole scan")
        print("look_follow: Chromium tells what is wrong, and that it is well again")


CHECKS = [check_as_client, check_troubles, check_silence, check_given_flats]
CHECKS_IN_BROWSER = [check_in_browser, check_troubles_in_browser]


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    for check in CHECKS_IN_BROWSER if "--in-browser" in sys.argv[2:] else CHECKS:
        with tempfile.TemporaryDirectory() as made:
            check(program, pathlib.Path(made))


if __name__ == "__main__":
    main()
