"""A parallel beam from file to file: ranks with one GPU each beside one process with all of them.

    python bench/ranks/file_to_file.py FOLDER [--tandem PROGRAM] [--ranks 2] [--rows 512] [--runs 6] [--json FILE]
        [--mpirun "mpirun -n 2"] [--device cpu]

Makes a scan of ROWS x 2048 bins, 2048 views of uint16 in FOLDER (a RAM disk shows the programs, not the disk) and
reconstructs it to float16 by the two ways in turn. Seconds are those of the whole process, seen from outside.
"""
import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import time

import h5py
import numpy as np


def make_scan(path, rows, views=2048, bins=2048):
    frame = np.random.default_rng(1).integers(3000, 9000, (rows, bins)).astype(np.uint16)
    with h5py.File(path, "w") as file:
        data = file.create_dataset("exchange/data", (views, rows, bins), np.uint16)
        for view in range(views):
            data[view] = np.roll(frame, 17 * view, 1)
        file["exchange/data_white"] = np.full((4, rows, bins), 10000, np.uint16)
        file["exchange/data_dark"] = np.full((4, rows, bins), 100, np.uint16)
        file["exchange/theta"] = np.arange(views) * 180 / views


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tandem", default="tandem")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--mpirun")
    parser.add_argument("--device", help="of both (default: as many GPUs as ranks)")
    parser.add_argument("--rows", type=int, default=512)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--json", type=pathlib.Path)
    asked = parser.parse_args()
    scan, volume = asked.folder / "scan.h5", asked.folder / "volume.h5"
    make_scan(scan, asked.rows)
    command = [asked.tandem, "recon", str(scan), "-o", str(volume), "--dtype", "float16", "--quiet"]
    if asked.device:
        command += ["--device", asked.device]
    cards = [] if asked.device else ["--device", "cuda:" + ",".join(map(str, range(asked.ranks)))]
    ways = {"one process": command + cards,
            f"{asked.ranks} ranks": shlex.split(asked.mpirun or f"mpirun -n {asked.ranks}") + command}
    seconds = {way: [] for way in ways}
    for _ in range(asked.runs):
        for way, words in ways.items():
            volume.unlink(missing_ok=True)
            begin = time.perf_counter()
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
            seconds[way].append(round(time.perf_counter() - begin, 3))
    for way, each in seconds.items():
        print(f"{way:12}  median {statistics.median(each):.2f} s  of {each}")
    if asked.json:
        asked.json.write_text(json.dumps({"rows": asked.rows, "views": 2048, "bins": 2048, "seconds": seconds}, indent=1))
    scan.unlink(), volume.unlink()


main()
