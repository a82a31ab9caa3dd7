#!/usr/bin/env python3
"""Attacks `tandem look` with commands of all kinds, broken connections and slow readers, while the scan is deleted.

usage: look_attack.py PROGRAM [--seconds N] [--seed N]

The default is short; --seconds 480 sends some 140 000 commands, of which the server lets about 100 a second pass (429).
No answer may be a fault of the server, slices keep their bits, and memory, threads and open files stay level. Ctrl-C ends
the program within a second, amid the attack. It prints what it counted. Exit code 1 if something is not as it should be.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import live_page
from look_page import LINE
from pages import require

BINS, ROWS, VIEWS = 96, 5, 120
MANY = {"options": {"rotation-axis": "47.5"}, "z": 2, "pane": "reference"}
MOST_RSS = 1.25, 32e6  # a factor and bytes: the heap of glibc has an arena for each thread, which it keeps


def exchanged(port, path, body, kind="application/json"):
    """Status and body that come back; nothing if the connection ends before its answer does."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = (f"POST {port.path(path)} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n")
    text = b""
    try:
        with socket.create_connection(("127.0.0.1", int(port)), timeout=60) as wire:
            wire.sendall(head.encode() + body)
            while piece := wire.recv(65536):
                text += piece
    except OSError:
        pass
    head, found, said = text.partition(b"\r\n\r\n")
    length = re.search(rb"\r\nContent-Length: (\d+)", head)
    return (int(head.split()[1]), said) if found and length and int(length[1]) == len(said) else None


class Attack:
    """What threads share: the port, when it ends, and the count of each answer."""

    def __init__(self, port, bits):
        self.port, self.bits, self.over, self.ending = port, bits, threading.Event(), False
        self.counts, self.faults, self.lock = collections.Counter(), [], threading.Lock()

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def fault(self, *what):
        self.faults.append(" ".join(str(w)[:300] for w in what))

    def ask(self, path, body, good, **more):
        answer = exchanged(self.port, path, body, **more)
        if not answer:  # ended for a newer connection
            return self.count("ended")
        status, said = answer
        self.count(status)
        full = status == 503 and said.startswith(b"503 all connections are being answered")
        if status not in good and not full and not (self.ending and status == 503):
            self.fault(path, body, "gives", status, said)
        if 400 <= status < 500 and b"\n" in said.strip():
            self.fault(path, "is refused by several lines", said)
        return answer


def options_of(dice):
    some = {"rotation-axis": str(dice.uniform(40, 56)), "fbp-filter": dice.choice(["ramp", "hann", "cosine"]),
            "remove-stripe-method": dice.choice(["none", "fw", "sf"]), "dezinger": "3", "arc": dice.choice(["180", "170"])}
    return {name: some[name] for name in dice.sample(list(some), dice.randint(0, 3))}


def commands(attack, dice, name):
    """What a page may ask for. 409: a newer command has come; 422: the scan is gone; 429: too many."""
    while not attack.over.is_set():
        z, side = dice.randrange(ROWS), dice.randrange(16, 97)
        asked = {"options": options_of(dice), "z": z, "side": side, "pane": f"{name}{dice.randrange(2)}"}
        path = dice.choices(["slice", "sinogram", "frame", "recipe", "axis", "sweep", "calibrate", "solve", "enough", "iterate", "run",
                             "stop"], [40, 10, 10, 8, 1, 1, 0.5, 1, 2, 8, 0.3, 1])[0]
        if path == "sweep":
            asked.update(name="rotation-axis", first=47, last=49, step=1)
        if path == "calibrate":
            asked.update(side=64, options={"pixel-size": "1", **asked["options"]})
        if path == "solve":
            asked["solver"] = {"reconstruction-algorithm": "sirt", "iterations": "5"}
        if path == "run":
            asked["name"] = f"volume{dice.randrange(3)}.mha"
        attack.ask(path, asked, {200, 409, 422, 429})
        time.sleep(dice.uniform(0, 0.02))


def nonsense(attack, dice, _):
    """What no page asks for."""
    values = [None, True, -1, 10 ** 30, 1e308, "", "../x", "\u0000", [], {}, [[[]]], "NaN", -0.5, 2 ** 63]
    names = ["options", "z", "side", "region", "coarser", "pane", "name", "first", "last", "step", "solver", "score", "scans"]
    paths = ["slice", "sinogram", "frame", "sweep", "calibrate", "axis", "recipe", "solve", "iterate", "run", "nothing", "../slice", "%00"]
    while not attack.over.is_set():
        asked = {dice.choice(names): dice.choice(values) for _ in range(dice.randint(1, 5))}
        if dice.random() < 0.5:
            asked["options"] = {dice.choice(["rotation-axis", "dezinger", "arc", "flats", "output", "x"]): dice.choice(values)}
        body = dice.choice([json.dumps(asked).encode()] * 4 + [bytes(dice.randbytes(dice.randrange(200))), b"[" * 20000, b"{}x", b""])
        kind = dice.choice(["application/json"] * 9 + ["text/plain"])
        attack.ask(dice.choice(paths), body, {200, 400, 403, 404, 409, 415, 422, 429}, kind=kind)
        time.sleep(dice.uniform(0, 0.03))


