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
import struct
import subprocess
import sys
import tempfile
import time

from driven_browser import driven
from live_page import get
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
def followed(program, folder):
    scan = folder / "growing"
    scan.mkdir()
    write_tiff(scan / "flat_0000.tif", [[50000] * BINS] * ROWS)
    write_tiff(scan / "dark_0000.tif", [[0] * BINS] * ROWS)
    add_views(scan, 0, HALF)
    with looking(program, folder, f"--follow=views={2 * HALF}", "--arc", "360", scan="growing") as (_, port):
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
    require(found == {"views": views, "planned": 2 * HALF, "ring": ring}, found)


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
    for words in (["--follow=views=0"], ["--follow", "--rotation-axis=auto"], ["--follow=seconds=0.05"]):
        done = subprocess.run([program, "look", "lost", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        require(done.returncode in (2, 3) and done.stderr.count("\n") <= 2, words, done.returncode, done.stderr)
    print("look_follow: slices are those of the last half turn")


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


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as made:
        check_in_browser(program, pathlib.Path(made)) if "--in-browser" in sys.argv[2:] else check_as_client(program, pathlib.Path(made))


if __name__ == "__main__":
    main()
