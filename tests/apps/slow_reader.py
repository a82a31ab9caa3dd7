#!/usr/bin/env python3
"""Reads the last picture of `tandem recon --serve` slowly: a run that has ended waits for that.

usage: slow_reader.py PROGRAM

Exit code 1 if something is not as it should be.
"""
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

import live_page
from pages import greys_of, require

BINS = 1024
HELD = 200_000  # more bytes than the buffers between a server and a reader of small packets hold


def slow_wire(port):
    """A connection of small packets and small buffers, so that a long answer is not sent before it is read."""
    wire = socket.socket()
    wire.settimeout(20)
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
    wire.connect(("127.0.0.1", int(port)))
    return wire


def read_slowly(port, name):
    with slow_wire(port) as wire:
        wire.sendall(f"GET {port.path(name)} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        answer = wire.recv(100)
        time.sleep(0.7)  # longer than a server waits that ends by a signal
        while piece := wire.recv(65536):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(head.partition(b"Content-Length: ")[2].split()[0])
    require(length > HELD, "an answer of", length, "bytes is sent before it is read")
    require(len(body) == length, "a picture of", length, "bytes was cut off after", len(body))
    return body


def check_slow_reader(program, folder):
    with live_page.watched(program, folder, "-o", "v.tif", *live_page.SIRT, "30") as (run, port):
        now = live_page.state(port)
        while not now["ended"]:
            now = live_page.state(port)
        require(now["ended"] == "done", now["ended"])
        picture, = now["pictures"]
        require(greys_of(read_slowly(port, picture["file"]))[:2] == (BINS, BINS), picture)
        require(run.wait(timeout=60) == 0, "the run fails:", run.returncode)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        subprocess.run([program, "simulate", "-o", "scan.h5", "--phantom", "ellipsoids", "--photons", "1e3", "--quiet",
                        "--size", str(BINS), "--bins", str(BINS), "--rows", "1", "--views", "30"],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
        check_slow_reader(program, folder)
        print("slow_reader: a run ends when its last picture has been read")


if __name__ == "__main__":
    main()
