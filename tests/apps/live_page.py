#!/usr/bin/env python3
"""Watches runs of `tandem recon --serve` as a browser does, and as somebody does who should get nothing.

usage: live_page.py PROGRAM [--in-browser]

With --in-browser a headless Chromium opens the page of a run; without one the exit code is 77 (skipped).
Exit code 1 if something is not as it should be.
"""
import contextlib
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from pages import browser, greys_of, require, require_preview, text_in

VIEWS, ROWS, BINS = 90, 64, 128
SIRT = ["--reconstruction-algorithm", "sirt", "--iterations"]
CHUNKS = ["--memory", "0.07"]  # chunks of a few slices
LONG = [*SIRT, "2000", *CHUNKS, "--threads", "1"]  # it is ended long before it is done, on the quickest machine
PICTURES = {"iterate": "iterate.png", "newest": "slice.png", "z": "plane-z.png", "y": "plane-y.png", "x": "plane-x.png"}


class Port(int):
    """A port, and the secret that the paths behind it begin with."""
    secret = ""

    def path(self, name):
        return f"/{self.secret}/{name}" if self.secret else f"/{name}"


def talk(port, request):
    """What comes back for these bytes: status, headers, body."""
    with socket.create_connection(("127.0.0.1", int(port)), timeout=20) as wire:
        wire.sendall(request)
        answer = b""
        while piece := wire.recv(65536):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:])
    require(int(headers["Content-Length"]) == len(body), "an answer is not as long as it says")
    return int(lines[0].split()[1]), headers, body


def get(port, name):
    request = f"GET {port.path(name)} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
    status, headers, body = talk(port, request.encode())
    require(status == 200, name, "gives", status)
    return headers, body


def state(port):
    return json.loads(get(port, "state.json")[1])


def until(port, holds, what):
    for _ in range(2400):
        now = state(port)
        if holds(now):
            return now
        time.sleep(0.05)
    return require(False, "waited in vain for", what)


@contextlib.contextmanager
def watched(program, folder, *options):
    """A run and its port. It is ended behind the block, if it has not ended itself."""
    command = [program, "recon", "scan.h5", "--serve", "0", "--overwrite", "--quiet", *options]
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        line = run.stderr.readline()
        found = re.fullmatch(r"tandem: this run can be watched at http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/\n", line)
        require(found, "no address in:", line)
        port = Port(found[1])
        port.secret = found[2]
        yield run, port
    finally:
        if run.poll() is None:
            run.send_signal(signal.SIGTERM)
        run.communicate(timeout=60)


def check_page(port):
    headers, body = get(port, "")
    text = body.decode()
    require(headers["Content-Type"] == "text/html; charset=utf-8", headers)
    policy = headers["Content-Security-Policy"]
    nonces = set(re.findall(r"nonce[-=]\"?(\w{32})\b", policy + text))
    require(len(nonces) == 1 and "default-src 'none'" in policy and "unsafe" not in policy, "policy:", policy)
    others = set(re.findall(r"https?://[^\"' ]*", text)) - {"http://www.w3.org/2000/svg"}  # a name, never fetched
    require(not others, "the page names", others)
    again = get(port, "")[0]["Content-Security-Policy"]
    require(again == policy, "a run has one nonce")


def check_state(now):
    require(now["plan"]["volume"]["shape"] == [ROWS, BINS, BINS], now["plan"])
    require((now["plan"]["input"], now["plan"]["output"]) == ("scan.h5", "v.h5"), now["plan"])
    require(now["slices"] == ROWS and now["ended"] == "" and 0 <= now["since"] < now["seconds"], now)
    stations = {s["name"]: s for s in now["stations"]}
    require(list(stations) == ["read", "preprocess", "iterate", "write"], list(stations))
    read, write = stations["read"], stations["write"]
    require(read["amount"] == 2 * VIEWS * BINS * read["slices"] and read["unit"] == "bytes", read)
    require(write["amount"] == 4 * BINS * BINS * write["slices"] and 0 < write["slices"] < ROWS, write)
    require(stations["iterate"]["unit"] == "updates" and stations["iterate"]["rate"] > 0, stations["iterate"])
    require(stations["preprocess"]["waiting"] >= 0 and read["waiting"] is None, stations)
    first, *rest = now["curves"][-1]["residuals"]
    require(first == 1 and rest == sorted(rest, reverse=True), "residuals:", rest)


