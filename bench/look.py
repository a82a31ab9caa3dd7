"""The time from a move of the axis to the picture at the door of `tandem look`.

    python bench/look.py FOLDER [--tandem PROGRAM] [--cases parallel:1024:1024,fan:972:900] [--device cuda] [--moves 50]
        [--stripes fw] [--bits 16] [--json FILE]

A case is KIND:BINS:VIEWS. Its scan, with noise, is made in FOLDER; then the page's own command for a slice is posted with
a new axis each time, fine and rough (the picture that comes first where a fine one takes long). Milliseconds are those of
the whole request, medians; counts and the clean sinogram are kept, so a move is a back-projection, in fans behind a
filter. Pixels are codes of 16 bits, as the page asks for them, unless --bits is 32. Beside the time stands how much of it
went by once the head of the answer was there: the pixels are read then, into memory that is used again, as the system
takes its time to give fresh memory (on the host of an H100 3 us for 4 KB: 6 ms for 8 MB, and http.client takes some twice).
"""
import argparse
import json
import pathlib
import re
import signal
import statistics
import subprocess
import time
import urllib.request

ROWS = 8


def make_scan(asked, kind, bins, views):
    scan = asked.folder / f"{kind}-{bins}-{views}.h5"
    if not scan.exists():
        words = ["simulate", "-o", scan, "--size", bins, "--bins", bins, "--views", views, "--photons", 20000]
        if kind == "fan":  # what the whole turn sees is the disc within the detector's angle
            words += ["--geometry", "cone", "--sod", 2 * bins, "--sdd", 3 * bins, "--pixel-size", 1.5, "--phantom", "disc"]
        else:
            words += ["--rows", ROWS]
        subprocess.run([asked.tandem, *map(str, words), "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return scan


class Page:
    """A page that `tandem look` serves."""

    pixels = bytearray(64 << 20)

    def __init__(self, asked, scan):
        words = [asked.tandem, "look", str(scan), "--quiet", *(["--device", asked.device] if asked.device else [])]
        self.run = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        line = self.run.stdout.readline()
        self.address = re.search(r"http://\S+", line)[0]

    def post(self, path, command):
        body = json.dumps(command).encode()
        request = urllib.request.Request(self.address + path, body, {"Content-Type": "application/json"})
        begin = time.perf_counter()
        with urllib.request.urlopen(request) as answer:
            at_head = time.perf_counter()
            length = int(answer.headers["Content-Length"])
            if answer.readinto(memoryview(self.pixels)[:length]) != length:
                raise SystemExit("a picture is cut off")
        end = time.perf_counter()
        return 1000 * (end - begin), 1000 * (end - at_head)

    def close(self):
        self.run.send_signal(signal.SIGINT)
        self.run.wait(60)


def times_of(page, asked, bins, options, coarser):
    """Milliseconds of each move, and of reading its pixels, after one that is not counted."""
    times = []
    for move in range(asked.moves + 1):
        axis = (bins - 1) / 2 + 0.25 * (move % 41) - 5 + 0.001 * move  # none twice
        times.append(page.post("slice", {"options": {**options, "rotation-axis": f"{axis:.4f}"}, "z": 0, "coarser": coarser,
                                         "side": 2048, "bits": asked.bits, "pane": "A"}))
    return zip(*times[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tandem", default="tandem")
    parser.add_argument("--cases", default="parallel:1024:1024,fan:972:900")
    parser.add_argument("--device", help="default: as `tandem look` chooses")
    parser.add_argument("--moves", type=int, default=50)
    parser.add_argument("--stripes", default="fw", help="method that removes stripes; none: no method")
    parser.add_argument("--bits", type=int, choices=(16, 32), default=16, help="of a pixel")
    parser.add_argument("--json", type=pathlib.Path)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    options = {} if asked.stripes == "none" else {"remove-stripe-method": asked.stripes}
    rows = []
    print(f"{'case':22} {'fine, ms':>9} {'slowest':>9} {'reading':>9} {'rough, ms':>10}")
    for case in asked.cases.split(","):
        kind, bins, views = case.split(":")
        scan = make_scan(asked, kind, int(bins), int(views))
        page = Page(asked, scan)
        try:
            fine, reading = times_of(page, asked, int(bins), options, 1)
            rough, _ = times_of(page, asked, int(bins), options, max(2, round(int(bins) / 256)))
        finally:
            page.close()
        rows.append({"case": case, "stripes": asked.stripes, "bits": asked.bits, "fine_ms": fine, "reading_ms": reading, "rough_ms": rough})
        median = statistics.median
        print(f"{case:22} {median(fine):9.1f} {max(fine):9.1f} {median(reading):9.1f} {median(rough):10.1f}", flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1))


main()