def wire_to(attack):
    return socket.create_connection(("127.0.0.1", int(attack.port)), timeout=5)


def referees(attack, dice, _):
    """Ask for the same slice again and again: it has the same bits."""
    while not attack.over.is_set():
        answer = attack.ask("slice", MANY, {200, 409, 422, 429})
        if answer and answer[0] == 200:
            attack.count("same bits")
            if pixels_of(answer[1]) != attack.bits:
                attack.fault("a slice has other bits than before")
        time.sleep(dice.uniform(0, 0.2))


def droppers(attack, dice, _):
    """Connections that end amid a request or an answer, some by a reset."""
    while not attack.over.is_set():
        body = json.dumps(MANY | {"pane": "dropped"}).encode()
        text = (f"POST {attack.port.path('slice')} HTTP/1.1\r\nHost: 127.0.0.1:{attack.port}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        try:
            with wire_to(attack) as wire:
                if dice.random() < 0.5:
                    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                wire.sendall(text[:dice.randrange(len(text) + 1)])
                if dice.random() < 0.5:
                    wire.recv(dice.randrange(1, 2000))
        except OSError:
            pass
        attack.count("dropped")
        time.sleep(dice.uniform(0, 0.1))


def slow_readers(attack, dice, _):
    """An answer is read a few bytes at a time; streams of events are opened and left."""
    while not attack.over.is_set():
        try:
            with wire_to(attack) as wire:
                wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                path = dice.choice(["events", "about.json", "", "geometry-0.png", "scans.json"])
                wire.sendall(f"GET {attack.port.path(path)} HTTP/1.1\r\nHost: 127.0.0.1:{attack.port}\r\n\r\n".encode())
                for _ in range(dice.randrange(1, 30)):
                    if attack.over.wait(0.02) or not wire.recv(64):
                        break
        except OSError:
            pass
        attack.count("read slowly")


def held_by(pid):
    """Bytes of memory, threads and open files."""
    status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return {"rss": int(status["VmRSS"].split()[0]) * 1024, "threads": int(status["Threads"]),
            "files": len(os.listdir(f"/proc/{pid}/fd"))}


def attacked(attack, pid, seconds, folder, seed):
    """Memory at a quarter of the time and at its end, and the worst number of threads and files."""
    threads = [threading.Thread(target=how, args=(attack, random.Random(f"{seed} {k}"), f"client{k}"), daemon=True)
               for k, how in enumerate([commands, commands, commands, referees, nonsense, nonsense, droppers, slow_readers, slow_readers])]
    for thread in threads:
        thread.start()
    begun, early, most = time.monotonic(), None, collections.Counter()
    while (spent := time.monotonic() - begun) < seconds and not attack.faults:
        time.sleep(0.1)
        held = held_by(pid)
        most |= collections.Counter(held)
        if early is None and spent > seconds / 4:
            early = held
        if spent > seconds / 2 and (folder / "scan.h5").exists():
            (folder / "scan.h5").unlink()
    return early or held_by(pid), most, threads


def check_level(before, early, late, most):
    require(late["rss"] <= MOST_RSS[0] * early["rss"] + MOST_RSS[1], "memory grows from", early, "to", late)
    # 7 connections, and what they serve: a run, a solver, and the readers and writers of one
    require(most["threads"] <= before["threads"] + 8, "threads:", before, "then", most)
    require(most["files"] <= before["files"] + 24, "files:", before, "then", most)


def pixels_of(said):
    return said.partition(b"\n")[2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([o.program, "simulate", "-o", "scan.h5", "--views", str(VIEWS), "--rows", str(ROWS), "--bins", str(BINS), "--quiet"],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
        run = subprocess.Popen([o.program, "look", "scan.h5"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            check(run, folder, o)
        finally:
            run.kill()
            run.communicate()


def check(run, folder, o):
    found = LINE.fullmatch(run.stdout.readline())
    require(found, "no address")
    port = live_page.Port(found[1])
    port.secret = found[2]
    answer = exchanged(port, "slice", MANY)
    require(answer and answer[0] == 200, "no slice", answer)
    before, attack = held_by(run.pid), Attack(port, pixels_of(answer[1]))
    early, most, threads = attacked(attack, run.pid, o.seconds, folder, o.seed)
    require(not attack.faults, *attack.faults[:3])
    require(run.poll() is None, "it has ended by itself", run.returncode)
    late = held_by(run.pid)
    attack.ending = True
    asked = time.monotonic()
    run.send_signal(signal.SIGINT)
    run.wait(60)
    took = time.monotonic() - asked
    attack.over.set()
    for thread in threads:
        thread.join(20)
    print(f"look_attack: {dict(sorted(attack.counts.items(), key=str))} in {o.seconds:g} s; at first {before}, at a quarter {early}, "
          f"at the end {late}, at most {dict(most)}; Ctrl-C took {took:.2f} s")
    require(run.returncode == 0, "Ctrl-C gives", run.returncode, run.stderr.read())
    require(not attack.faults, "amid the end:", *attack.faults[:3])
    require(took < 1, "Ctrl-C took", took, "s")
    require(attack.counts["same bits"] > 0, "no slice came amid the attack")
    check_level(before, early, late, most)


if __name__ == "__main__":
    main()