def check_pictures(port, now):
    shown = {p["name"]: p for p in now["pictures"]}
    require({n: p["file"] for n, p in shown.items()} == PICTURES, shown)
    for name, picture in shown.items():
        headers, png = get(port, picture["file"] + "?" + str(picture["number"]))
        require(headers["Content-Type"] == "image/png", headers)
        width, height, rows, step = greys_of(png)
        require((width, height) == (BINS, ROWS if name in "yx" else BINS), name, width, height)
        require(bool(re.fullmatch(r"iteration \d+ of 2000", picture["detail"])) == (name == "iterate"), picture["detail"])
        if step == 1:  # nothing lacks
            continue
        there = [any(row[1::step]) for row in rows]
        require(name not in ("newest", "iterate") or all(there), name, "is not opaque")
        require(name not in "yx" or (there[0] and not there[-1]), name, "is opaque where no slice is")


def check_refused(port):
    host = f"Host: 127.0.0.1:{port}\r\n"
    known, wrong = f"/{port.secret}", "0" * 32
    cases = [(404, f"GET {known}{path} HTTP/1.1\r\n{host}\r\n") for path in (
        "/../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/etc/passwd", "/index.html", "/state.json/",
        "/slice.png/..", "/v.h5", "/scan.h5", "/PLANE-Z.PNG", "", "//", known + "/")]
    cases += [(403, f"GET {path} HTTP/1.1\r\n{host}\r\n") for path in (
        "/", "/state.json", "/slice.png", "//", f"/{wrong}/", f"/{wrong}/state.json", f"/{port.secret[:-1]}/state.json",
        f"{known}0/state.json", f"/{port.secret.upper()}x/", f"/?{port.secret}", f"/state.json?token={port.secret}",
        f"/.{known}/", "*", "state.json", f"{port.secret}/state.json", f"http://127.0.0.1:{port}{known}/state.json")]
    cases += [(405, f"{method} {path} HTTP/1.1\r\n{host}Content-Length: 3\r\n\r\nabc")
              for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "get")
              for path in ("/", f"{known}/state.json")]
    cases += [(403, f"GET {known}/ HTTP/1.1\r\nHost: {other}\r\n\r\n") for other in (
        "evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", f"127.0.0.1.evil.example:{port}",
        f"0.0.0.0:{port}", f"[::1]:{port}", "")]
    cases += [(403, f"GET {known}/state.json HTTP/1.1\r\n{host}Origin: {other}\r\n\r\n") for other in (
        "http://evil.example", "null", f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}", "http://127.0.0.1", "")]
    cases += [(400, text) for text in (
        "GET / HTTP/1.1\r\n\r\n", f"GET {known}/\0 HTTP/1.1\r\n{host}\r\n", f"GET / HTTP/1.1\r\n{host}Host: evil.example\r\n\r\n", "\r\n\r\n", "GET /\r\n\r\n",
        f"GET / HTTP/1.0\r\n{host}\r\n", f"GET / HTTP/2\r\n{host}\r\n", "\x16\x03\x01\x02\r\n\r\n")]
    cases += [(431, "GET / HTTP/1.1\r\n" + host + lines + "\r\n") for lines in (
        "X: " + 9000 * "x" + "\r\n", 90 * ("X: " + 100 * "x" + "\r\n"))]
    for expected, request in cases:
        status, _, body = talk(port, request.encode())
        require(status == expected, repr(request[:60]), "gives", status, "and not", expected)
        require(len(body) < 60, repr(request[:60]), "gets", body)
    for more in (f"hOST:\tLocalhost:{port} ", f"{host}Origin: http://127.0.0.1:{port}", f"{host}Range: bytes=0-3"):
        fine = f"GET {known}/state.json HTTP/1.1\r\n{more}\r\n\r\n"
        fine = fine.replace("\r\n\r\n\r\n", "\r\n\r\n")
        status, _, body = talk(port, fine.encode())
        require(status == 200 and json.loads(body), repr(more), "is refused:", status)


def check_news(port):
    """A question that names the latest news is answered when there is more; any other at once."""
    def asked(news):
        begin = time.monotonic()
        now = json.loads(get(port, f"state.json?after={news}")[1])
        return now["news"], time.monotonic() - begin

    news = asked("")[0]
    later = [asked(news) for _ in range(4)]
    require(all(number > news or waited > 0.4 for number, waited in later), "no news, and no wait:", later)
    require(min(waited for _, waited in later) < 0.9, "questions are held for too long:", later)
    require(min(asked(news - 1)[1] for _ in range(4)) < 0.4, "a question that lacks news is held")


def check_this_machine_alone(port):
    lines = [line for name in ("tcp", "tcp6") for line in pathlib.Path("/proc/net", name).read_text().splitlines()]
    listening = [line.split()[1] for line in lines if f":{port:04X} " in line and " 0A " in line]
    require(listening == [f"0100007F:{port:04X}"], "it listens on", listening)


def check_idle_connections_do_no_harm(run, port):
    check_idle_connections_do_no_harm_to(run, lambda: state(port), port)


def check_idle_connections_do_no_harm_to(run, ask, port):
    begin = time.monotonic()
    idle = [socket.create_connection(("127.0.0.1", int(port))) for _ in range(100)]
    for wire in idle[::2]:
        with contextlib.suppress(OSError):  # it may have made room for another one
            wire.sendall(b"GET /")
    for _ in range(20):
        ask()
    require(time.monotonic() - begin < 4, "connections that say nothing keep others waiting")
    taken = 0
    for file in pathlib.Path(f"/proc/{run.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            taken += os.readlink(file).startswith("socket:")
    require(taken <= 9, "connections that say nothing take", taken, "files of the run")
    for wire in idle:
        wire.close()


def check_bad_ports(program, folder, taken):
    for port, code, words in ((str(taken), 5, ["in use", str(taken), "0 for any free one"]), ("65536", 2, ["65535"]),
                              ("-1", 2, ["--serve"]), ("http", 2, ["--serve"])):
        done = subprocess.run([program, "recon", "scan.h5", "-o", "other.h5", "--serve", port], cwd=folder,
                              capture_output=True, text=True, timeout=60, check=False)
        require(done.returncode == code, "--serve", port, "gives", done.returncode, done.stderr)
        require(done.stderr.count("\n") == 1 and all(w in done.stderr for w in words), done.stderr)
        require(not list(folder.glob("*other*")), "--serve", port, "leaves an output")


def run_to_its_end(program, folder, *options, once_watched=lambda: None):
    """The last state that a browser sees, and the final pictures."""
    with watched(program, folder, *options) as (run, port):
        now, pictures = state(port), {}
        once_watched()
        while not now["ended"]:
            time.sleep(0.01)
            now = state(port)
        for picture in now["pictures"]:
            pictures[picture["name"]] = get(port, picture["file"])[1]
        code = run.wait(timeout=10)
    return code, now, pictures


def voxels_of(folder):
    """The voxels of a TIFF volume, which stand before their description."""
    return {f.name: f.read_bytes()[8:8 + 4 * BINS * BINS] for f in folder.glob("end_*.tif")}


def check_the_end(program, folder):
    """The page stays until it is seen, and its planes are those of the preview."""
    options = ["-o", "end.tif", "--preview", "end.png", *SIRT, "60"]
    code, last, pictures = run_to_its_end(program, folder, *options)
    require(code == 0 and last["ended"] == "done", code, last["ended"])
    stations = {s["name"]: s for s in last["stations"]}
    require(all(s["slices"] == ROWS for s in stations.values()), stations)
    require_preview(folder / "end.png", [pictures[name] for name in "zyx"])
    with_page = voxels_of(folder)
    subprocess.run([program, "recon", "scan.h5", "--overwrite", "--quiet", *options], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    require(len(with_page) == ROWS and with_page == voxels_of(folder), "the page changes the volume")


def check_failure(program, folder):
    """A run that fails while it is watched shows why."""
    scan, whole = folder / "scan.h5", (folder / "scan.h5").read_bytes()
    code, last, _ = run_to_its_end(program, folder, "-o", "f.h5", *SIRT, "200", *CHUNKS, "--threads", "1",
                                   once_watched=lambda: os.truncate(scan, 1000))
    scan.write_bytes(whole)
    require(code == 3 and last["ended"].startswith("error: scan.h5"), code, last["ended"])


def check_resume(program, folder):
    """Whether a run is watched is no part of its recipe."""
    options = ["-o", "r.h5", *SIRT, "60", *CHUNKS]
    with watched(program, folder, *options, "--resume") as (run, port):
        until(port, lambda now: any(s["name"] == "write" and s["slices"] > 0 for s in now["stations"]), "slices")
    require(run.returncode == 143, "it ended before it was ended:", run.returncode)
    done = subprocess.run([program, "recon", "scan.h5", *options, "--resume", "--overwrite"], cwd=folder,
                          capture_output=True, text=True, timeout=300, check=False)
    require(done.returncode == 0 and "are there already" in done.stderr, done.stderr)


def check_as_client(program, folder):
    with watched(program, folder, "-o", "v.h5", *LONG, "--log", "v.log") as (run, port):
        log = (folder / "v.log").read_text()
        require(f"127.0.0.1:{port}/.../" in log and port.secret not in log, "the log has the secret:", log)
        check_page(port)
        now = until(port, lambda now: now["pictures"] and now["stations"][-1]["name"] == "write" and
                    now["stations"][-1]["slices"] > 0, "the first pictures")
        check_state(now)
        check_pictures(port, now)
        check_refused(port)
        check_news(port)
        check_this_machine_alone(port)
        check_idle_connections_do_no_harm(run, port)
        check_bad_ports(program, folder, port)
    check_the_end(program, folder)
    check_failure(program, folder)
    check_resume(program, folder)


def seen_in(chromium, folder, port, milliseconds=4000):
    """The page after some time of the browser, which stands still while a question is held, as HTML."""
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
               "--disable-background-networking", f"--user-data-dir={folder / 'browser'}", "--enable-logging=stderr",
               f"--virtual-time-budget={milliseconds}", "--dump-dom", f"http://127.0.0.1:{port}{port.path('')}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line and "ERR_" not in line]
    require(done.returncode == 0 and not complaints, done.returncode, complaints)
    return done.stdout


def check_running(page, now):
    require(text_in(page, "state") == "running", text_in(page, "state"))
    stage = text_in(page, "stage")  # the stage of the next slices, if it does not solve
    require(re.match(r"solving, iteration \d+ of 2000$", stage) or stage in now["parts"].values(), stage)
    require(re.search(rf"\d+ of {ROWS} slices, \d+ %", text_in(page, "share")), text_in(page, "share"))
    require(re.search(r"\d s since the start, about \d.* left", text_in(page, "times")), text_in(page, "times"))
    require(text_in(page, "files") == "scan.h5 → v.h5", text_in(page, "files"))
    stations = text_in(page, "stations")
    for station in now["stations"]:
        require(re.search(rf"\b{now['parts'][station['name']]} \d+ of {ROWS} \d", stations), station["name"], "in", stations)
    require(re.search(" [MG]B/s ", stations) and "updates/s" in stations, stations)
    for name, path in PICTURES.items():  # a picture gets its place when it has been loaded
        require(re.search(rf'<figure id="picture-{name}"[^>]*><div [^>]*><img[^>]* src="{path}\?\d+"', page), "no picture", name)
    require("slice z = " in page and re.search(r"of 64, iteration \d+ of 2000<", page), "no caption")
    require(re.search(r'class="scale" style="width: [\d.]+%;">20 bins<', page), "no scale bar")
    require(page.index('id="pictures"') < page.index('id="log"') < page.index("<details"), "the volume is not first")
    require(re.search(r'class="curve newest" points="[\d.,-]+ [\d.,-]+', page), "no curve")
    require("from scan.h5 to v.h5" in text_in(page, "log"), text_in(page, "log"))
    require(re.search(r'<i style="width: [1-9]\d*(\.\d+)?%', page), "no bar")


class Replay(http.server.BaseHTTPRequestHandler):
    """Gives the page of a run, and then states that the test has chosen. After the last one it is silent."""
    page, headers_of_page, states = b"", {}, []

    def do_GET(self):
        if self.path == "/":
            body, headers = self.page, self.headers_of_page
        elif self.path.startswith("/state.json?after=") and self.states:
            body, headers = json.dumps(self.states.pop(0)).encode(), {"Content-Type": "application/json"}
        else:
            self.close_connection = True
            return
        self.send_response(200)
        for name in ("Content-Type", "Content-Security-Policy"):
            if name in headers:
                self.send_header(name, headers[name])
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


def check_ends(chromium, folder, now):
    """How the page shows that a run is done, has failed, or is silent; texts are never HTML."""
    evil = "<b id=evil>bold</b><script>document.title = 'evil'</script>"
    now = {**now, "pictures": [], "log": [{"seconds": 1, "text": evil}]}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Replay)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    full = "error: the disk is full"
    for ended, words in (("done", "done"), (full, "failed"), ("", "the run has ended, or was ended")):
        Replay.states = [now, now, {**now, "ended": ended}]
        page = seen_in(chromium, folder, Port(server.server_port))
        require(text_in(page, "state") == words, text_in(page, "state"), "and not", words)
        require(text_in(page, "error") == (full if ended == full else ""), text_in(page, "error"))
        require("&lt;b id=evil&gt;" in page and "<b id" not in page and "<title>evil" not in page, "a text is HTML")
        require(not Replay.states, "the page stopped asking early")
    server.shutdown()


def check_in_browser(program, folder):
    chromium = browser()
    with watched(program, folder, "-o", "v.h5", *LONG) as (_, port):
        now = until(port, lambda now: now["pictures"] and now["stations"][-1]["name"] == "write" and
                    now["stations"][-1]["slices"] > 0, "the first pictures")
        Replay.headers_of_page, Replay.page = get(port, "")
        check_running(seen_in(chromium, folder, port, 1200), now)
    check_ends(chromium, folder, now)
    print("live_page: Chromium shows the run, and how it ends")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        subprocess.run([program, "simulate", "-o", "scan.h5", "--phantom", "ellipsoids", "--photons", "1e4", "--quiet",
                        "--size", str(BINS), "--bins", str(BINS), "--rows", str(ROWS), "--views", str(VIEWS)],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
        if "--in-browser" in sys.argv[2:]:
            check_in_browser(program, folder)
        else:
            check_as_client(program, folder)
            print("live_page: the page shows the run, and nothing else is served")


if __name__ == "__main__":
    main()
