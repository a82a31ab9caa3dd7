#!/usr/bin/env python3
"""Damages what tandem's commands read beside scans: recipes, check-points, journals, volumes, lists, reports.

    python3 tests/fuzz/damaged_inputs.py PROGRAM 600s|200 SEED [--of WORD ...] [--jobs J] [--keep FOLDER]

Each case copies a folder of valid files, damages one of them, and runs a command that reads it. A run may succeed,
or fail with an exit code of the contract and one line `tandem: error: ...`. It may not crash, compute longer than
60 s, take more than 1 GiB (8 GiB with sanitizers), or print lines above 500 characters or control characters. Half
of the damaged check-points and journals get new checksums, so that the damage comes through. Prints how many cases
there were of each kind, and their exit codes; exits with 1, and keeps the files, if any case broke a rule.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

COMPUTING_S, WAITING_S = 60, 300
EXTREMES = [b"0", b"-1", b"1", b"2", b"1e308", b"-1e308", b"1e-320", b"nan", b"inf", b"65536", b"2147483648",
            b"4294967297", b"9223372036854775807", b"9223372036854775808", b"1e18", b"0x10", b"1,5", b"", b"1e",
            b"9" * 400, b"true", b"[]", b'""', b"hann"]
SOLVER = ("recon scan.h5 -o out.tif --reconstruction-algorithm cgls --iterations 40 --checkpoint "
          "state:every=1 --memory 0.1 --threads 1 --resume")

# For each kind: the commands that make the valid files, the files that are damaged, and the command that
# reads them.
SCAN = "simulate -o scan.h5 --truth truth.h5 --phantom disc --size 16 --rows 4 --views 20 --photons 1e4 --pixel-size 1"
KINDS = {
    "recipe": (["recon scan.h5 -o made.h5 --save-config recipe.toml --remove-stripe-method vo-all --dezinger 3"],
               ["recipe.toml"], "recon scan.h5 -o out.h5 --config recipe.toml"),
    "like": (["recon scan.h5 -o made.h5 --fbp-filter hann"], ["made.h5"], "recon scan.h5 -o out.h5 --like made.h5"),
    "initial": (["recon scan.h5 -o made.tif"], ["made.tif.manifest", "made_00001.tif"],
                "recon scan.h5 -o out.h5 --initial made.tif --reconstruction-algorithm sirt --iterations 2"),
    "truth": (["recon scan.h5 -o made.btf"], ["made.btf"], "recon scan.h5 -o out.h5 --truth made.btf"),
    "project": ([], ["truth.h5"], "project truth.h5 -o out.h5 --views 5"),
    "parts": (["recon scan.h5 --part-of all.h5 --slices 0:2", "recon scan.h5 --part-of all.h5 --slices 2:4"],
              ["all.h5", "all_00000-00002.h5"], "info all.h5"),
    "report": (["recon scan.h5 -o made.h5 --json run.json --truth truth.h5 --reconstruction-algorithm cgls "
                "--iterations 3"], ["run.json"], "report run.json -o page.html"),
    "rates": (["recon scan.h5 -o made.h5 --dry-run"], ["rates.json"], "recon scan.h5 -o made.h5 --dry-run"),
    "solver": ([SOLVER], ["state", ".out.tif.tandem/out.tif.journal"], SOLVER),
    "angles": ([], ["angles.txt"], "recon scan.h5 -o out.h5 --angles angles.txt"),
    "shifts": ([], ["angles.txt"], "recon scan.h5 -o out.h5 --view-shifts angles.txt --view-row-shifts angles.txt"),
    "axes": ([], ["axes.txt"], "recon scan.h5 -o out.h5 --row-axes axes.txt"),
    "wedge": ([], ["wedge.txt"], "recon scan.h5 -o out.h5 --beam-hardening wedge:file=wedge.txt"),
    "spectrum": ([], ["spectrum.txt"], "recon scan.h5 -o out.h5 --beam-hardening spectrum:file=spectrum.txt"),
}
LISTS = {"angles.txt": [9 * k for k in range(20)], "axes.txt": [7.5, 7.6, 7.7, 7.8],
         "wedge.txt": ["1 0.2", "2 0.39", "3 0.57", "4 0.74", "5 0.9", "6 1.05"],
         "spectrum.txt": ["20 0.1", "30 0.4", "40 0.3", "60 0.2"]}


def is_text(data):
    return all(9 <= c < 127 for c in data[:256])


def damaged_text(data, chance):
    """The text with a number or a line exchanged, doubled or left out."""
    lines = chance.random() < 0.3
    found = list(re.finditer(rb"[^\n]+" if lines else rb"[-+.\w]*\d[-+.\w]*", data))
    if not found:
        return damaged_bytes(data, chance)
    place, other = chance.choice(found), chance.choice(found).group()
    new = chance.choice([b"", other, other + b"\n" + other]) if lines else chance.choice(EXTREMES + [other] * 4)
    return data[:place.start()] + new + data[place.end():]


def damaged_bytes(data, chance):
    data = bytearray(data)
    at, other = chance.randrange(len(data)), chance.randrange(len(data))
    way = chance.randrange(5)
    if way == 0:
        data[at] ^= 1 << chance.randrange(8)
    elif way == 1:
        data[at] = chance.randrange(256)
    elif way == 2:
        width = chance.choice([2, 4, 8])
        data[at:at + width] = chance.choice([0, 1, 0x7fff, 0xffff, 1 << 31, 1 << 40]).to_bytes(8, "little")[:width]
    elif way == 3:
        length = chance.randrange(1, 64)
        data[at:at + length], data[other:other + length] = data[other:other + length], data[at:at + length]
    else:
        del data[at:at + chance.randrange(1, 64)]
    return bytes(data)


def with_checksums(name, data):
    """As if the damaged content had been written like that."""
    if name == "state":
        return data[:-4] + zlib.crc32(data[:-4]).to_bytes(4, "little")
    if name.endswith(".journal"):
        texts = [line.rsplit(b" ", 1)[0] for line in data.split(b"\n") if line]
        return b"".join(b"%s %x\n" % (text, zlib.crc32(text)) for text in texts)
    return data


def damage(path, chance):
    data = path.read_bytes()
    text = is_text(data)
    if chance.random() < 1 / 16:
        data = data[:chance.randrange(len(data))]
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        if data:
            data = (damaged_text if text and chance.random() < 0.8 else damaged_bytes)(data, chance)
    if chance.random() < 0.5:
        data = with_checksums(path.name, data)
    path.write_bytes(data)


def run(program, words, folder, memory):
    """The exit code (None: it computes too long), the peak of its memory, and what it printed."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (COMPUTING_S, COMPUTING_S + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    environment = {**os.environ, "TANDEM_CACHE": str(folder), "ASAN_OPTIONS": "allocator_may_return_null=1:"
                   f"detect_leaks=0:max_allocation_size_mb={memory >> 20}"}
    with open(folder / "said.txt", "w+b") as said:
        process = subprocess.Popen([program, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                   preexec_fn=limits, env=environment)
        end = time.monotonic() + WAITING_S
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > end:
                process.kill()
            time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        too_long = (128 + signal.SIGXCPU, -signal.SIGXCPU, -signal.SIGKILL)
        code = None if process.returncode in too_long else process.returncode
        return code, usage.ru_maxrss * 1024, said.read().decode(errors="replace")


def make_until_killed(program, words, folder):
    """A run that is ended when its first check-point is there."""
    process = subprocess.Popen([program, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not (folder / "state").exists():
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    process.wait()
    assert (folder / "state").exists(), "no check-point is left"


def make(program, kind, folder):
    folder.mkdir()
    for name, lines in LISTS.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    scan = SCAN.replace("--size 16", "--size 96").replace("--views 20", "--views 160") if kind == "solver" else SCAN
    for line in [scan] + KINDS[kind][0]:
        if kind == "solver" and line is SOLVER:
            make_until_killed(program, shlex.split(line), folder)
            continue
        code, _, said = run(program, shlex.split(line), folder, 8 << 30)
        assert code == 0, said


def broken_rules(code, peak, memory, said):
    errors = sum(line.startswith("tandem: error: ") for line in said.splitlines())
    if code is None:
        yield "computes too long"
    elif code not in (0, 2, 3, 4, 5):
        yield "crashes" if code < 0 else "no code of the contract"
    elif (code != 0) != (errors == 1) or errors > 1:
        yield "not exactly one error line for a failure"
    if peak > memory:
        yield f"takes {peak >> 20} MiB"
    if any(len(line) > 500 for line in said.splitlines()) or re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", said):
        yield "a line above 500 characters, or one with control characters"


def attempt(o, number, made):
    """Kind, exit code and faults of a case."""
    chance = random.Random(f"{o.seed} {number}")
    kind = chance.choice(o.kinds)
    _, names, command = KINDS[kind]
    with tempfile.TemporaryDirectory(dir=made) as there:
        folder = pathlib.Path(there) / "case"
        shutil.copytree(made / kind, folder)
        name = chance.choice([name for name in names if (folder / name).exists()])
        damage(folder / name, chance)
        shutil.copytree(folder, pathlib.Path(there) / "before")
        code, peak, said = run(o.program, shlex.split(command), folder, o.memory)
        wrong = list(broken_rules(code, peak, o.memory, said))
        if wrong:
            shutil.copytree(pathlib.Path(there) / "before", o.keep / f"{kind}-{o.seed}-{number}", dirs_exist_ok=True)
        return kind, code, [f"{kind} {number}, {name} damaged: exit {code}: {fault}\n    {said.strip()[:2000]}"
                            for fault in wrong]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("length", help="seconds (600s) or cases (200)")
    parser.add_argument("seed", type=int)
    parser.add_argument("--of", nargs="*", default=[""], help="only kinds with one of these words in their names")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("fuzz-findings"))
    o = parser.parse_args()
    o.kinds = [kind for kind in KINDS if any(word in kind for word in o.of)]
    o.memory = (8 if b"__asan" in pathlib.Path(o.program).read_bytes() else 1) << 30
    by_time = o.length.endswith("s")
    end = time.monotonic() + (float(o.length[:-1]) if by_time else 1e9)
    count = 10 ** 9 if by_time else int(o.length)
    codes, faults = collections.defaultdict(collections.Counter), []
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder)
        for kind in o.kinds:
            make(o.program, kind, made / kind)

        def share(job):
            number, ended = job, []
            while number < count and time.monotonic() < end:
                ended.append(attempt(o, number, made))
                number += o.jobs
            return ended

        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            for kind, code, wrong in (one for part in pool.map(share, range(o.jobs)) for one in part):
                codes[kind][code] += 1
                faults += wrong
    for fault in sorted(faults):
        print(fault)
    for kind, of_kind in sorted(codes.items()):
        print(f"{sum(of_kind.values()):6d} cases of {kind}; exit codes", dict(sorted(of_kind.items(), key=str)))
    print(f"damaged_inputs: {sum(sum(c.values()) for c in codes.values())} cases; {len(faults)} broke a rule")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
