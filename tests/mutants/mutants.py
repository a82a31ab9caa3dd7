#!/usr/bin/env python3
"""Do the tests see small faults? Plants one at a time in the library and runs the tests of the folder it is in.

usage: mutants.py SOURCE WORK [--count N] [--seed S] [--only TEXT] [--json FILE]

A random sample of all faults that the rules below can plant in core, geometry, kernels/cpu, operators, solvers, io and
pipeline. Faults that do not compile are drawn again. So are those that leave the machine code as it was: they are the same
program. A fault is seen when a test fails, crashes or takes ten times its usual time. SOURCE is a checkout; WORK a folder
for a copy of its tracked files and for the build.
"""

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

# The folders whose tests see a folder's faults: its own, and for kernels also the operators made of them.
TESTS = {
    "core": ["core"],
    "geometry": ["geometry"],
    "kernels": ["kernels", "operators"],
    "operators": ["operators"],
    "solvers": ["solvers"],
    "io": ["io"],
    "pipeline": ["pipeline"],
}
FOLDERS = [*(f for f in TESTS if f != "kernels"), "kernels/cpu"]

most_bytes = 16 << 30  # address space of one test program

# (name, pattern, replacement): binary operators stand between spaces, as .clang-format lays them out.
SWAPS = [
    ("comparison", r" < ", " <= "), ("comparison", r" <= ", " < "),
    ("comparison", r" > ", " >= "), ("comparison", r" >= ", " > "),
    ("comparison", r" == ", " != "), ("comparison", r" != ", " == "),
    ("logic", r" && ", " || "), ("logic", r" \|\| ", " && "), ("logic", r"if \(", "if (not "),
    ("sum", r" \+ ", " - "), ("sum", r" - ", " + "), ("sum", r" \+= ", " -= "), ("sum", r" -= ", " += "),
    ("product", r" \* ", " / "), ("product", r" / ", " * "), ("product", r" \*= ", " /= "),
    ("word", r"\btrue\b", "false"), ("word", r"\bfalse\b", "true"),
    ("word", r"std::min\b", "std::max"), ("word", r"std::max\b", "std::min"),
    ("word", r"std::sin\b", "std::cos"), ("word", r"std::cos\b", "std::sin"),
    ("word", r"std::floor\b", "std::ceil"), ("word", r"std::ceil\b", "std::floor"),
    ("word", r"\bcontinue;", ";"), ("word", r"\breturn;", ";"),
]
NUMBER = re.compile(r"(?<![\w.\"'])(\d+\.\d*|\.\d+|\d+)(e[-+]?\d+)?(?![\w.]*[\"'\w])")
STATEMENT = re.compile(r"^\s+(?!return|break|continue|using|const |auto |throw|case|static|typename|template|friend)"
                       r"[\w.\[\]>:-]+(\(.*\)| [-+*/]?= .*);$")


def other_number(text):
    """Five per cent more for a fraction, one more for a whole number."""
    if re.fullmatch(r"\d+", text):
        return str(int(text) + 1)
    return repr(float(text) * 1.05)


def code_of(line, in_comment):
    """The line with texts and comments blanked, of the same length; and whether a comment goes on after it."""
    out, i = [], 0
    while i < len(line):
        if in_comment:
            end = line.find("*/", i)
            stop = len(line) if end < 0 else end + 2
            out.append(" " * (stop - i))
            in_comment, i = end < 0, stop
        elif line.startswith("//", i):
            out.append(" " * (len(line) - i))
            break
        elif line.startswith("/*", i):
            in_comment = True
        elif line[i] == '"':
            end = i + 1
            while end < len(line) and line[end] != '"':
                end += 2 if line[end] == "\\" else 1
            out.append(" " * (min(end, len(line) - 1) + 1 - i))
            i = end + 1
        else:
            out.append(line[i])
            i += 1
    return "".join(out), in_comment


def faults_of(line, code):
    """(kind, the line with one fault)"""
    for kind, pattern, replacement in SWAPS:
        for m in re.finditer(pattern, code):
            yield kind, line[:m.start()] + replacement + line[m.end():]
    for m in NUMBER.finditer(code):
        yield "number", line[:m.start()] + other_number(m.group()) + line[m.end():]
    if STATEMENT.match(code.rstrip()):
        yield "deleted", re.sub(r"\S.*", ";", line)


def all_faults(source):
    faults = []
    for folder in FOLDERS:
        for path in sorted([*source.glob(f"{folder}/*.cpp"), *source.glob(f"{folder}/*.hpp")]):
            in_comment = False
            for number, line in enumerate(path.read_text().splitlines()):
                code, in_comment = code_of(line, in_comment)
                if code.lstrip().startswith("#") or "static_assert" in code:
                    continue
                for kind, changed in faults_of(line, code):
                    faults.append((path.relative_to(source).as_posix(), number, kind, changed))
    return faults


