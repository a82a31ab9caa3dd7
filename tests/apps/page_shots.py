#!/usr/bin/env python3
"""Pictures of the pages of tandem, to look at: running and done, and the report; wide and on a phone, light and dark.

usage: page_shots.py PROGRAM FOLDER

Needs Chromium. The pictures are FOLDER/*.png; runs are made in a folder of their own, which is removed.
"""
import contextlib
import itertools
import pathlib
import subprocess
import sys
import tempfile

import live_page
from pages import browser

SIZES = {"wide": "1400,1000", "phone": "400,1600"}
COLOURS = {"light": "1", "dark": "0"}  # preferredColorScheme of Chromium


def shoot(chromium, profile, address, to):
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
               f"--user-data-dir={profile}", "--virtual-time-budget=1500"]
    for (size, pixels), (colour, scheme) in itertools.product(SIZES.items(), COLOURS.items()):
        subprocess.run([*command, f"--blink-settings=preferredColorScheme={scheme}", f"--window-size={pixels}",
                        f"--screenshot={to}-{size}-{colour}.png", address], check=True, timeout=120,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def watched(program, folder, method, iterations):
    return live_page.watched(program, folder, "-o", "v.h5", "--reconstruction-algorithm", method, "--iterations", iterations)


def main():
    program, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    chromium = browser()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, contextlib.ExitStack() as ends:
        run = pathlib.Path(made)
        tandem = lambda *words: subprocess.run([program, *words], cwd=run, check=True, stdout=subprocess.DEVNULL)
        tandem("simulate", "-o", "scan.h5", "--geometry", "cone", "--sod", "200", "--sdd", "400", "--pixel-size", "0.2",
               "--arc", "360", "--size", "128", "--rows", "96", "--bins", "128", "--views", "120", "--photons", "2e4",
               "--truth", "truth.h5", "--quiet")
        tandem("recon", "scan.h5", "-o", "r.h5", "--reconstruction-algorithm", "cgls", "--iterations", "12", "--dezinger",
               "3:threshold=200", "--truth", "truth.h5", "--json", "run.json", "--quiet")
        tandem("report", "run.json", "-o", "run.html", "--quiet")
        shoot(chromium, run / "browser", (run / "run.html").as_uri(), folder / "report")
        _, port = ends.enter_context(watched(program, run, "sirt", "5000"))
        live_page.until(port, lambda now: now["pictures"], "the first iterate")
        shoot(chromium, run / "browser", f"http://127.0.0.1:{port}{port.path('')}", folder / "live")


main()
