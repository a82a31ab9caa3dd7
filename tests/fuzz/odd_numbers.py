#!/usr/bin/env python3
"""Odd values for every option of every command of tandem.

    python3 tests/fuzz/odd_numbers.py PROGRAM [SEED] [--sample N] [--jobs J]

Options are found in the program's own help, so that a new one is covered without an edit. Each gets the values
below, alone and in the places of what its help shows (A:B, relative=EPS). Of each run this must hold: an exit
code of the contract; on failure exactly one line `tandem: error: ...`, no line above 500 characters, and no
output left; on success a report and outputs that can be read, of finite numbers; no crash, and no hang (10 s of
computing). Prints how many runs there were, and each that broke a rule; exits with 1 if any did.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

ODD = ["0", "-1", "1e-40", "1e308", "1e309", "nan", "inf", "-inf", "010", "0x10", "1e3", "1 ", " 1", "", "+1", "--",
       "9223372036854775807", "9223372036854775808", "1.5", "1,5", "1e", "7" * 2000,
       "\u0661\u0662", "hann"]  # in Arabic digits: twelve
COMPUTING_S, WAITING_S, MEMORY = 10, 120, 6 << 30

# Each command with what it needs to succeed, in the contexts that its options go with.
PARALLEL = "--size 12 --views 16 --rows 3"
CONE = PARALLEL + " --geometry cone --sod 60 --sdd 90 --pixel-size 0.5"
SCANS = [f"simulate -o scan.h5 --truth truth.h5 --photons 1000 --pixel-size 0.5 --phantom disc {PARALLEL}",
         f"simulate -o cone.h5 --photons 1000 {CONE}"]
CONTEXTS = {
    "simulate": [f"-o out.h5 --photons 1000 {PARALLEL}", f"-o out.h5 --truth out_truth.h5 {CONE}"],
    "info": ["scan.h5", "truth.h5"],
    "center": ["scan.h5", "cone.h5"],
    "recon": ["scan.h5 -o out.tif",
              "scan.h5 -o out.tif --reconstruction-algorithm sirt --iterations 3",
              "scan.h5 -o out.tif --reconstruction-algorithm cgls --iterations 3 --stop discrepancy",
              "scan.h5 -o out.tif --dtype uint16 --range -1:1",
              "cone.h5 -o out.tif"],
    "project": ["truth.h5 -o out.h5", f"truth.h5 -o out.h5 --geometry cone --sod 60 --sdd 90 --views 5"],
    "check": ["--size 8 --pair parallel/pixel_driven"],
    "bench": ["fbp --size 8 --views 4 --slices 2 --repeat 1",
              "cone --streamed --size 8 --views 4 --slices 2 --repeat 1"],
}


def run(program, arguments, folder):
    """The exit code (None: a hang) and what was printed."""
    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (COMPUTING_S, COMPUTING_S + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        done = subprocess.run([program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=WAITING_S, preexec_fn=limits)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    except subprocess.TimeoutExpired:
        return None, "", ""


def options_of(program, command):
    """Name and form of every option with a value, as the help lists them."""
    text = run(program, ["help", command, "all"], ".")[1]
    found = re.findall(r"^  (?:-\w,)?(--[\w-]+|-\w) ([^\s]+)", text, re.MULTILINE)
    assert any(name == "--threads" for name, _ in found), f"help {command} lists no options: {text}"
    return found


def fillings(form, odd):
    """The odd value alone, and in every place of a form such as A:B, N,N,... or relative=EPS."""
    filled = [odd]
    for alternative in form.split("|"):
        pattern = re.sub(r",\.\.\.|\[,.*", "", alternative)
        places = list(re.finditer(r"\b[A-Za-z]\w*\b(?!=)", pattern))
        if not re.search("[:=,]", pattern):
            continue
        for chosen in places:
            text, last = "", 0
            for place in places:
                plain = "0" if pattern[place.end():].startswith(":") else "2"
                text += pattern[last:place.start()] + (odd if place is chosen else plain)
                last = place.end()
            filled.append(text + pattern[last:])
    return list(dict.fromkeys(filled))


def cases(program):
    for command, contexts in CONTEXTS.items():
        for name, form in options_of(program, command):
            for context in contexts:
                for odd in ODD:
                    for value in fillings(form, odd):
                        yield command, shlex.split(context), name, value


def arguments_of(command, context, name, value):
    """The context with the option in the place of its own, and with a report."""
    words = [command] + context + ([] if name == "--json" else ["--json", "out.json"])
    short = {"--output": "-o"}.get(name, name)
    if short in words:
        at = words.index(short)
        return words[:at] + [name, value] + words[at + 2:]
    return words + [name, value]


def finite_json(value):
    if isinstance(value, dict):
        return all(map(finite_json, value.values()))
    if isinstance(value, list):
        return all(map(finite_json, value))
    return not isinstance(value, float) or math.isfinite(value)


def finite_tiff(path):
    """Whether the pixels of an uncompressed little-endian TIFF are there, and finite where they are floats."""
    data = path.read_bytes()
    if data[:4] != b"II*\0":
        return False
    at = struct.unpack_from("<I", data, 4)[0]
    tags = {}
    for k in range(struct.unpack_from("<H", data, at)[0]):
        tag, kind, count, value = struct.unpack_from("<HHII", data, at + 2 + 12 * k)
        width = {3: "H", 4: "I"}.get(kind)
        if width:
            size = struct.calcsize(width)
            place = value if count * size > 4 else at + 2 + 12 * k + 8
            tags[tag] = struct.unpack_from(f"<{count}{width}", data, place)
    pixels = b"".join(data[a:a + n] for a, n in zip(tags[273], tags[279]))
    bits = tags[258][0]
    if tags.get(259, (1,))[0] != 1 or 8 * len(pixels) != tags[256][0] * tags[257][0] * bits:
        return False
    return bits != 32 or all(map(math.isfinite, struct.unpack(f"<{len(pixels) // 4}f", pixels)))


def unreadable(program, path, folder):
    """What is wrong with an output, or nothing."""
    if path.name.endswith((".tif", ".tiff")):
        return "" if finite_tiff(path) else "no finite TIFF"
    if path.name.endswith(".h5"):
        info, again = ["info", path.name, "--json", "-"], ["-o", "again_" + path.name, "--json", "-"]
        # a scan of odd numbers may be one that nobody can reconstruct (4), but not one that nobody can read
        use = ["project", path.name] if "truth" in path.name else [
            "recon", path.name, "--reconstruction-algorithm", "sirt", "--iterations", "1", "--minus-log", "true:floored=100"]
        for words, allowed in ((info, {0}), (use + again, {0, 4})):
            code, out, err = run(program, words, folder)
            if code not in allowed or (code == 0 and not finite_json(json.loads(out))):
                return f"not read by {shlex.join(words)}: {err.strip()}"
        return ""
    if path.name == "out.json":
        return "" if finite_json(json.loads(path.read_text())) else "not finite"
    return "" if path.stat().st_size > 0 else "empty"


def broken_rules(program, case, folder):
    """What a run in a folder of its own did wrong, and its exit code."""
    arguments = arguments_of(*case)
    before = {p.name for p in folder.iterdir()}
    code, out, err = run(program, arguments, folder)
    made = sorted(p for p in folder.iterdir() if p.name not in before)
    wrong = []
    lines = err.splitlines()
    if code is None or code == -24:
        wrong.append("hangs")
    elif code not in ({0, 1, 2, 3, 4, 5} if case[0] == "check" else {0, 2, 3, 4, 5}):
        wrong.append("crashes" if code < 0 else "no code of the contract")
    elif code == 0:
        wrong += [f"{p.name}: {fault}" for p in made if (fault := unreadable(program, p, folder))]
    else:
        if sum(line.startswith("tandem: error: ") for line in lines) != 1 or not err.endswith("\n"):
            wrong.append("not exactly one error line")
        log = case[3] if case[2] == "--log" else None  # is there to be read
        wrong += [f"{p.name} is left" for p in made if p.name != log]
    if any(len(line) > 500 for line in lines) or re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out + err):
        wrong.append("a line above 500 characters, or one with control characters")
    for path in folder.iterdir():
        if path.name not in before:
            path.unlink()
    return code, [f"{shlex.join([p if len(p) < 100 else p[:40] + '...' for p in arguments])}\n    exit {code}: "
                  f"{fault}\n    {err.strip()[:300]}" for fault in wrong]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("seed", nargs="?", type=int, default=1, help="of the order, and of the sample")
    parser.add_argument("--sample", type=int, default=0, help="runs at the most (default: all)")
    parser.add_argument("--jobs", type=int, default=2)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        os.environ.setdefault("TANDEM_CACHE", made)  # not in the folder of the user
        scans = pathlib.Path(made) / "scans"
        scans.mkdir()
        for line in SCANS:
            code, _, err = run(o.program, shlex.split(line), scans)
            assert code == 0, err
        todo = list(cases(o.program))
        random.Random(o.seed).shuffle(todo)
        todo = todo[:o.sample or len(todo)]
        codes, faults = collections.Counter(), []

        def share(job):
            folder = pathlib.Path(made) / f"job{job}"
            shutil.copytree(scans, folder)
            return [broken_rules(o.program, case, folder) for case in todo[job::o.jobs]]

        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            for code, wrong in (ended for part in pool.map(share, range(o.jobs)) for ended in part):
                codes[code] += 1
                faults += wrong
    for fault in sorted(faults):
        print(fault)
    print(f"{len(todo)} runs; exit codes", dict(sorted(codes.items(), key=str)), f"; {len(faults)} broke a rule")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
