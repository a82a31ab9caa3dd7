#!/usr/bin/env python3
"""Looks at a scan by `tandem look` as its page does, and as somebody does who should get nothing.

usage: look_page.py PROGRAM [--in-browser]

With --in-browser a headless Chromium moves sliders and sees the pictures change; without one the exit code is 77
(skipped). Exit code 1 if something is not as it should be.
"""
import array
import contextlib
import hashlib
import json
import os
import pathlib
import re
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

import live_page
from audited import audit
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


def check_codes(port, options, pixels):
    """Codes of 16 bits stand for the values of the same slice, half a step off at most."""
    status, _, body = posted(port, "slice", {"options": options, "z": 3, "bits": 16})
    line, _, codes = body.partition(b"\n")
    require(status == 200 and len(codes) == 2 * BINS * BINS, "codes:", status, len(codes))
    low, step = json.loads(line)["coded"]
    values = zip(struct.unpack(f"{BINS * BINS}H", codes), struct.unpack(f"{BINS * BINS}f", pixels))
    require(all(abs(low + step * code - value) <= 0.5001 * step for code, value in values), "codes are not those of the slice")


def check_slices(program, folder, port):
    """A slice of the page has the bits of the slice in the volume that its recipe makes, by the command line too."""
    options = {"rotation-axis": str(AXIS), "fbp-filter": "hann", "remove-stripe-method": "fw", "dezinger": "3"}
    head, pixels = picture(port, "slice", {"options": options, "z": 3})
    require(head["size"] == [ROWS, BINS, BINS] and head["axis_bin"] == AXIS and head["z"] == 3, head)
    require(picture(port, "slice", {"options": options, "z": 3})[0]["made"] == [], "what is there is made again")
    check_codes(port, options, pixels)
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


