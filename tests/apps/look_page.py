#!/usr/bin/env python3
"""Looks at a scan by `tandem look` as its page does, and as somebody does who should get nothing.

usage: look_page.py PROGRAM [--in-browser]

With --in-browser a headless Chromium moves sliders and sees the pictures change; without one the exit code is 77
(skipped). Exit code 1 if something is not as it should be.
"""
import contextlib
import hashlib
import json
import pathlib
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
from driven_browser import driven
from live_page import Port, get, talk
from pages import browser, require

VIEWS, ROWS, BINS, AXIS = 120, 5, 96, 51.25
LINE = re.compile(r"look at http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/\n")


@contextlib.contextmanager
def looking(program, folder, *options, scan="scan.h5"):
    """A program that is looked through, and its port. It ends by Ctrl-C, and well."""
    run = subprocess.Popen([program, "look", scan, *options], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        found = LINE.fullmatch(run.stdout.readline())
        require(found, "no address")
        port = Port(found[1])
        port.secret = found[2]
        yield run, port
        require(run.poll() is None, "it has ended by itself", run.returncode)
    finally:
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
    require(run.returncode == 0, "Ctrl-C gives", run.returncode, said)


def posted(port, path, body, more="", length=None, kind="application/json"):
    """Status, headers and body that come back for what is sent."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = (f"POST {port.path(path)} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body) if length is None else length}\r\n{more}\r\n")
    return talk(port, head.encode() + body)


def answer(port, path, command):
    status, _, body = posted(port, path, command)
    require(status == 200, path, command, "gives", status, body[:300])
    return json.loads(body)


def picture(port, path, command):
    """Head and values of a picture."""
    status, headers, body = posted(port, path, command)
    while status == 409:  # the page beside wanted something at once
        time.sleep(0.05)
        status, headers, body = posted(port, path, command)
    require(status == 200, path, command, "gives", status, body[:300])
    require(headers["Content-Type"] == "application/octet-stream", headers)
    line, _, pixels = body.partition(b"\n")
    head = json.loads(line)
    require((len(line) + 1) % 4 == 0 and len(pixels) == 4 * head["width"] * head["height"], "a picture is cut off")
    return head, pixels


def check_slices(program, folder, port):
    """A slice of the page has the bits of the slice in the volume that its recipe makes, by the command line too."""
    options = {"rotation-axis": str(AXIS), "fbp-filter": "hann", "remove-stripe-method": "fw", "dezinger": "3"}
    head, pixels = picture(port, "slice", {"options": options, "z": 3})
    require(head["size"] == [ROWS, BINS, BINS] and head["axis_bin"] == AXIS and head["z"] == 3, head)
    require(picture(port, "slice", {"options": options, "z": 3})[0]["made"] == [], "what is there is made again")
    recipe = answer(port, "recipe", {"options": options})
    (folder / "recipe.toml").write_text(recipe["toml"])
    run = lambda *words: subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run(program, "recon", "scan.h5", "-o", "config.mha", "--config", "recipe.toml", "--overwrite")
    run("sh", "-c", recipe["command"].replace("tandem", f"'{program}'", 1).replace("volume.h5", "typed.mha"))
    require(answer(port, "run", {"options": options, "name": "page.mha"})["begun"], "no run")
    done = wait_for_run(port)
    require(done["state"] == "done" and done["name"] == "page.mha", done)
    slice_bytes = 4 * BINS * BINS
    volumes = {name: (folder / f"{name}.mha").read_bytes()[-ROWS * slice_bytes:] for name in ("config", "typed", "page")}
    require(len(set(volumes.values())) == 1, "volumes differ:", {n: hashlib.sha1(v).hexdigest() for n, v in volumes.items()})
    require(volumes["page"][3 * slice_bytes:4 * slice_bytes] == pixels, "the slice is not that of the volume")
    status, _, body = posted(port, "run", {"options": options, "name": "page.mha"})
    require(status == 422 and b"is there already" in body, status, body)


def wait_for_run(port):
    """The last event of a run, from the stream."""
    with socket.create_connection(("127.0.0.1", int(port)), timeout=60) as wire:
        wire.sendall(f"GET {port.path('events')} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        heard = b""
        while True:
            piece = wire.recv(65536)
            require(piece, "the stream ends before the run does")
            heard += piece
            states = [json.loads(text)["run"] for text in re.findall(rb"data: (.*)\n\n", heard)]
            if states and states[-1]["state"] in ("done", "failed"):
                return states[-1]


def check_other_pictures(port):
    head, _ = picture(port, "sinogram", {"z": 1})
    require((head["whole"], head["rows"]) == ([BINS, VIEWS], [1, 2]), head)
    for kind, count in (("projection", VIEWS), ("flat", 5), ("dark", 5)):
        head, pixels = picture(port, "frame", {"kind": kind, "index": 1})
        values = struct.unpack(f"{BINS * ROWS}f", pixels)
        require(head["whole"] == [BINS, ROWS] and head["count"] >= 1, kind, head)
        require(abs(head["histogram"]["mean"] - sum(values) / len(values)) < 1e-3 * max(values), head["histogram"])
        require(sum(head["histogram"]["counts"]) == len(values), "a histogram leaves something out")
    part, _ = picture(port, "slice", {"z": 2, "region": [10, 60, 20, 50], "coarser": 2})
    require((part["width"], part["height"], part["region"]) == (25, 15, [10, 60, 20, 50]), part)
    about = json.loads(get(port, "about.json")[1])
    require(about["geometry"]["bins"] == BINS and about["start"] == {} and "frames of" not in about, about["geometry"])
    require(get(port, "geometry-2.png")[1][:4] == b"\x89PNG", "no picture of the geometry")
    axis = answer(port, "axis", {})
    require(abs(axis["axis_bin"] - AXIS) < 0.3, axis)
    sweep, _ = picture(port, "sweep", {"name": "rotation-axis", "first": AXIS - 3, "last": AXIS + 3, "step": 0.75, "z": 2})
    require(sweep["verdict"] == "resolved" and abs(sweep["value"] - AXIS) < max(0.4, 4 * sweep["uncertainty"]), sweep)
    require(sweep["height"] == 9 * sweep["each"], sweep)


def check_refused(port, folder):
    host = f"Host: 127.0.0.1:{port}\r\n"
    length = "Content-Length: 2\r\n"
    kind = "Content-Type: application/json\r\n"
    post = lambda path, lines: f"POST {path} HTTP/1.1\r\n{lines}\r\n{{}}"
    known = f"/{port.secret}/slice"
    cases = [(403, post("/slice", host + kind + length)), (403, post(f"/{'0' * 32}/slice", host + kind + length)),
             (403, post(known, host + kind + length + "Origin: http://evil.example\r\n")),
             (403, post(known, host + kind + length + "Origin: null\r\n")),
             (403, post(known, "Host: evil.example\r\n" + kind + length)),
             (415, post(known, host + length)), (415, post(known, host + length + "Content-Type: text/plain\r\n")),
             (415, post(known, host + length + "Content-Type: application/x-www-form-urlencoded\r\n")),
             (411, post(known, host + kind)), (411, post(known, host + kind + "Transfer-Encoding: chunked\r\n")),
             (405, f"PUT {known} HTTP/1.1\r\n{host}{kind}{length}\r\n{{}}"),
             (404, f"GET /{port.secret}/../scan.h5 HTTP/1.1\r\n{host}\r\n"), (404, post(f"/{port.secret}/no", host + kind + length))]
    for expected, request in cases:
        status, _, body = talk(port, request.encode())
        require(status == expected, request[:90], "gives", status, "and not", expected)
        require(len(body) < 80, request[:60], "gets", body)
    for expected, body in ((400, b"{"), (400, b"[]"), (400, b""), (400, b"null"), (400, b"\xff\xfe"), (400, b"[" * 60000),
                           (413, b"{" + b" " * 70000 + b"}")):
        status, _, _ = posted(port, "slice", body)
        require(status == expected, body[:20], "gives", status, "and not", expected)
    status, _, _ = posted(port, "slice", b"{}", length=10 ** 12)
    require(status == 413, "a body of a terabyte gives", status)
    bad = [{"options": {"rotation-axis": "x"}}, {"options": {"rotation-axis": "1e9"}}, {"options": {"no-option": 1}}, {"options": 7},
           {"options": {"output": "evil.h5"}}, {"options": {"log": "evil.log"}}, {"options": {"config": "/etc/passwd"}},
           {"options": {"angles": "/etc/passwd"}}, {"options": {"flats": ["/etc/passwd"]}}, {"options": {"json": "evil.json"}},
           {"options": {"initial": "/etc/passwd"}}, {"options": {"beam-hardening": "/etc/passwd"}}, {"options": {"threads": 4000}},
           {"options": {"rotation-axis": {"a": 1}}}, {"options": {"allow-external-files": True}}, {"options": {"serve": 0}},
           {"options": {"reconstruction-algorithm": "cgls"}}, {"z": -1}, {"z": 10 ** 9}, {"z": 1.5}, {"z": "1"}, {"side": 0},
           {"region": [1, 2]}, {"region": ["a", 1, 2, 3]}, {"coarser": 0}, {"coarser": 10 ** 12}, {"pane": 3},
           {"options": {"size": 10 ** 7}}, {"options": {"--rotation-axis": 3}}, {"options": {"rotation-axis=3 --output": "evil.h5"}}]
    for command in bad:
        status, _, body = posted(port, "slice", command)
        require(status == 422 and json.loads(body)["error"].count("\n") == 0, command, "gives", status, body[:200])
        require(b"root:" not in body, command, "shows a file")
    for name in ("", "../v.h5", "/tmp/v.h5", ".v.h5", "v", "scan.h5", "a/b.h5", 7, None):
        status, _, body = posted(port, "run", {"name": name})
        require(status == 422, "run", name, "gives", status, body)
    for kind in ({"kind": "other"}, {"index": 10 ** 6}, {"kind": 4}):
        require(posted(port, "frame", kind)[0] == 422, "frame", kind)
    for change in ({"step": 0}, {"last": 1e9}, {"name": "output"}, {"first": "a"}):
        command = {"name": "rotation-axis", "first": 40, "last": 42, "step": 1, **change}
        require(posted(port, "sweep", command)[0] == 422, "sweep", change)
    require(not list(folder.glob("*evil*")) and not list(folder.glob("*/evil*")), "a page has made files")


def check_flood(run, port):
    """Many commands at once: some are taken, the others refused, and a page that comes then is answered."""
    statuses = []

    def send_many():
        for _ in range(60):
            with contextlib.suppress(OSError, KeyError, IndexError):  # it may be cut off, to make room for another one
                statuses.append(posted(port, "recipe", {"options": {"rotation-axis": "x"}})[0])

    threads = [threading.Thread(target=send_many) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    require(set(statuses) <= {422, 429} and 422 in statuses, "a flood gives", set(statuses))
    get(port, "about.json")
    streams = [socket.create_connection(("127.0.0.1", int(port)), timeout=30) for _ in range(5)]
    heads = []
    for wire in streams:
        wire.sendall(f"GET {port.path('events')} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        heads.append(wire.recv(20).split()[1])
    require(heads.count(b"200") == 3 and heads.count(b"503") == 2, "five streams give", heads)
    get(port, "about.json")
    for wire in streams:
        wire.close()
    live_page.check_idle_connections_do_no_harm_to(run, lambda: get(port, "about.json"), port)


def check_gone(program, folder):
    """The scan is deleted while it is looked at: what is kept stays, and what is not there is said."""
    (folder / "gone.h5").write_bytes((folder / "scan.h5").read_bytes())
    with looking(program, folder, scan="gone.h5") as (_, port):
        picture(port, "slice", {"z": 1})
        (folder / "gone.h5").write_bytes(b"")
        picture(port, "slice", {"z": 1, "options": {"fbp-filter": "hann"}})
        status, _, body = posted(port, "slice", {"z": 1, "options": {"views": "::2"}})
        require(status == 422 and b"gone.h5" in body, status, body)


def check_start(program, folder):
    """Options of the command line are where the page begins; its files stay allowed."""
    (folder / "angles.txt").write_text("".join(f"{180 * v / VIEWS}\n" for v in range(VIEWS)))
    with looking(program, folder, "--angles", "angles.txt", "--rotation-axis-auto", "--fbp-filter", "hann", "--threads", "1") as (_, port):
        start = json.loads(get(port, "about.json")[1])["start"]
        require(abs(float(start.pop("rotation-axis")) - AXIS) < 0.3, start)
        require(start == {"angles": "angles.txt", "fbp-filter": "hann"}, start)
        require('angles = "angles.txt"' in answer(port, "recipe", {"options": start})["toml"], "the recipe lacks the angles")
    for words in (["-o", "v.h5"], ["--serve", "0"], ["scan.h5"], ["--dry-run"], ["--port", "70000"]):
        done = subprocess.run([program, "look", "scan.h5", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        require(done.returncode == 2 and done.stderr.count("\n") == 1, words, done.returncode, done.stderr)


def check_as_client(program, folder):
    with looking(program, folder) as (run, port):
        live_page.check_page(port)
        require(len(get(port, "")[1]) < 150_000, "the page has", len(get(port, "")[1]), "bytes")
        check_slices(program, folder, port)
        check_other_pictures(port)
        check_refused(port, folder)
        live_page.check_this_machine_alone(port)
        check_flood(run, port)
    check_gone(program, folder)
    check_start(program, folder)
    print("look_page: slices are those of the volume, and nothing else is served")


# Where the bright pixels of the slice are, as shares of the picture, and how many they are.
SEEN = """(() => { const c = document.getElementById("picture-a"), w = c.width, h = c.height;
  const d = c.getContext("2d").getImageData(0, 0, w, h).data; let s = 0, x = 0, y = 0;
  for (let k = 0; k < w * h; ++k) if (d[4 * k] > 200) { s += 1; x += k % w; y += Math.floor(k / w); }
  return s > 0 ? [x / s / w, y / s / h, s / w / h] : null; })()"""
PICTURES = "Number(document.body.dataset.pictures || 0)"
FINE = "panes.A.found && !panes.A.found.rough && askA.flying === 0"


def moved_axis(page, axis):
    """Where the bright spot is when the slider was moved there and the fine picture has come."""
    before = page.value(PICTURES)
    page.set("slider-rotation-axis", axis)
    page.until(f"{PICTURES} > {before} && document.getElementById('caption-a').textContent.includes('axis {axis},')", "the new axis")
    page.until(FINE, "the fine picture")
    return page.value(SEEN)


def check_axis_slider(page, port):
    """The axis slider: the picture becomes that of the slice about this axis, in pixels, also on the way back."""
    page.until(FINE, "a slice")
    white = 0.05
    page.value(f"setWindow(0, {white})")
    right = page.value(SEEN)
    wrong = moved_axis(page, AXIS - 6)
    again = moved_axis(page, AXIS)
    require(max(abs(a - b) for a, b in zip(right, wrong)) > 0.005, "about a wrong axis the bright spot is", wrong, "as", right)
    require(right == again, "back at the axis the page shows", again, "and not", right)
    for axis, seen in ((AXIS, again), (AXIS - 6, wrong)):
        _, pixels = picture(port, "slice", {"options": {"rotation-axis": str(axis)}, "z": ROWS // 2})
        values = struct.unpack(f"{BINS * BINS}f", pixels)
        bright = [k for k, v in enumerate(values) if 255 * v / white >= 201]
        place = [sum(k % BINS + 0.5 for k in bright) / len(bright) / BINS, sum(k // BINS + 0.5 for k in bright) / len(bright) / BINS,
                 len(bright) / BINS ** 2]
        require(all(abs(a - b) < 0.003 for a, b in zip(seen, place)), "about", axis, "the page shows", seen, "and the slice is", place)


def check_controls(page, port):
    page.set("z-number", 1)
    page.until("document.getElementById('caption-a').textContent.startsWith('z = 1 ')", "slice 1")
    page.set("option-remove-stripe-method", "fw")
    page.until("!document.getElementById('option-fw:sigma').closest('label').hidden", "the options of a stripe method")
    page.until("document.getElementById('toml').textContent.includes('remove-stripe-method = \"fw\"')", "the recipe")
    page.click("keep")
    page.set("option-fbp-filter", "parzen")
    page.click("show-difference")
    page.until("document.getElementById('caption-a').textContent.startsWith('A − B')", "the difference")
    page.click("show-both")
    page.until("document.getElementById('picture-b').clientWidth > 0 && document.getElementById('caption-b').textContent.startsWith('B')", "both")
    page.click("show-A")
    page.click("zoom-in")
    page.until(f"S.region && S.region[1] - S.region[0] === {round(BINS / 1.5)} && panes.A.found.region[0] === S.region[0]", "a part")
    page.click("zoom-all")
    page.click("tab-sinogram")
    page.until("document.getElementById('caption-s').textContent.includes('views')", "the sinogram")
    page.click("tab-frames")
    page.set("frame", 7)
    page.until("document.getElementById('caption-f').textContent.startsWith('projection 7')", "a frame")
    page.set("option-fbp-filter", "")
    page.set("option-remove-stripe-method", "")
    page.click("tab-sweep")
    page.value("document.getElementById('sweep-form').requestSubmit()")
    page.until("!document.getElementById('sweep-begin').disabled", "a verdict")
    verdict = page.value("document.getElementById('verdict').textContent")
    require(verdict.startswith("resolved: 51."), "the verdict is", verdict)
    page.click("take")
    page.until("!document.getElementById('slice').hidden", "the slice again")
    page.click("find")
    page.until("document.getElementById('found').textContent.includes('±')", "the axis")
    page.set("option-fbp-cutoff", "7")
    page.until("!document.getElementById('error').hidden", "what is wrong with a cutoff of 7")
    page.set("option-fbp-cutoff", "")
    page.until("document.getElementById('error').hidden", "that all is well again")
    page.set("name", "browser.h5")
    page.value("document.getElementById('run-form').requestSubmit()")
    page.until("document.getElementById('run-state').textContent.includes('done')", "the end of the run")


def check_in_browser(program, folder):
    with looking(program, folder) as (_, port), driven(browser(), folder / "profile") as page:
        page.open(f"http://127.0.0.1:{port}{port.path('')}")
        check_axis_slider(page, port)
        check_controls(page, port)
        complaints = [text for text in page.said if not re.search("422|409|willReadFrequently", text)]  # answers, and this test
        require(not complaints, "the page complains:", complaints)
        for width in (1400, 400):
            page.open(f"http://127.0.0.1:{port}{port.path('')}", width)
            page.until(PICTURES + " > 0", "a slice")
            require(page.value("document.documentElement.scrollWidth") <= width, "the page is wider than", width)
        unnamed = page.value("[...document.querySelectorAll('button, input, select, canvas')].filter(e => !e.textContent.trim() && "
                             "!e.closest('label') && !e.getAttribute('aria-label')).map(e => e.outerHTML)")
        require(unnamed == [], "a screen reader has no name for", unnamed)
    require((folder / "browser.h5").exists(), "the run wrote nothing")
    print("look_page: Chromium moves the axis, and sees the slice of that axis")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        subprocess.run([program, "simulate", "-o", "scan.h5", "--phantom", "ellipsoids", "--photons", "1e5", "--quiet", "--size", "72",
                        "--bins", str(BINS), "--rows", str(ROWS), "--views", str(VIEWS), "--axis-bin", str(AXIS)],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
        check_in_browser(program, folder) if "--in-browser" in sys.argv[2:] else check_as_client(program, folder)


if __name__ == "__main__":
    main()