def limit_memory():
    """A fault may ask for any size; none takes the machine down."""
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))


class Bench:
    """A copy of the tree, its build, and how long its tests take when nothing is wrong."""

    def __init__(self, source, work):
        self.tree, self.build = work / "tree", work / "build"
        self.tree.mkdir(parents=True, exist_ok=True)
        self.copy_from(source)
        # less optimised, since most of the time goes to compiling
        subprocess.run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DTANDEM_CUDA=OFF", "-DTANDEM_BY_FOLDER=OFF", "--log-level=WARNING",
                        *os.environ.get("CMAKE_ARGS", "").split()], check=True)
        self.data = source.parent / "shared"  # measured scans, where there are any
        link = work / "shared"
        if self.data.exists() and not link.exists():
            link.symlink_to(self.data)
        if not self.make("all"):
            sys.exit("mutants: the tree does not build as it is")
        self.usual = {}
        for test in {t for tests in TESTS.values() for t in tests}:
            start = time.monotonic()
            if self.fails(test, 1800):
                sys.exit(f"mutants: test_{test} fails as it is")
            self.usual[test] = time.monotonic() - start

    def copy_from(self, source):
        """Tracked files as they are; the same ones keep their time, so that little is built again."""
        listed = subprocess.run(["git", "-C", source, "ls-files", "-z"], check=True, capture_output=True, text=True)
        names = {name for name in listed.stdout.split("\0") if name and (source / name).exists()}
        for old in [p for p in self.tree.rglob("*") if p.is_file()]:
            if old.relative_to(self.tree).as_posix() not in names:
                old.unlink()
        for name in names:
            to = self.tree / name
            if not to.exists() or to.read_bytes() != (source / name).read_bytes():
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source / name, to)

    def make(self, *targets):
        return subprocess.run(["cmake", "--build", self.build, "--target", *targets],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def object_of(self, path):
        return self.build / "CMakeFiles" / "tandem.dir" / f"{path}.o"

    def fails(self, test, limit):
        """Runs a test program in as many shares as there are cores."""
        shares = os.cpu_count() or 1
        running = [subprocess.Popen([self.build / "tests" / f"test_{test}", "--gtest_fail_fast", "--gtest_brief=1"],
                                    env={**os.environ, "GTEST_TOTAL_SHARDS": str(shares), "GTEST_SHARD_INDEX": str(k)},
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    start_new_session=True, preexec_fn=limit_memory)
                   for k in range(shares)]
        end = time.monotonic() + limit
        failed = False
        while running and not failed:
            time.sleep(0.05)
            failed = time.monotonic() > end or any(p.poll() not in (None, 0) for p in running)
            running = [p for p in running if p.poll() is None]
        for p in running:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
        return failed

    def try_fault(self, path, number, changed):
        """"seen", "survived", "same" program or "no build"."""
        file = self.tree / path
        before = file.read_text()
        lines = before.splitlines()
        lines[number] = changed
        tests = TESTS[path.split("/")[0]]
        object_file = self.object_of(path)
        machine_code = object_file.read_bytes() if object_file.exists() else None
        try:
            file.write_text("\n".join(lines) + "\n")
            if not self.make("tandem_program", *(f"test_{t}" for t in tests)):
                return "no build"
            if machine_code is not None and object_file.read_bytes() == machine_code:
                return "same"
            return "seen" if any(self.fails(t, 30 + 10 * self.usual[t]) for t in tests) else "survived"
        finally:
            file.write_text(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=lambda p: Path(p).resolve())
    parser.add_argument("work", type=lambda p: Path(p).resolve())
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="files whose path holds this")
    parser.add_argument("--json", type=Path)
    o = parser.parse_args()
    bench = Bench(o.source, o.work)
    faults = [f for f in all_faults(o.source) if o.only in f[0]]
    print(f"{len(faults)} faults can be planted; {o.count} that compile are drawn with seed {o.seed}", flush=True)
    random.Random(o.seed).shuffle(faults)
    rows = []
    for path, number, kind, changed in faults:
        if len(rows) == o.count:
            break
        result = bench.try_fault(path, number, changed)
        if result not in ("seen", "survived"):
            continue
        rows.append({"file": path, "line": number + 1, "kind": kind, "text": changed.strip(), "result": result})
        print(f"{len(rows):4} {result:9} {path}:{number + 1} ({kind}) {changed.strip()}", flush=True)
    seen = sum(r["result"] == "seen" for r in rows)
    print(f"{seen} of {len(rows)} seen")
    if o.json:
        o.json.write_text(json.dumps({"seed": o.seed, "count": len(rows), "seen": seen, "faults": rows}, indent=1))


if __name__ == "__main__":
    main()
