#!/usr/bin/env python3
"""Plays a stranger whose files are read, and another user of the machine.

    python3 tests/fuzz/enemies.py PROGRAM COUNT SEED [--of WORD ...]

Each attack makes files that an enemy could make, and runs a command that meets them. Afterwards the victims must
have the bytes that they had, nothing may be there that the command line did not name, the run must end with a code
of the contract within a minute, with one line of error if it failed, and without a word of a secret in what it says.
Prints how many attacks there were of each kind and their exit codes; exits with 1 if one of them came through.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zlib

from forged import forge_volume, leave_folder

SECRET = "hunter2-of-the-victim"
WAITING_S = 60
SCAN = "simulate -o scan.h5 --phantom disc --size 16 --rows 4 --views 20 --photons 1e4 --quiet"
SOLVER = ["--reconstruction-algorithm", "cgls", "--iterations", "3"]
PLANTED = {"victim.h5": b"precious " * 40, "notes.txt": SECRET.encode() + b":x:0:0\n", ".bashrc": b"# mine\n",
           "angles.txt": b"".join(b"%d\n" % (9 * view) for view in range(20))}


class Fault(Exception):
    pass


def require(holds, *what):
    if not holds:
        raise Fault(" ".join(str(word) for word in what))


class Case:
    """A folder with a scan and victims, in which a program runs."""

    def __init__(self, program, folder, chance):
        self.program, self.folder, self.chance = program, folder, chance
        for name, data in PLANTED.items():
            (folder / name).write_bytes(data)

    def path(self, name):
        return self.folder / name

    def run(self, *words, codes=(0, 2, 3, 4, 5)):
        """The exit code; a run keeps the contract."""
        environment = {**os.environ, "TANDEM_CACHE": str(self.folder / ".rates")}
        done = subprocess.run([self.program, *words], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=WAITING_S, check=False, env=environment)
        said = (done.stdout + done.stderr).decode(errors="replace")
        errors = [line for line in said.splitlines() if line.startswith("tandem: error: ")]
        require(done.returncode in codes, "exit code", done.returncode, said[-500:])
        require(len(errors) == (done.returncode != 0), "not one line of error:", said[-500:])
        require(SECRET not in said, "the secret is shown:", said[-500:])
        return done.returncode

    def check_victims(self, *expected):
        """Nothing has changed, and nothing is new but what is expected."""
        for name, data in PLANTED.items():
            require(self.path(name).read_bytes() == data, name, "was changed")
        known = set(PLANTED) | {"scan.h5", ".rates", *expected}
        new = sorted(p.name for p in self.folder.iterdir() if p.name not in known)
        require(not new, "new files:", new)

    def one_of(self, *things):
        return self.chance.choice(things)


def evil_options(case):
    """Lines of a file of options, most of which an enemy must not decide."""
    names = re.findall(r"^ +(?:-\w,)?--([a-z-]+)", HELP, re.MULTILINE)
    values = ['"victim.h5"', '".bashrc"', '"notes.txt"', '"new.h5"', "true", "True", "1", "0", '"$(touch new)"', "[[[[",
              '["angles.txt", "notes.txt"]', '"--overwrite"', "-1", '"/dev/zero"', '"../victim.h5"', "[", '"', "1e999"]
    fixed = ['log = ".bashrc"', "overwrite = true", 'json = "victim.h5"', 'output = "victim.h5"', 'preview = "new.png"',
             'checkpoint = "victim.h5"', "allow-external-files = true", "serve = 0", 'save-config = "notes.txt"']
    lines = [f"{case.chance.choice(names)} = {case.chance.choice(values)}" for _ in range(case.chance.randrange(4))]
    lines += case.chance.sample(fixed, case.chance.randrange(3))
    case.chance.shuffle(lines)
    return "".join(line + "\n" for line in lines)


# Attacks, each a function of a case that returns an exit code.

def attack_by_recipe(case):
    volume = forge_volume(case, json.dumps({"version": "0.2.0", "config": evil_options(case)}))
    code = case.run("recon", "scan.h5", "-o", "made.h5", "--like", volume)
    case.check_victims("stranger", "made.h5")
    return code


def attack_by_options(case):
    case.path("stranger.toml").write_text(evil_options(case))
    code = case.run("recon", "scan.h5", "-o", "made.h5", "--config", "stranger.toml")
    case.check_victims("stranger.toml", "made.h5")
    return code


def attack_by_json(case):
    deep = case.one_of("[" * 100000 + "]" * 100000, '{"a":' * 50000 + "1" + "}" * 50000)
    odd = case.one_of("7", "[]", "{}", '"a"', "null", "1e999", deep, '{"shape":7}', '"\\ud800"', "[[1,2],[3]]")
    keys = ["seconds", "volume", "output", "config", "version", "device", "residuals", "curves", "warnings", "stations"]
    body = {"command": '"recon"', "version": '"0"', "config": '""', "seconds": "{}", case.chance.choice(keys): odd}
    text = case.one_of(odd, "{" + ",".join(f'"{key}":{value}' for key, value in body.items()) + "}", "{" * 1000)
    if case.one_of(True, False):
        case.path("run.json").write_text(text)
        code = case.run("report", "run.json", "-o", "page.html", codes=(0, 3))
    else:
        code = case.run("recon", "scan.h5", "--dry-run", "--like", forge_volume(case, text), codes=(0, 3))
    case.check_victims("run.json", "page.html", "stranger")
    return code


def attack_by_text(case):
    options = ["--angles", "--view-shifts", "--view-row-shifts", "--row-axes", "--config", "--flats", "--darks",
               "--like", "--initial", "--truth", "--beam-hardening=wedge:file=",
               "--beam-hardening=spectrum:file="]
    source = case.one_of("notes.txt", "pipe", "/dev/zero", "/dev/null", ".", "huge", "line")
    if source == "pipe":
        os.mkfifo(case.path("pipe"))
    elif source in ("huge", "line"):
        with open(case.path(source), "wb") as file:  # a sparse one
            file.write(b"1\n" if source == "huge" else b"1")
            file.truncate(20 << 30)
    code = case.run("recon", "scan.h5", "-o", "made.h5", case.chance.choice(options), source, *SOLVER)
    case.check_victims("made.h5", "pipe", "huge", "line")
    return code


def attack_by_journal(case):
    kind = case.one_of("v.h5", "v.btf", "v.nrrd")
    victim = case.one_of("../victim.h5", str(case.path("victim.h5")), "../notes.txt", "lock")
    lines = ["tandem journal", f"file: {victim}", "same: the version of tandem\t0.2.0", "recipe: {}"]
    for _ in range(5):
        slice_number = case.chance.randrange(-1, 5)
        offset, size = case.one_of(0, -1, 1 << 40), case.one_of(0, 4, 1 << 62)
        lines.append(f"done: {slice_number} {zlib.crc32(b'')} {offset} {size}")
    leave_folder(case, kind, lines)
    (case.path(f".{kind}.tandem") / kind).write_bytes(b"half")
    case.run("recon", "scan.h5", "-o", kind, "--resume", codes=(0, 3))
    code = case.run("recon", "scan.h5", "-o", kind, codes=(0,))
    case.check_victims(kind)
    return code


def attack_from_elsewhere(case):
    """The folder of another machine, or of another user, stays as it is."""
    foreign = os.geteuid() == 0 and case.one_of(True, False)
    left = leave_folder(case, "v.h5", [], None if foreign else "elsewhere")
    (left / "v.h5").write_bytes(b"half")
    if foreign:
        os.chown(left, 12345, 12345)
    name = case.one_of("v.h5", "w.h5")
    code = case.run("recon", "scan.h5", "-o", name, *["--resume"] * case.one_of(0, 1), codes=(0, 3))
    require((left / "v.h5").read_bytes() == b"half", "the work of another machine or user was cleared")
    require(name == "w.h5" or code == 3, "it was taken")
    case.check_victims(".v.h5.tandem", "w.h5")
    return code


def attack_by_chunks(case):
    """A Zarr of a stranger whose files lead to a private file, or lack bytes: no bytes of it come out."""
    version = case.one_of("0.4", "0.5")
    case.run("recon", "scan.h5", "-o", "v.zarr", "--ome-zarr", version, codes=(0,))
    private = case.path("private.bin")
    private.write_bytes((SECRET.encode() * 64)[:1024])  # as long as a chunk
    old, new = ("0/1/0/0", "0/1/0", "0/1", "0", "0/.zarray", ".zattrs"), ("0/c/0/0/0", "0/c/0/0", "0/c", "0", "0/zarr.json", "zarr.json")
    at = case.path("v.zarr") / case.one_of(*(old if version == "0.4" else new))
    kind = case.one_of("link", "folder", "lost", "short", "long") if at.name == "0" and at.is_file() else "link"
    if kind in ("short", "long"):
        os.truncate(at, at.stat().st_size + (-24 if kind == "short" else 76))
    elif at.is_dir():
        shutil.move(at, case.path("elsewhere"))
        for chunk in case.path("elsewhere").rglob("0"):
            if chunk.is_file():
                chunk.write_bytes(private.read_bytes())
        os.symlink(case.path("elsewhere"), at)
    else:
        at.unlink()
        if kind == "link":
            os.symlink(private, at)
        elif kind == "folder":
            at.mkdir()
    case.run("info", "v.zarr", codes=(3,))
    case.run("project", "v.zarr", "--like", "scan.h5", "-o", "made.h5", codes=(3,))
    code = case.run("recon", "scan.h5", "-o", "made.h5", "--initial", "v.zarr", *SOLVER, codes=(3,))
    require(not case.path("made.h5").exists(), "a volume was made of it")
    case.check_victims("v.zarr", "private.bin", "elsewhere")
    return code


def attack_by_pipe(case):
    """A report into a pipe that nobody reads."""
    os.mkfifo(case.path("pipe"))
    code = case.run("recon", "scan.h5", "-o", "made.h5", "--json", "pipe", codes=(3,))
    case.check_victims("pipe")
    return code


def attack_by_links(case):
    kind = case.one_of("log", "zarr", "output", "json")
    if kind == "log":
        os.symlink(case.one_of("victim.h5", "nowhere", ".bashrc"), case.path("run.log"))
        replace = ["--overwrite"] * case.one_of(0, 1)
        code = case.run("recon", "scan.h5", "--dry-run", "--log", "run.log", *replace, codes=(3,))
    elif kind == "zarr":
        version = ["--ome-zarr", case.one_of("0.4", "0.5")]
        case.run("recon", "scan.h5", "-o", "v.zarr", *version, codes=(0,))
        case.path("elsewhere").mkdir()
        case.path("elsewhere/0").write_text("precious")
        at = case.path("v.zarr") / case.one_of(*(("0", "0/1", "0/1/0") if version[1] == "0.4" else ("0", "0/c", "0/c/0")))
        shutil.rmtree(at)
        os.symlink(case.path("elsewhere"), at)
        code = case.run("recon", "scan.h5", "-o", "v.zarr", *version, codes=(3,))
        require([p.name for p in case.path("elsewhere").iterdir()] == ["0"], "a link was followed")
    else:
        os.symlink("victim.h5", case.path("link.h5"))
        words = ["-o", "link.h5"] if kind == "output" else ["-o", "made.h5", "--json", "link.h5"]
        code = case.run("recon", "scan.h5", *words, codes=(3,))
    case.check_victims("run.log", "v.zarr", "elsewhere", "link.h5")
    return code


def attack_by_kinds(case):
    """A log over a volume, a volume over a scan, anything over an empty file."""
    case.run("recon", "scan.h5", "-o", "own.h5", "--json", "own.json", "--log", "own.log", "--preview", "own.png",
             "--save-config", "own.toml", codes=(0,))
    case.run("simulate", "-o", "own.nxs", "--size", "16", "--views", "4", codes=(0,))
    case.path("empty.h5").touch()
    names = ["own.h5", "own.json", "own.log", "own.png", "own.toml", "own.nxs", "empty.h5"]
    own = {"--json": "own.json", "--log": "own.log", "--preview": "own.png", "--save-config": "own.toml",
           "--checkpoint": ""}
    option = case.chance.choice(list(own))
    name = case.chance.choice([name for name in names if name != own[option]])
    before = {name: case.path(name).read_bytes() for name in names}
    code = case.run("recon", "scan.h5", "-o", "made.h5", option, name, *SOLVER, codes=(3,))
    case.run("recon", "scan.h5", "-o", case.one_of("own.nxs", "empty.h5"), codes=(3,))
    require(all(case.path(name).read_bytes() == data for name, data in before.items()), option, name, "was replaced")
    case.check_victims(*names)
    return code


def attack_labels(case):
    case.run("recon", "scan.h5", "-o", "v.zarr", codes=(0,))
    own = ["labels/.zgroup", "labels/cells/0/0/0", "notes.md", "0/1/0/notes"]
    for name in own:
        case.path("v.zarr/" + name).parent.mkdir(parents=True, exist_ok=True)
        case.path("v.zarr/" + name).write_text(name)
    replace = ["--overwrite"] * case.one_of(0, 1)
    code = case.run("recon", "scan.h5", "-o", "v.zarr", "--slices", "2", *replace, codes=(0,))
    require(all(case.path("v.zarr/" + name).read_text() == name for name in own), "labels or notes are gone")
    require(not case.path("v.zarr/0/2/0/0").exists(), "an older slice is left")
    case.check_victims("v.zarr")
    return code


def attack_by_names(case):
    name = case.one_of("...h5", "{folder}.h5", "{time}.h5", "a\nb.h5", "[a].h5", "$(touch new).h5", "-o.h5")
    case.path("in").mkdir()
    shutil.copy(case.path("scan.h5"), case.path("in") / name)
    case.path("out").mkdir()
    code = case.run("recon", "in/" + name, "-o", "out/{name}-{folder}.h5", "--json", "out/{name}.json", codes=(0,))
    made = sorted(p.name for p in case.path("out").iterdir())
    require(len(made) == 2, "made", made)
    case.check_victims("in", "out")
    return code


def talk(port, request):
    with socket.create_connection(("127.0.0.1", port), timeout=10) as wire:
        wire.sendall(request.encode())
        answer = b""
        with contextlib.suppress(ConnectionError):
            while piece := wire.recv(65536):
                answer += piece
    return answer.decode(errors="replace")


def attack_the_page(case):
    words = [case.program, "recon", "scan.h5", "-o", "made.h5", "--serve", "0", "--quiet", "--size", "64",
             "--reconstruction-algorithm", "sirt", "--iterations", "1000000", "--log", "run.log"]
    with subprocess.Popen(words, cwd=case.folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as run:
        try:
            found = re.search(r"http://127\.0\.0\.1:(\d+)/(\w+)/", run.stderr.readline())
            require(found, "no address")
            port, secret = int(found[1]), found[2]
            host = f"Host: 127.0.0.1:{port}\r\n\r\n"
            wrong = "%032x" % case.chance.getrandbits(128)
            for path in ("/", "/state.json", f"/{wrong}/", f"/{wrong}/state.json", f"/?token={wrong}",
                         f"/{secret[:-1]}/", f"//{secret}/", "/slice.png"):
                answer = talk(port, f"GET {path} HTTP/1.1\r\n{host}")
                require(answer.startswith("HTTP/1.1 403") and secret not in answer, path, "gives", answer[:100])
            idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
            begin = time.monotonic()
            answer = talk(port, f"GET /{secret}/state.json HTTP/1.1\r\n{host}")
            require(answer.startswith("HTTP/1.1 200"), "the page is gone:", answer[:100])
            require(time.monotonic() - begin < 3, "idle connections keep others waiting")
            files = len(os.listdir(f"/proc/{run.pid}/fd"))
            require(files < 60, "idle connections take", files, "files")
            for wire in idle:
                wire.close()
        finally:
            run.send_signal(signal.SIGTERM)
            run.communicate(timeout=WAITING_S)
    require(secret not in case.path("run.log").read_text(), "the log has the secret")
    case.check_victims("run.log")
    return 0


def attack_look(case):
    """Seven connections that do not end what they send, and commands that cost much."""
    words = [case.program, "look", "scan.h5", "--quiet"]
    with subprocess.Popen(words, cwd=case.folder, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True) as run:
        try:
            found = re.search(r"http://127\.0\.0\.1:(\d+)/(\w+)/", run.stdout.readline())
            require(found, "no address")
            port, secret = int(found[1]), found[2]
            head = f"HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: "
            hardening = ",".join(["1"] + ["0"] * 20000)
            body = json.dumps({"options": {"beam-hardening": hardening}, "z": 1, "pane": "a"})
            begin = time.monotonic()
            answer = talk(port, f"POST /{secret}/slice {head}{len(body)}\r\n\r\n{body}")
            require(answer.startswith("HTTP/1.1 422") and "at most 100" in answer, "coefficients give", answer[:100])
            require(time.monotonic() - begin < 5, "coefficients take", time.monotonic() - begin, "s")
            held = [socket.create_connection(("127.0.0.1", port)) for _ in range(7)]
            for wire in held:
                wire.sendall(f"POST /{secret}/slice {head}9\r\n\r\n".encode())
            time.sleep(0.5)
            begin = time.monotonic()
            answer = talk(port, f"GET /{secret}/about.json HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")
            require(answer.startswith(("HTTP/1.1 200", "HTTP/1.1 503")), "the eighth gets", answer[:100])
            require(time.monotonic() - begin < 3, "the eighth waits", time.monotonic() - begin, "s")
            for wire in held:
                wire.close()
        finally:
            run.send_signal(signal.SIGTERM)
            run.communicate(timeout=WAITING_S)
    case.check_victims()
    return 0


ATTACKS = {name[7:]: function for name, function in list(globals().items()) if name.startswith("attack_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--of", nargs="*", default=[""], help="only attacks with one of these words in their names")
    o = parser.parse_args()
    global HELP
    HELP = subprocess.run([o.program, "help", "recon", "all"], capture_output=True, text=True, check=True).stdout
    names = [name for name in ATTACKS if any(word in name for word in o.of)]
    codes, faults = collections.defaultdict(collections.Counter), []
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([o.program, *SCAN.split()], cwd=made, check=True, stdout=subprocess.DEVNULL)
        for number in range(o.count):
            name = names[number % len(names)]
            with tempfile.TemporaryDirectory() as folder:
                case = Case(o.program, pathlib.Path(folder), random.Random(f"{o.seed} {number}"))
                shutil.copy(pathlib.Path(made) / "scan.h5", folder)
                try:
                    codes[name][ATTACKS[name](case)] += 1
                except (Fault, OSError, subprocess.TimeoutExpired) as fault:
                    faults.append(f"{name}, number {number} of seed {o.seed}: {fault}")
    for fault in faults:
        print(fault)
    for name, of_kind in sorted(codes.items()):
        print(f"{sum(of_kind.values()):5d} attacks {name}; exit codes", dict(sorted(of_kind.items())))
    print(f"enemies: {o.count} attacks; {len(faults)} came through")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
