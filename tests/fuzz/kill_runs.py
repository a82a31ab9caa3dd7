#!/usr/bin/env python3
"""Kills runs at random moments, between the renames of a TIFF volume too, and looks at what they leave.

usage: kill_runs.py PROGRAM COUNT SEED

Each run writes over a complete older volume, or where there is none, and is ended by SIGKILL, SIGTERM or SIGINT.
Then: under the final name stands the older volume or the new one, whole, every byte of it, or a TIFF volume that is
marked incomplete; a signal that can be caught leaves nothing else; and the next run clears what is left, or, with
--resume, completes it to the same volume.
Exit code 1 if any of this does not hold.
"""
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

SLICES = 200  # several chunks
SLOW = ["--reconstruction-algorithm", "sirt", "--iterations"]
RECIPES = {"old": SLOW + ["30"], "new": SLOW + ["31"]}
SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]


class Fault(Exception):
    pass


def require(holds, *what):
    if not holds:
        raise Fault(" ".join(str(w) for w in what))


class Case:
    def __init__(self, program, folder, kind):
        self.program, self.folder, self.kind = program, folder, kind
        self.name = {"tiff": "v.tif", "bigtiff": "v.btf"}.get(kind, "v.h5")
        self.options = ["--compression", "zstd"] if kind == "zstd" else []

    def command(self, recipe, name=None, resume=False):
        return [self.program, "recon", "scan.h5", "-o", name or self.name, "--quiet", "--json", "r.json",
                "--preview", "p.png"] + self.options + RECIPES[recipe] + ["--resume"] * resume

    def run(self, recipe, name=None, resume=False):
        done = subprocess.run(self.command(recipe, name, resume), cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
        require(done.returncode == 0, "a run that nobody killed failed:", done.stderr)

    def slices(self):
        """{file: its voxels} of a TIFF volume."""
        return {f.name: voxels_in(f) for f in sorted(self.folder.glob("v_*.tif"))}

    def state(self, expected):
        """ "none", "old", "new" or "incomplete"; a Fault for everything else."""
        shown = shown_complete(self.program, self.folder, self.name)
        if self.kind != "tiff":
            path = self.folder / self.name
            if not path.exists():
                return "none"
            require(shown == "yes", "the volume is not marked complete")
            data = path.read_bytes()
            same = [recipe for recipe, slices in expected.items() if self.holds(data, slices)]
        else:
            manifest, found = self.folder / (self.name + ".manifest"), self.slices()
            if not found and not manifest.exists():
                return "none"
            if not manifest.exists() or "complete: yes" not in manifest.read_text():
                require(shown != "yes", "info calls it complete")
                return "incomplete"
            require(shown == "yes", "info does not call it complete")
            check_manifest(manifest, found)
            same = [recipe for recipe, slices in expected.items() if slices == found]
        require(len(same) == 1, "a complete volume that no run wrote")
        return same[0]

    def holds(self, data, slices):
        """Whether the bytes of an HDF5 file have all voxels; of a packed one, their checksums."""
        if self.kind == "zstd":
            return b"".join(zlib.crc32(v).to_bytes(4, "little") for v in slices.values()) in data
        return all(v in data for v in slices.values())

    def left(self, journals=True):
        """Folders of killed runs; without `journals`, but for those that --resume can complete."""
        return [p.name for p in self.folder.iterdir()
                if p.name.endswith(".tandem") and (journals or not list(p.glob("*.journal")))]


def check_manifest(manifest, found):
    listed = dict(line.split()[1::2] for line in manifest.read_text().splitlines() if line.startswith("slice:"))
    require(len(listed) == len(found) == SLICES, "slices are missing")
    for name, voxels in found.items():
        require(int(listed[str(int(name[2:-4]))], 16) == zlib.crc32(voxels), name, "has another checksum")


def voxels_in(path):
    """The one strip of an image as tandem writes it, classic and little endian."""
    data = path.read_bytes()
    require(data[:4] == b"II*\0", path, "is no TIFF file")
    at = int.from_bytes(data[4:8], "little")
    tags = {}
    for k in range(int.from_bytes(data[at:at + 2], "little")):
        entry = data[at + 2 + 12 * k:at + 14 + 12 * k]
        tags[int.from_bytes(entry[:2], "little")] = int.from_bytes(entry[8:12], "little")
    require(tags[273] + tags[279] <= len(data), path, "is cut short")
    return data[tags[273]:tags[273] + tags[279]]


def shown_complete(program, folder, name):
    done = subprocess.run([program, "info", name], cwd=folder, capture_output=True, text=True, check=False)
    lines = [line.split() for line in done.stdout.splitlines()]
    return next((line[1] for line in lines if line[:1] == ["complete"]), None)


def moment(case, random_source, seconds, process):
    """Waits until a random moment of a run; half of those with TIFF lie in the time of the renames."""
    if case.kind == "tiff" and random_source.random() < 0.5:
        manifest = case.folder / (case.name + ".manifest")
        while process.poll() is None:
            try:
                if "complete: no" in manifest.read_text():
                    break
            except OSError:
                pass
        time.sleep(random_source.uniform(0, 0.003))
    else:
        time.sleep(random_source.uniform(0, 1.1 * seconds))


def clear(folder):
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != "scan.h5":
            path.unlink()


def expected_of(case):
    """The slices that the two recipes give, and how long a run takes."""
    images, expected, seconds = Case(case.program, case.folder, "tiff"), {}, 0
    for recipe in RECIPES:
        clear(case.folder)
        images.run(recipe)
        expected[recipe] = images.slices()
        clear(case.folder)
        start = time.monotonic()
        case.run(recipe)
        seconds = time.monotonic() - start
        require(case.state(expected) == recipe, "a run that nobody killed does not give its volume")
    return expected, seconds


def kill_once(case, expected, seconds, random_source):
    clear(case.folder)
    older = random_source.random() < 0.7
    if older:
        case.run("old")
    number = random_source.choice(SIGNALS)
    process = subprocess.Popen(case.command("new"), cwd=case.folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    moment(case, random_source, seconds, process)
    process.send_signal(number)
    try:
        code = process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Fault(f"{number.name} does not end the run") from None
    state = case.state(expected)
    finished = code == 0
    allowed = {"new"} if finished else {"old", "new"} if older else {"none", "new"}
    if number == signal.SIGKILL:
        allowed.add("incomplete")
    require(state in allowed, "after", number.name, "with code", code, "there is", state, "of", allowed)
    if number != signal.SIGKILL:
        before_main = -number
        require(code in (0, 128 + number, before_main), number.name, "gave the code", code)
        require(not case.left(), number.name, "left", case.left())
    after, kept = random_source.random(), any(case.folder.glob(".*.tandem/*.journal"))
    if after < 0.3:
        case.run("new", "other" + case.name[1:])
        require(not case.left(journals=False), "a run beside it left", case.left())
    resumed = after > 0.3 or state == "incomplete"
    if resumed:
        case.run("new", resume=after < 0.8)
        require(not case.left(), "the next run left", case.left())
        require(case.state(expected) == "new", "the volume does not come back")
    words = " over old" if older else ""
    return f"{case.kind} {number.name} {state}{words}" + (", resumed" if kept and resumed and after < 0.8 else "")


def main():
    program, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    random_source = random.Random(seed)
    seen = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="tandem-kills-") as name:
        folder = pathlib.Path(name)
        os.environ.setdefault("TANDEM_CACHE", str(folder / "cache"))  # not in the folder of the user
        subprocess.run([program, "simulate", "-o", "scan.h5", "--size", "32", "--rows", str(SLICES), "--views", "24",
                        "--quiet"], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        cases = [Case(program, folder, kind) for kind in ("h5", "tiff", "zstd", "bigtiff")]
        known = {}
        for case in cases:
            known[case.kind] = expected_of(case)
        for i in range(count):
            case = cases[i % 3]
            try:
                seen[kill_once(case, *known[case.kind], random_source)] += 1
            except Fault as fault:
                print(f"kill_runs: kill {i} of seed {seed}: {fault}")
                print("kill_runs: files:", sorted(p.name for p in folder.iterdir()))
                return 1
    for what, times in sorted(seen.items()):
        print(f"{times:5d}  {what}")
    print(f"kill_runs: {count} kills: nothing lost, nothing wrong, nothing left")
    return 0


sys.exit(main())