def heard(port, holds, what, seconds=60):
    """The first news of the stream for which something holds. Asks again where streams that were left still count."""
    end = time.monotonic() + seconds
    text = b""
    while True:
        with socket.create_connection(("127.0.0.1", int(port)), timeout=60) as wire:
            wire.sendall(f"GET {port.path('events')} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            while piece := wire.recv(65536):
                require(time.monotonic() < end, "the stream does not tell", what)
                text += piece
                *whole, text = text.split(b"\n\n")
                for one in whole:
                    found = re.search(rb"data: (.*)", one)
                    if found and holds(news := json.loads(found[1])):
                        return news
        require(text.startswith(b"HTTP/1.1 503") and time.monotonic() < end, "the stream ends before it tells", what)
        text = b""
        time.sleep(0.1)


def wait_for_run(port):
    return heard(port, lambda news: news["run"]["state"] in ("done", "failed"), "the end of the run")["run"]


def solved(port, command, begun=None):
    """The state of a solver that has done what it was asked for, and the picture that it made."""
    before = heard(port, lambda news: True, "anything")["solve"].get("picture", 0)
    answer(port, "solve", command)
    if begun:
        begun()
    state = heard(port, lambda news: news["solve"]["state"] in ("done", "failed") and
                  (news["solve"]["state"] == "failed" or news["solve"]["picture"] > before), "the end of the solver")["solve"]
    return (state, *picture(port, "iterate", {}))


def slice_of_recipe(program, folder, recipe, z, name):
    """The bytes of a slice of the volume that a recipe makes."""
    (folder / "solver.toml").write_text(recipe["toml"])
    subprocess.run([program, "recon", "scan.h5", "-o", name, "--config", "solver.toml", "--overwrite"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    area = 4 * BINS * BINS
    return (folder / name).read_bytes()[-ROWS * area:][z * area:(z + 1) * area]


def check_solver(program, folder, port):
    """What a solver shows is the slice of the volume that the recipe of the page makes, also where it was stopped."""
    options = {"rotation-axis": str(AXIS), "fbp-filter": "hann", "remove-stripe-method": "fw"}
    about = json.loads(get(port, "about.json")[1])["solvers"]
    require({"tv", "fbp", "cgls"} <= {one["name"] for one in about["methods"]}, about)
    for solver in ({"reconstruction-algorithm": "sirt", "iterations": "7"}, {"reconstruction-algorithm": "tv", "iterations": 9}):
        command = {"options": options, "solver": solver, "z": 3}
        state, head, pixels = solved(port, command)
        require(state["state"] == "done" and state["iterations"] == int(solver["iterations"]) and state["binning"] == 0, state)
        require(head["final"] and head["z"] == 3 and len(head["residuals"]) == state["iterations"] + 1, head)
        require(head["residuals"][0] == [0, 1.0] and head["residuals"][-1][1] < 1, head["residuals"])
        if state["tv_weight"] is not None:
            command["solver"]["tv-weight"] = state["tv_weight"]
        recipe = answer(port, "recipe", command)
        require(("fbp-filter" in recipe["toml"]) == (solver["reconstruction-algorithm"] == "tv"), recipe["toml"])
        require(slice_of_recipe(program, folder, recipe, 3, "solver.mha") == pixels, "the volume has another slice by", solver)
    endless = {"options": options, "solver": {"reconstruction-algorithm": "cgls", "iterations": 10 ** 6}, "z": 2}

    def stop():
        heard(port, lambda news: news["solve"].get("iteration", 0) >= 3, "three iterations")
        answer(port, "enough", {})

    state, _, pixels = solved(port, endless, stop)
    require(state["stopped_by"] == "stopped" and 3 <= state["iterations"] < 10 ** 6, state)
    endless["solver"]["iterations"] = state["iterations"]
    require(slice_of_recipe(program, folder, answer(port, "recipe", endless), 2, "stopped.mha") == pixels,
            "where it was stopped the volume has another slice, after", state["iterations"])
    weight = {"options": options, "solver": {"reconstruction-algorithm": "tv", "iterations": 4, "tv-weight": 0.01}, "z": 2}
    require(not solved(port, weight)[0]["warm"], "a cold start is warm")
    require(solved(port, {**weight, "warm": True})[0]["warm"], "a warm start is cold")
    for number in range(20):  # the newest wish counts
        answer(port, "solve", {**weight, "warm": True, "solver": {**weight["solver"], "tv-weight": 0.01 * (number + 1)}})
    last = heard(port, lambda news: abs(news["solve"].get("tv_weight") or 0) > 0.199 and news["solve"]["state"] == "done", "the newest weight")
    require(abs(last["solve"]["tv_weight"] - 0.2) < 1e-6, last["solve"])


def check_solver_of_a_cone(program, folder):
    """The whole volume of a cone is solved, binned; its recipe has the numbers, and any slice is seen."""
    subprocess.run([program, "simulate", "-o", "cone.h5", "--geometry", "cone", "--sod", "60", "--sdd", "90", "--pixel-size", "0.5", "--arc",
                    "360", "--size", "40", "--bins", "48", "--rows", "40", "--views", "60", "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with looking(program, folder, scan="cone.h5") as (_, port):
        command = {"options": {}, "solver": {"reconstruction-algorithm": "cgls", "iterations": 3}, "z": 21, "binning": 1}
        state, head, pixels = solved(port, command)
        require((state["whole"], state["binning"], head["z"], head["slices"]) == (True, 1, 10, 20), state, head)
        require(picture(port, "iterate", {"z": 10})[1] == pixels and picture(port, "iterate", {"z": 3})[1] != pixels, "slices of a volume")
        require(posted(port, "iterate", {"z": 20})[0] == 422, "a slice beyond the volume")
        planes = picture(port, "iterate", {"y": 7})
        require((planes[0]["width"], planes[0]["height"]) == (head["size"][2], 20), planes[0])
        rows = [pixels[4 * 7 * head["width"]:4 * 8 * head["width"]] for pixels in (picture(port, "iterate", {"z": z})[1] for z in range(20))]
        require(planes[1] == b"".join(rows), "the plane along the axis is not that of the slices")
        require(posted(port, "iterate", {"x": head["size"][2]})[0] == 422, "a plane beyond the volume")
        sweep = picture(port, "sweep", {"name": "rotation-axis", "first": 19.5, "last": 27.5, "step": 1, "z": 20})[0]
        require(sweep["height"] == 9 * sweep["each"] and sweep["width"] == 48, "a sweep of the axis is on several grids:", sweep)
        corners = [picture(port, "slice", {"options": options, "z": 2})[0]["corner"] for options in ({}, {"size": "40"}, {"detector-rows": "4:36"})]
        require(len({tuple(corner) for corner in corners}) == 3, "slices at other places have the same corner:", corners)
        (folder / "cone.toml").write_text(answer(port, "recipe", command)["toml"])
        subprocess.run([program, "recon", "cone.h5", "-o", "cone.mha", "--config", "cone.toml", "--binning", "2"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        volume = (folder / "cone.mha").read_bytes()
        require(volume[-20 * len(pixels):][10 * len(pixels):11 * len(pixels)] == pixels, "the binned volume has another slice")


def threads_of(run):
    return len(list(pathlib.Path(f"/proc/{run.pid}/task").iterdir()))


def check_solver_is_left_alone(program, folder):
    """A browser that goes away in mid-solve leaves no solver at work, and Ctrl-C ends one at once."""
    endless = {"solver": {"reconstruction-algorithm": "cgls", "iterations": 10 ** 6}, "z": 1}
    with looking(program, folder) as (run, port):
        answer(port, "solve", endless)
        heard(port, lambda news: news["solve"].get("iteration", 0) >= 3, "three iterations")  # and the stream is closed
        time.sleep(6)  # twice the patience of the program
        state = heard(port, lambda news: True, "anything")["solve"]
        require(state["state"] == "done" and state["stopped_by"] == "stopped", "nobody looks, and the solver is at", state)
        answer(port, "solve", endless)
        before = threads_of(run)
        for _ in range(30):
            answer(port, "solve", endless)
        heard(port, lambda news: news["solve"].get("iteration", 0) >= 3, "three iterations")
        require(threads_of(run) <= before + 2, "threads:", before, "and later", threads_of(run))  # connections have some


def check_refused_of_solver(port):
    good = {"reconstruction-algorithm": "cgls", "iterations": 3}
    bad = [{}, {"solver": None}, {"solver": 7}, {"solver": []}, {"solver": {}}, {"solver": {"iterations": 3}},
           {"solver": {"reconstruction-algorithm": "no"}}, {"solver": {**good, "iterations": -1}}, {"solver": {**good, "iterations": 1.5}},
           {"solver": {**good, "tv-weight": 1}}, {"solver": {**good, "output": "evil.h5"}}, {"solver": {**good, "initial": "/etc/passwd"}},
           {"solver": {**good, "stop": "never"}}, {"solver": {**good, "json": "evil.json"}}, {"solver": good, "z": -1}, {"solver": good, "z": "1"},
           {"solver": good, "binning": 8}, {"solver": good, "binning": -1}, {"solver": good, "binning": "1"}, {"solver": good, "warm": 1},
           {"solver": good, "options": 7}, {"solver": good, "options": {"rotation-axis": "x"}}]
    for command in bad:
        status, _, body = posted(port, "solve", command)
        require(status == 422 and json.loads(body)["error"].count("\n") == 0, "solve", command, "gives", status, body[:200])
        require(b"root:" not in body, command, "shows a file")
    require(posted(port, "iterate", {})[0] == 422, "an iterate that is not there")
    for path in ("solve", "enough", "iterate"):
        status = posted(port, path, b"[" * 60000)[0]
        require(status == 400, path, "of what is no object gives", status)
    answer(port, "solve", {"solver": good, "options": {"rotation-axis": "9999"}})
    state = heard(port, lambda news: news["solve"]["state"] == "failed", "that there is no such axis")["solve"]
    require("9999" in state["error"] and state["error"].count("\n") == 0, state)
    answer(port, "solve", {"solver": good, "z": ROWS})
    state = heard(port, lambda news: news["solve"]["state"] in ("done", "failed"), "that there is no such slice")["solve"]
    require(state.get("error") == f"slice {ROWS}: the volume has {ROWS} slices, from 0", state)


def check_many(program, folder):
    """A recipe runs for the scans of the folder: one fails, which is said, and the rest goes on."""
    place = folder / "many"
    place.mkdir()
    (folder / "far").mkdir()
    whole = (folder / "scan.h5").read_bytes()
    for name in ("many/a.h5", "many/b.h5", "far/c.h5", "many/.hidden.h5"):
        (folder / name).write_bytes(whole)
    (place / "broken.h5").write_bytes(b"no scan")
    (place / "notes.txt").write_text("")
    with looking(program, place, "../far/c.h5", scan="a.h5") as (_, port):
        options = {"rotation-axis": str(AXIS), "fbp-filter": "hann"}
        run = {"options": options, "name": "{name}_rec.h5", "scans": ["a.h5", "broken.h5", "../far/c.h5"]}
        require(json.loads(get(port, "scans.json")[1]) == ["../far/c.h5", "a.h5", "b.h5", "broken.h5"], get(port, "scans.json")[1])
        bad = [{"scans": []}, {"scans": "a.h5"}, {"scans": [3]}, {"scans": ["/etc/passwd"]}, {"scans": ["../scan.h5"]}, {"scans": ["none.h5"]},
               {"scans": [""]}, {"scans": ["."]}, {"scans": [".hidden.h5"]}, {"scans": ["notes.txt"]}, {"scans": ["../many/b.h5"]},
               {"scans": ["a.h5"] * 2000}, {"name": "same.h5"}, {"name": "{name}.h5"}, {"name": "{name}"}, {"name": "x/{name}.h5"},
               {"name": 3}, {"scans": ["a.h5", "a.h5"]}, {"each_axis": 3}, {"options": {"output": "evil.h5"}}]
        for change in bad:
            status, _, body = posted(port, "run", {**run, **change})
            require(status == 422 and json.loads(body)["error"].count("\n") == 0, "run", change, "gives", status, body[:200])
        answer(port, "run", run)
        done = wait_for_run(port)
        require([row["state"] for row in done["rows"]] == ["done", "failed", "done"] and done["state"] == "failed", done)
        require("1 of 3 scans failed" in done["error"] and "broken.h5" in done["rows"][1]["error"], done)
        require((place / "a_rec.h5").exists() and (place / "c_rec.h5").exists() and not (place / "broken_rec.h5").exists(), "volumes")
        require("a_rec.h5" not in json.loads(get(port, "scans.json")[1]), "a volume stands among scans")
        answer(port, "run", {**run, "scans": ["b.h5"], "name": "{name}_rec.mha", "each_axis": True})
        require(wait_for_run(port)["state"] == "done", "the axis of another scan")
        axis = answer(port, "axis", {"options": {"fbp-filter": "hann"}})["axis_bin"]
        subprocess.run([program, "recon", "b.h5", "-o", "axis.mha", "--rotation-axis=auto", "--fbp-filter", "hann"], cwd=place, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        require((place / "b_rec.mha").read_bytes()[-4000:] == (place / "axis.mha").read_bytes()[-4000:], "about", axis, "the volume is another")
        answer(port, "run", {**run, "scans": ["a.h5", "b.h5", "../far/c.h5"], "name": "late_{name}.h5",
                             "solver": {"reconstruction-algorithm": "cgls", "iterations": 100000}})
        heard(port, lambda news: news["run"].get("stage") == "iterate", "a solver")
        answer(port, "stop", {})
        done = wait_for_run(port)
        require([row["state"] for row in done["rows"]] == ["failed", "waits", "waits"], done["rows"])
        require(done["rows"][0]["error"] == "stopped" and not list(place.glob("late_*")), done["rows"])


def check_names(program, folder):
    """A run takes no name that is there, nor that of a volume whose slices are; what cannot be named is not listed."""
    place = folder / "names"
    place.mkdir()
    (place / "a.h5").write_bytes((folder / "scan.h5").read_bytes())
    (place / os.fsdecode(b"\xff.h5")).write_bytes(b"no scan")
    (place / "two\nlines.h5").write_bytes(b"no scan")
    said = lambda command: (lambda status, _, body: (status, json.loads(body).get("error", "")))(*posted(port, "run", command))
    with looking(program, place, scan="a.h5") as (_, port):
        require(json.loads(get(port, "scans.json")[1]) == ["a.h5"], "scans:", get(port, "scans.json")[1])
        require(json.loads(get(port, "about.json")[1])["volume"] == "volume.h5", "the name of the first volume")
        for command, following in (({"name": "volume.h5"}, "volume_2.h5"), ({"name": "volume_2.h5"}, "volume_3.h5"), ({"name": "v.tif"}, "v_2.tif"),
                                   ({"name": "{name}_rec.tif", "scans": ["a.h5"]}, None)):
            answer(port, "run", command)
            done = wait_for_run(port)
            require(done["state"] == "done" and done.get("next") == following, command, done)
            status, words = said(command)
            require(status == 422 and words.endswith(" is there already; give another name"), command, "again gives", status, words)
        require(json.loads(get(port, "about.json")[1])["volume"] == "volume_3.h5", "the name of the next volume")
        for command in ({"name": "a\0b.h5"}, {"name": "a\nb.h5"}, {"name": "{name}.h5", "scans": ["a\0"]}, {"options": {"rotation-axis": "4\x7f"}},
                        {"options": {"rotation-axis\0": 4}}, {"name": "c.h5", "solver": {"reconstruction-algorithm": "cgls\0"}}):
            require(said(command) == (422, "a text of the command has a control character"), command, "gives", said(command))
    volumes = sorted(path.name for path in place.iterdir() if not path.name.startswith(("a_rec_", "v_0")))
    require(volumes == ["a.h5", "a_rec.tif.manifest", "two\nlines.h5", "v.tif.manifest", "volume.h5", "volume_2.h5", "\udcff.h5"], volumes)


def check_end_by_sigterm(program, folder):
    """A page that ran nothing has nothing to say of volumes."""
    run = subprocess.Popen([program, "look", "scan.h5", "--quiet"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    run.stdout.readline()
    run.send_signal(signal.SIGTERM)
    said = run.communicate(timeout=60)[1]
    require((run.returncode, said) == (143, "tandem: error: interrupted by SIGTERM\n"), run.returncode, said)


def check_words_of_options(port):
    """Rows have titles in words, and units; what is typed on a command line stands beside them."""
    about = json.loads(get(port, "about.json")[1])
    rows = {one["name"]: one for one in [*about["schema"], *about["solvers"]["options"]]}
    told = {name: (row["title"], row["unit"], row["typed"]) for name, row in rows.items()}
    for name, expected in {"rotation-axis": ("rotation axis", "bin", "--rotation-axis X|auto"),
                           "pixel-size": ("pixel size", "mm", "--pixel-size X"),
                           "sod": ("source to axis", "mm", "--sod X"),
                           "detector-roll": ("detector roll", "degrees", "--detector-roll X"),
                           "minus-log:floored": ("minus log: floored", "%", "--minus-log VALUE:floored=X"),
                           "vo-large:size": ("vo-large: size", "bins", "--remove-stripe-method vo-large:size=N"),
                           "retrieve-phase-method:energy": ("phase retrieval: energy", "keV", "--retrieve-phase-method VALUE:energy=X"),
                           "tv-weight": ("weight of total variation", "", "--tv-weight X|auto[:huber=D]")}.items():
        require(told[name] == expected, name, "is told as", told[name], "and not as", expected)
    for name, row in rows.items():
        require("-" not in row["title"].split(":")[-1], name, "is not in words:", row["title"])
        require(row["unit"] not in row["title"].split(), name, "has its unit twice:", row["title"], row["unit"])
    for name, swept in {"rotation-axis": True, "vo-large:snr": True, "arc": True, "fbp-filter": False, "beam-hardening": False}.items():
        require(rows[name]["swept"] == swept, name, "may be swept:", not swept)
    status, _, body = posted(port, "sweep", {"name": "center", "first": 1, "last": 2, "step": 1})
    require(status == 422 and "tomopy's center is --rotation-axis here" in json.loads(body)["error"], "a sweep of center gives", status, body)


def check_other_pictures(port):
    head, _ = picture(port, "sinogram", {"z": 1})
    require((head["whole"], head["rows"]) == ([BINS, VIEWS], [1, 2]), head)
    for kind, count in (("projection", VIEWS), ("flat", 5), ("dark", 5)):
        head, pixels = picture(port, "frame", {"kind": kind, "index": 1})
        values = struct.unpack(f"{BINS * ROWS}f", pixels)
        require(head["whole"] == [BINS, ROWS] and head["count"] >= 1, kind, head)
        require(abs(head["histogram"]["mean"] - sum(values) / len(values)) < 1e-3 * max(values), head["histogram"])
        require(sum(head["histogram"]["counts"]) == len(values), "a histogram leaves something out")
    views = [struct.unpack(f"{BINS * ROWS}f", picture(port, "frame", {"index": k})[1]) for k in range(VIEWS)]
    taken = [views[(2 * k + 1) * VIEWS // 128] for k in range(64)]
    for kind in ("mean", "spread"):
        head, pixels = picture(port, "frame", {"kind": kind})
        values = struct.unpack(f"{BINS * ROWS}f", pixels)
        require(head["of"] == 64 and head["saturated"] == 0, head)
        for k in range(0, BINS * ROWS, 7):
            counts = [one[k] for one in taken]
            exact = statistics.fmean(counts) if kind == "mean" else statistics.pstdev(counts)
            require(abs(values[k] - exact) <= 1e-6 * exact + 1e-6, kind, "of cell", k, "is", values[k], "and not", exact)  # as float32
    require(picture(port, "slice", {"z": 10 ** 9, "nearest": True})[0]["z"] == ROWS - 1, "the slice that is nearest")
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
           {"options": {"rotation-axis": []}}, {"options": {"remove-stripe-method": "vo-large", "vo-large:size": []}},
           {"options": {"rotation-axis": {"a": 1}}}, {"options": {"allow-external-files": True}}, {"options": {"serve": 0}},
           {"options": {"reconstruction-algorithm": "cgls"}}, {"z": -1}, {"z": 10 ** 9}, {"z": 1.5}, {"z": "1"}, {"side": 0},
           {"region": [1, 2]}, {"region": ["a", 1, 2, 3]}, {"coarser": 0}, {"coarser": 10 ** 12}, {"pane": 3}, {"bits": 8},
           {"bits": 17}, {"bits": "16"}, {"bits": 16.0},
           {"options": {"size": 10 ** 7}}, {"options": {"--rotation-axis": 3}}, {"options": {"rotation-axis=3 --output": "evil.h5"}}]
    for command in bad:
        status, _, body = posted(port, "slice", command)
        require(status == 422 and json.loads(body)["error"].count("\n") == 0, command, "gives", status, body[:200])
        require(b"root:" not in body, command, "shows a file")
    for name in ("", "../v.h5", "/tmp/v.h5", ".v.h5", "v", "scan.h5", "a/b.h5", 7, None):
        status, _, body = posted(port, "run", {"name": name})
        require(status == 422, "run", name, "gives", status, body)
    for kind in ({"kind": "other"}, {"index": 10 ** 6}, {"kind": 4}, {"kind": "mean", "index": 1}):
        require(posted(port, "frame", kind)[0] == 422, "frame", kind)
    for change in ({"step": 0}, {"last": 1e9}, {"name": "output"}, {"first": "a"}, {"score": "best"}, {"score": 3}, {"z": 2.7}, {"z": 1e308},
                   {"z": ROWS}, {"z": -1}, {"z": "1"}, {"side": 1e308}, {"side": -5}, {"side": 64.5}, {"first": 1.7976931348623157e308,
                   "last": 1.7976931348623157e308}):
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
    end = time.monotonic() + 60  # streams of before are given up when the server next writes to them
    while True:
        streams = [socket.create_connection(("127.0.0.1", int(port)), timeout=30) for _ in range(5)]
        heads = []
        for wire in streams:
            wire.sendall(f"GET {port.path('events')} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            heads.append(wire.recv(20).split()[1])
        if heads.count(b"200") == 3 or time.monotonic() > end:
            break
        for wire in streams:
            wire.close()
        time.sleep(1)
    require(heads.count(b"200") == 3 and heads.count(b"503") == 2, "five streams give", heads)
    get(port, "about.json")
    for wire in streams:
        wire.close()
    live_page.check_idle_connections_do_no_harm_to(run, lambda: get(port, "about.json"), port)


def check_drips(port):
    """Bodies that come a byte at a time hold no connection, nor do those of requests that are refused."""
    heads = [f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()
             for path, length in (("/x", 6000000), (port.path("recipe"), 60000))]
    for head in heads:
        wires = [socket.create_connection(("127.0.0.1", int(port)), timeout=20) for _ in range(7)]
        for wire in wires:
            wire.sendall(head)
        for _ in range(8):
            for wire in wires:
                with contextlib.suppress(OSError):  # it may have made room for another one
                    wire.send(b" ")
            time.sleep(0.3)
            begun = time.monotonic()
            require(json.loads(get(port, "about.json")[1]) and time.monotonic() - begun < 2, "dripping bodies keep the page waiting")
        for wire in wires:
            wire.close()
    taken = 0
    with socket.create_connection(("127.0.0.1", int(port)), timeout=20) as wire, contextlib.suppress(OSError):
        wire.sendall(heads[0].replace(b"6000000", b"1000000000000"))
        while taken < 10 ** 9:
            taken += wire.send(bytes(1 << 20))
    require(taken < 10 ** 8, "of a body that is refused", taken, "bytes are read")


def check_marks(program, folder):
    """Cells that are planted dead and saturated are found where they are."""
    dead, full = [(7, 1), (90, 4)], [(50, 2), (51, 2), (0, 0)]
    frames = {"projection": 30, "flat": 7, "dark": 5}
    def frame(kind, k):
        values = array.array("H", [100 if kind == "dark" else 900 + 10 * k] * (BINS * ROWS))
        for x, y in dead:
            values[y * BINS + x] = 100
        if kind == "projection" and k == 3:
            for x, y in full:
                values[y * BINS + x] = 65535
        return values.tobytes()

    head = f"{{\nByteOrder = LowByteFirst ;\nDataType = UnsignedShort ;\nDim_1 = {BINS} ;\nDim_2 = {ROWS} ;\n".encode().ljust(510) + b"}\n"
    for kind, count in frames.items():  # in EDF
        (folder / kind).mkdir()
        for k in range(count):
            (folder / kind / f"{k:03}.edf").write_bytes(head + frame(kind, k))
    with looking(program, folder, "--flats", "flat", "--darks", "dark", "--arc", "180", scan="projection") as (_, port):
        head, _ = picture(port, "frame", {"index": 3, "options": json.loads(get(port, "about.json")[1])["start"]})
        pairs = lambda places: sorted(zip(places[::2], places[1::2]))
        require(pairs(head["marks"]["saturated"]) == sorted(full) and head["saturated"] == len(full), head["marks"])
        require(pairs(head["marks"]["dead"]) == sorted(dead) and head["dead"] == len(dead), head["marks"])


def check_gone(program, folder):
    """The scan is deleted while it is looked at: what is kept stays, and what is not there is said."""
    (folder / "gone.h5").write_bytes((folder / "scan.h5").read_bytes())
    with looking(program, folder, scan="gone.h5") as (_, port):
        picture(port, "slice", {"z": 1})
        (folder / "gone.h5").write_bytes(b"")
        picture(port, "slice", {"z": 1, "options": {"fbp-filter": "hann"}})
        status, _, body = posted(port, "slice", {"z": 1, "options": {"views": "::2"}})
        require(status == 422 and b"gone.h5" in body, status, body)
        answer(port, "solve", {"solver": {"reconstruction-algorithm": "cgls"}, "z": 3})
        state = heard(port, lambda news: news["solve"]["state"] in ("done", "failed"), "the end of a solver without a scan")["solve"]
        require(state["state"] == "failed" and "gone.h5" in state["error"] and state["error"].count("\n") == 0, state)


def check_end_amid_search(program, folder):
    """Ctrl-C ends a search for the axis at once, and well; its command is told so, or is cut off."""
    subprocess.run([program, "simulate", "-o", "wide.h5", "--views", "721", "--rows", "9", "--bins", "512", "--quiet"], cwd=folder,
                   check=True, stdout=subprocess.DEVNULL)
    statuses = []

    def search():
        with contextlib.suppress(OSError, KeyError, IndexError, ValueError):
            statuses.append(posted(port, "axis", {})[0])

    with looking(program, folder, "--threads", "1", scan="wide.h5") as (_, port):  # where it takes a second or more
        thread = threading.Thread(target=search)
        thread.start()
        time.sleep(0.3)
    thread.join()
    require(set(statuses) <= {200, 503}, "a search that Ctrl-C ends gives", statuses)


def check_start(program, folder):
    """Options of the command line are where the page begins; its files stay allowed."""
    (folder / "angles.txt").write_text("".join(f"{180 * v / VIEWS}\n" for v in range(VIEWS)))
    with looking(program, folder, "--angles", "angles.txt", "--rotation-axis=auto", "--fbp-filter", "hann", "--threads", "1") as (_, port):
        start = json.loads(get(port, "about.json")[1])["start"]
        require(abs(float(start.pop("rotation-axis")) - AXIS) < 0.3, start)
        require(start == {"angles": "angles.txt", "fbp-filter": "hann"}, start)
        require('angles = "angles.txt"' in answer(port, "recipe", {"options": start})["toml"], "the recipe lacks the angles")
    for words in (["-o", "v.h5"], ["--serve", "0"], ["--dry-run"], ["--port", "70000"]):
        done = subprocess.run([program, "look", "scan.h5", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        require(done.returncode == 2 and done.stderr.count("\n") == 1, words, done.returncode, done.stderr)


def check_as_client(program, folder):
    with looking(program, folder) as (run, port):
        live_page.check_page(port)
        require(len(get(port, "")[1]) < 150_000, "the page has", len(get(port, "")[1]), "bytes")
        check_slices(program, folder, port)
        check_words_of_options(port)
        check_other_pictures(port)
        check_refused(port, folder)
        time.sleep(2)  # more than a hundred commands a second are refused, whatever they are
        check_refused_of_solver(port)
        check_solver(program, folder, port)
        live_page.check_this_machine_alone(port)
        check_flood(run, port)
        check_drips(port)
    check_names(program, folder)
    check_end_by_sigterm(program, folder)
    check_solver_of_a_cone(program, folder)
    check_solver_is_left_alone(program, folder)
    check_many(program, folder)
    check_marks(program, folder)
    check_gone(program, folder)
    check_end_amid_search(program, folder)
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


def check_line(page):
    """A line without a pointer: through the middle at first, then where its fields say, until it is taken away."""
    page.click("tool-line")
    typed = lambda: page.value("[0, 1, 2, 3].map(k => Number(document.getElementById('line-' + k).value))")
    require(typed() == [BINS / 4, BINS / 2, 3 * BINS / 4, BINS / 2], "the first line is", typed())
    seen = "document.getElementById('profile').getClientRects().length > 0"
    page.until(f"{seen} && document.querySelectorAll('#profile polyline').length === 2 && !panes.A.found.coded", "its values in A and B")
    for k, value in enumerate((10, 20, 10, 50)):
        page.set(f"line-{k}", value)
    require(page.value("S.line") == [10, 20, 10, 50], "the line is", page.value("S.line"))
    down = page.value("along(panes.A.found).map(p => p[1])")
    require(down == page.value("Array.from({length: 31}, (_, k) => panes.A.found.grey[(20 + k) * panes.A.found.width + 10])"), "along x = 10:", down)
    page.set("line-3", "")
    require(page.value("S.line") == [10, 20, 10, 50], "a field that is empty moves the line to", page.value("S.line"))
    page.click("no-line")
    require(page.value(f"S.line === null && document.getElementById('ends').hidden && !({seen})"), "the line stays")


def check_order_of_options(page):
    """Options stand in the order of use, in words, with units; their names with dashes are in tooltips."""
    seen = page.value("[...document.querySelectorAll('#controls h3, #controls summary, #controls label:not([hidden]) > span')].map(e => e.textContent)")
    order = ["Axis and grid", "rotation axis, bin", "detector roll, degrees", "voxel size, mm", "Selection detector rows, columns, views", "detector rows",
             "Cleaning of counts", "stripe removal", "saturation ", "phase retrieval: energy, keV", "Filter and method", "filter", "filter cutoff",
             "padding", "Beam and geometry 7 options", "pixel size, mm", "arc, degrees", "Scan 6 options", "Output data type, compression, ome zarr",
             "Device and memory variant, precision, allow unmatched"]
    require(seen[:2] == order[:2] and [text for text in seen if text in order] == order, "options stand as", seen)
    require(not [text for text in seen if "--" in text], "names with dashes are seen:", seen)
    tooltip = page.value("document.getElementById('option-pixel-size').closest('label').title")
    require(tooltip.startswith("--pixel-size X\ndetector pitch, mm"), "the tooltip is", tooltip)
    swept = page.value("[...document.querySelectorAll('#sweep-name option')].map(e => e.textContent)")
    require(swept[:2] == ["rotation axis, bin", "detector roll, degrees"] and "vo-large: size, bins" in swept, "what may be swept:", swept)


def typed(page, field, text):
    """Types into a field, which may be what no browser reads as a number."""
    page.value(f"(e => {{ for (let o = e; o = o.parentElement.closest('details'); ) o.open = true; e.focus(), e.select(); }})(at('{field}'))")
    page.call("Input.insertText", text=text)
    page.value("document.activeElement.blur()")


def check_no_numbers(page):
    """A field with what is no number is not empty: what it was stays, and nothing runs with it."""
    error = "at('error').hidden ? '' : at('error').textContent"
    page.set("option-fbp-cutoff", "0.5")
    typed(page, "option-fbp-cutoff", "1e")
    require(page.value(error) == "filter cutoff: what is typed is no number", "typed 1e:", page.value(error))
    require(page.value("S.options['fbp-cutoff']") == "0.5", "what is no number changes the option to", page.value("S.options['fbp-cutoff']"))
    page.value("document.getElementById('run-form').requestSubmit()")
    page.until("at('run-state').textContent === 'a field has what is no number'", "that nothing runs")
    typed(page, "option-fbp-cutoff", "")
    page.until(f"({error}) === '' && !('fbp-cutoff' in S.options)", "that the field is empty")
    for field in ("z-number", "black"):
        typed(page, field, "--5")
        require(page.value(error).endswith(": what is typed is no number"), field, page.value(error))
        page.set(field, "1")
        require(page.value(error) == "", field, page.value(error))
    page.value("setWindow(1, 2)")
    page.set("white", "0.5", "change")
    require(page.value(error) == "white 0.5 does not lie above black 1" and page.value("S.window.white") == 2, "white below black:", page.value(error))
    page.value("setWindow(100, 100.0001)")
    require(page.value("Number(at('white').value) > Number(at('black').value)"), "black and white look the same")
    page.click("auto")
    page.until(f"({error}) === ''", "that the window is automatic")


def check_grids_of_two(page):
    """A and B of other grids are not subtracted, nor is a line drawn over both: that is told."""
    words = "at('apart').getClientRects().length > 0 ? at('apart').textContent : ''"
    page.click("keep")
    page.click("show-difference")
    page.until("at('caption-a').textContent.startsWith('A − B: ')", "a difference")
    for name, value in (("size", "48"), ("detector-rows", "1:4"), ("binning", "2")):
        page.set("option-" + name, value, "change")
        page.set("option-" + name, value)
        page.until(f"({words}).startsWith('A and B have other grids: ')", "that A and B have other grids by " + name)
        require(page.value("at('caption-a').textContent.startsWith('A alone: ')"), "A alone is called", page.value("at('caption-a').textContent"))
        page.click("tool-line")
        page.until("document.querySelectorAll('#profile polyline').length === 1", "the line in A alone")
        page.click("no-line")
        page.set("option-" + name, "", "change")
        page.set("option-" + name, "")
        page.until(f"({words}) === '' && at('caption-a').textContent.startsWith('A − B: ')", "the difference again")
    page.click("show-A")


def check_shrunk(page):
    """A volume that has fewer slices than before shows its last one, and the slider follows."""
    page.set("z-number", ROWS - 1)
    page.until(f"panes.A.found.z === {ROWS - 1}", "the last slice")
    page.set("option-detector-rows", "1:3", "change")
    page.until("panes.A.found.size[0] === 2 && S.z === 1 && at('z').max === '1' && at('z').value === '1' && at('z-number').value === '1'", "the last of 2 slices")
    page.until("at('error').hidden", "that all is well")
    page.set("option-detector-rows", "", "change")
    page.until(f"at('z').max === '{ROWS - 1}' && S.z === 1", "all slices")


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
    page.until("!panes.A.found.coded && !panes.B.found.coded", "floats, whose difference is not that of codes")
    page.click("show-both")
    page.until("document.getElementById('picture-b').clientWidth > 0 && document.getElementById('caption-b').textContent.startsWith('B')", "both")
    page.click("show-A")
    page.click("zoom-in")
    page.until(f"S.region && S.region[1] - S.region[0] === {round(BINS / 1.5)} && panes.A.found.region[0] === S.region[0]", "a part")
    page.click("zoom-all")
    check_line(page)
    page.click("tab-sinogram")
    page.until("document.getElementById('caption-s').textContent.endsWith(' bins; row 1 of the file')", "the sinogram")
    page.click("tab-frames")
    page.set("frame-number", 999)
    page.until(f"document.getElementById('caption-f').textContent.startsWith('projection {VIEWS - 1} ')", "the last frame")
    require(page.value("at('frame-number').value") == str(VIEWS - 1), "the field of the frame says", page.value("at('frame-number').value"))
    page.set("frame", 7)
    page.until("document.getElementById('caption-f').textContent.startsWith('projection 7')", "a frame")
    page.set("option-fbp-filter", "")
    page.set("option-remove-stripe-method", "")
    for kind in ("spread", "mean"):
        page.set("kind", kind, "change")
        page.until(f"document.getElementById('caption-f').textContent.startsWith('{kind} of each cell over 64 views')", kind)
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
    check_no_numbers(page)
    check_grids_of_two(page)
    check_shrunk(page)
    check_solve_tab(page)
    page.set("name", "browser.h5")
    page.value("document.getElementById('run-form').requestSubmit()")
    page.until("document.getElementById('run-state').textContent.includes('done')", "the end of the run")
    page.until("at('name').value === 'browser_2.h5'", "the name of the next volume")
    page.value("document.getElementById('many').open = true")
    page.until("document.querySelectorAll('#scan-list input').length >= 1", "scans of the folder")
    page.click("scans-all")
    page.set("names", "{name}_many.h5")
    page.value("document.getElementById('many-form').requestSubmit()")
    page.until("[...document.querySelectorAll('#run-rows tr')].some(row => row.textContent.startsWith('scan.h5done'))", "what became of the scan")
    page.until("at('run-state').textContent.startsWith('1 of 2 scans failed, the first: ')", "what became of both")
    tall = page.value("[...document.querySelectorAll('#run-rows td:nth-child(2)')].map(e => e.firstChild && (r => (r.selectNodeContents(e), r.getClientRects().length))(document.createRange()))")
    require(set(tall) == {1}, "states of scans are broken into lines:", tall)


FULL = """(id => { const c = document.getElementById(id), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  const seen = new Set(); for (let k = 0; k < d.length; k += 4) seen.add(d[k]); return seen.size; })"""


def check_solve_tab(page):
    """A method is chosen, solves, is stopped; the slider of the weight goes on from what is there; the recipe is by it."""
    page.click("tab-solve")
    page.set("method", "sirt", "change")
    page.set("solver-iterations", "0")
    page.value("document.getElementById('solve-form').requestSubmit()")
    page.until("document.getElementById('solve-state').textContent.startsWith('sirt: 0 iterations in ')", "no iterations")
    page.set("method", "cgls", "change")
    page.set("solver-iterations", "6")
    page.value("document.getElementById('solve-form').requestSubmit()")
    page.until("document.body.dataset.solve === 'done' && document.getElementById('caption-i').textContent.startsWith('cgls, iteration 6')", "the solution")
    require(page.value(FULL + "('picture-i')") > 20 and page.value(FULL + "('picture-j')") > 20, "the pictures of the solver are flat")
    require(page.value("document.querySelectorAll('#residuals polyline').length") == 1, "no curve of residuals")
    page.click("by-solver")
    page.until("document.getElementById('toml').textContent.includes('reconstruction-algorithm = \"cgls\"')", "the recipe by cgls")
    page.set("solver-iterations", "1000000")
    page.value("document.getElementById('solve-form').requestSubmit()")
    page.until("document.getElementById('solve-state').textContent.startsWith('iteration ') && !document.getElementById('solve-stop').hidden", "iterations")
    page.click("solve-stop")
    page.until("document.body.dataset.solve === 'done' && S.solver.iterations !== '1000000'", "where it was stopped")
    page.until("document.getElementById('toml').textContent.includes('iterations = ' + S.solver.iterations + '\\n')", "its number in the recipe")
    page.set("method", "tv", "change")
    page.set("solver-iterations", "5")
    page.value("document.getElementById('solve-form').requestSubmit()")
    page.until("document.body.dataset.solve === 'done' && Number(S.solver['tv-weight']) > 0", "the weight that was found")
    page.set("weight", "-1")
    page.until("S.solver['tv-weight'] === '0.1' && document.getElementById('solve-state').textContent.includes('begun at the volume before')", "a warm start")
    page.until("document.getElementById('toml').textContent.includes('tv-weight = 0.1')", "the weight in the recipe")
    page.click("by-solver")
    page.until("document.getElementById('toml').textContent.includes('reconstruction-algorithm = \"fbp\"')", "the recipe by the filter")


def check_answers_that_fail(program, folder, page):
    """A server without a free connection, and another one at the same port, are told as what they are."""
    error = "at('error').hidden ? '' : at('error').textContent"
    with looking(program, folder) as (_, port):
        page.open(f"http://127.0.0.1:{port}{port.path('')}")
        page.until(FINE, "a slice")
        page.value("window.fetch = (own => async (...how) => window.isBusy ? new Response('503', {status: 503}) : own(...how))(window.fetch), window.isBusy = true")
        page.set("z-number", 0)
        page.until(f"({error}) === 'tandem look has no free connection; it is asked again'", "that there is no free connection")
        page.value("window.isBusy = false")
        page.until(f"({error}) === '' && panes.A.found.z === 0", "slice 0")
    with looking(program, folder, "--port", str(int(port))):
        page.set("z-number", 1)
        page.until(f"({error}) === 'tandem look was started anew; open the address that it printed'", "that it was started anew")


def check_in_browser(program, folder):
    (folder / f"{200 * 'long'}.h5"[-250:]).write_bytes(b"no scan")
    with looking(program, folder) as (_, port), driven(browser(), folder / "profile") as page:
        page.open(f"http://127.0.0.1:{port}{port.path('')}")
        check_axis_slider(page, port)
        check_order_of_options(page)
        check_controls(page, port)
        complaints = [text for text in page.said if not re.search("422|409|willReadFrequently", text)]  # answers, and this test
        require(not complaints, "the page complains:", complaints)
        for width, dark in ((1400, False), (400, True)):
            page.open(f"http://127.0.0.1:{port}{port.path('')}", width, dark=dark)
            page.until(PICTURES + " > 0", "a slice")
            require(page.value("document.documentElement.scrollWidth") <= width, "the page is wider than", width)
            page.click("keep")
            page.click("tool-line")
            page.value("document.getElementById('many').open = true")
            page.until("document.querySelectorAll('#scan-list input').length >= 1", "scans of the folder")
            for tab in page.value("tabs"):
                page.click("tab-" + tab)
                audit(page, f"tab {tab}, {width} pixels wide:")
        unnamed = page.value("[...document.querySelectorAll('button, input, select, canvas')].filter(e => !e.textContent.trim() && "
                             "!e.closest('label') && !e.getAttribute('aria-label')).map(e => e.outerHTML)")
        require(unnamed == [], "a screen reader has no name for", unnamed)
        check_answers_that_fail(program, folder, page)
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
