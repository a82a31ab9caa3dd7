#!/usr/bin/env python3
"""Kills solvers at random moments, goes on from their check-points, and compares bits with a run that nobody killed.

usage: kill_solvers.py PROGRAM COUNT SEED

Each run is ended by SIGKILL or a signal that it hears again and again, also while a check-point is written, until one comes to its
end. Then its volume has the bits of the undisturbed run, and nothing is left beside it.
Exit code 1 if any of this does not hold.
"""
import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

SIZE = 96
CHUNKS = ["--memory", "0.1"]  # chunks of some slices
OF_METHODS = {
    "ba-gmres": ["--iterations", "20"],
    "sirt": ["--nonnegative", "--iterations", "60", "--dtype", "uint16"],
    "tv": ["--tv-weight", "0.3", "--iterations", "40"],
    "os-sirt": ["--subsets", "7", "--relaxation", "0.7", "--iterations", "30"],
    "sart": ["--nonnegative", "--iterations", "15"],
    "osem": ["--subsets", "5", "--iterations", "20"],
    "lsqr, stopped by gcv": ["--stop", "gcv", "--iterations", "40"],
    "cgls, stopped by ncp": ["--stop", "ncp", "--iterations", "40"],
}


def cases(program):
    """All methods that iterate, with options of their own or 40 iterations, and these rules."""
    said = subprocess.run([program, "help", "recon", "all"], capture_output=True, text=True, check=True).stdout
    body = re.search(r"^Methods:\n((?:  .*\n)+)", said, re.MULTILINE)[1]
    names = [name for name in re.findall(r"^  ([\w-]+):", body, re.MULTILINE) if name != "fbp"]
    return {name: ["--reconstruction-algorithm", name.partition(",")[0], *OF_METHODS.get(name, ["--iterations", "40"])]
            for name in [*names, *(name for name in OF_METHODS if "," in name)]}


CASES = cases(os.path.abspath(sys.argv[1]))


def require(holds, *what):
    if not holds:
        sys.exit("kill_solvers: " + " ".join(str(w) for w in what))


def command(program, method, name, *more):
    return [program, "recon", "scan.h5", "-o", name + ".tif", "--quiet", "--overwrite", *CASES[method], *CHUNKS, *more]


def voxels(folder, name, method):
    """The voxels of all slices, which stand before their description."""
    size = SIZE * SIZE * (2 if "uint16" in CASES[method] else 4)
    return [path.read_bytes()[8:8 + size] for path in sorted(folder.glob(name + "_*.tif"))]


def kill_until_done(program, folder, method, seconds, random_source):
    """How often it was killed, and whether any run went on in the middle of its iterations."""
    kills = 0
    while True:
        every = random_source.choice(["", ":every=1", ":every=2", ":every=5"])
        words = command(program, method, "k", "--checkpoint", "state" + every, "--resume", "--json", "r.json")
        run = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            _, told = run.communicate(timeout=random_source.uniform(0.1, 0.6) * seconds if kills < 8 else 300)
        except subprocess.TimeoutExpired:
            sent = random_source.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
            run.send_signal(sent)
            _, told = run.communicate(timeout=60)
            # -sent: it came before the program could take it, so nothing had begun
            require(run.returncode in (-sent, 0, 128 + sent), "the code", run.returncode, told)
        if run.returncode == 0:
            report = json.loads((folder / "r.json").read_text())
            return kills, bool(report["checkpoint"]["resumed"])
        require(run.returncode in (-sent, 128 + sent), "a run that goes on failed:", told)
        kills += 1


def main():
    program, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    random_source = random.Random(seed)
    seen = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="tandem-kills-") as name:
        folder = pathlib.Path(name)
        os.environ.setdefault("TANDEM_CACHE", str(folder / "cache"))
        subprocess.run([program, "simulate", "-o", "scan.h5", "--phantom", "ellipsoids", "--size", str(SIZE), "--rows",
                        "24", "--views", "61", "--photons", "1e3", "--quiet"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        for k in range(count):
            method = list(CASES)[k % len(CASES)]
            start = time.monotonic()
            subprocess.run(command(program, method, "whole"), cwd=folder, stdout=subprocess.DEVNULL, check=True)
            kills, went_on = kill_until_done(program, folder, method, time.monotonic() - start, random_source)
            same = voxels(folder, "k", method) == voxels(folder, "whole", method) != []
            require(same, method, "has other bits after", kills, "kills")
            left = [p.name for p in folder.iterdir() if p.name.startswith((".", "state"))]
            require(not left, "the last run left", left)
            seen[method + (", which went on" if went_on else ", which the volume alone resumed")] += kills
    for what, times in sorted(seen.items()):
        print(f"{times:5d} kills of {what}")
    print(f"kill_solvers: {count} runs have the bits of those that nobody killed")


main()
