#!/usr/bin/env python3
"""Looks at volumes by `tandem look VOLUME` as its page does, and as somebody does who sends nonsense.

usage: look_volume_page.py PROGRAM [--in-browser]

With --in-browser a headless Chromium uses every control and sees the pictures change; without one the exit code is 77
(skipped). Exit code 1 if something is not as it should be.
"""
import array
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import live_page
from audited import audit
from driven_browser import driven
from live_page import get, talk
from look_page import answer, looking, picture, posted
from pages import browser, require

SHAPE = (12, 40, 52)  # z, y, x
BALL = (5, 11, 33)
HEAD = ("ObjectType = Image\nNDims = 3\nDimSize = {0[2]} {0[1]} {0[0]}\nElementSpacing = {1} {1} {1}\nOffset = {2[2]} {2[1]} {2[0]}\n"
        "ElementType = MET_FLOAT\nElementDataFile = {3}\n")


def write_volume(path, shape, values, pitch=0.1, first=(0.0, 0.0, 0.0)):
    """A MetaImage with its voxels behind the head."""
    path.write_bytes(HEAD.format(shape, pitch, first, "LOCAL").encode() + array.array("f", values).tobytes())


def voxels(shape, value):
    return [value(z, y, x) for z in range(shape[0]) for y in range(shape[1]) for x in range(shape[2])]


def ball(z, y, x):
    """A bright ball in a ramp along x."""
    return 1.0 if math.dist((z, y, x), BALL) < 3.3 else 0.002 * x


def plane_of(values, shape, axis, at):
    """Rows of a plane of a volume, one after another."""
    at_voxel = lambda z, y, x: values[(z * shape[1] + y) * shape[2] + x]
    nz, ny, nx = shape
    return {"z": lambda: [at_voxel(at, y, x) for y in range(ny) for x in range(nx)],
            "y": lambda: [at_voxel(z, at, x) for z in range(nz) for x in range(nx)],
            "x": lambda: [at_voxel(z, y, at) for z in range(nz) for y in range(ny)]}[axis]()


def floats(pixels):
    return list(array.array("f", pixels))


def check_formats(program, folder):
    """Planes of a volume have the bits of the volume, in all formats."""
    recon = [program, "recon", "scan.h5", "--quiet", "--overwrite"]
    subprocess.run([*recon, "-o", "v.mha"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    packed = ["--compression", "zstd"]
    shape = None
    for name, options in (("v.mha", []), ("v.h5", []), ("p.h5", packed), ("v.tif", []), ("v.btf", []), ("v.nrrd", []),
                          ("v.zarr", []), ("p.zarr", packed), ("n.zarr", [*packed, "--ome-zarr", "0.5"])):
        if name != "v.mha":
            subprocess.run([*recon, "-o", name, *options], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with looking(program, folder, "--beside", "v.mha", scan=name) as (_, port):
            about = json.loads(get(port, "about.json")[1])["volumes"]
            require(len(about) == 2 and about[0]["shape"] == about[1]["shape"] and about[0]["file"] == name, about)
            if shape is None:
                shape = about[0]["shape"]
                values = array.array("f", (folder / "v.mha").read_bytes()[-4 * math.prod(shape):])
            for axis, n in zip("zyx", shape):
                at = n // 3
                for of in (0, 1):
                    head, pixels = picture(port, "plane", {"axis": axis, "at": at, "of": of})
                    require(floats(pixels) == plane_of(values, shape, axis, at) and head["step"] == 1, name, axis, of, head)
            part, pixels = picture(port, "plane", {"axis": "y", "at": 5, "region": [3, 40, 1, 4]})
            whole = plane_of(values, shape, "y", 5)
            require(floats(pixels) == [v for row in range(1, 4) for v in whole[row * shape[2] + 3:row * shape[2] + 40]], name, part)
            few, pixels = picture(port, "plane", {"axis": "z", "at": 2, "side": 16})
            step = few["step"]
            require(step == -(-max(shape[1:]) // 16) and (few["width"], few["height"]) == (-(-shape[2] // step), -(-shape[1] // step)), few)


def check_beside(program, folder):
    """Volumes of one grid lie as their grids say, and others are refused in a line."""
    values = voxels(SHAPE, ball)
    write_volume(folder / "a.mha", SHAPE, values)
    inner = (6, 30, 40)
    write_volume(folder / "part.mha", inner, voxels(inner, lambda z, y, x: ball(z + 4, y + 5, x + 20)), first=(0.4, 0.5, 2.0))
    with looking(program, folder, "--beside", "part.mha", scan="a.mha") as (_, port):
        require(json.loads(get(port, "about.json")[1])["volumes"][1]["offset"] == [4, 5, 20], "another offset")
        for axis, at in (("z", 5), ("y", 11), ("x", 33)):
            a, b = (floats(picture(port, "plane", {"axis": axis, "at": at, "of": of})[1]) for of in (0, 1))
            shared = [k for k, v in enumerate(b) if not math.isnan(v)]
            require(0 < len(shared) < len(b) and all(a[k] == b[k] for k in shared), axis, "differs")
        nothing = floats(picture(port, "plane", {"axis": "z", "at": 0, "of": 1})[1])
        require(all(map(math.isnan, nothing)), "the part has slices of its own")
        require(answer(port, "value", {"at": [5, 11, 33]})["values"] == [1, 1], "another value")
        require(answer(port, "value", {"at": [0, 0, 0]})["values"] == [0, None], "a value outside of the part")
    write_volume(folder / "finer.mha", SHAPE, values, pitch=0.05)
    write_volume(folder / "between.mha", SHAPE, values, first=(0, 0, 0.04))
    write_volume(folder / "far.mha", SHAPE, values, first=(0, 0, 100))
    for name, said in (("finer.mha", "wide, not 0.1"), ("between.mha", "lie between"), ("far.mha", "no voxel in common"),
                       ("lost.mha", "lost.mha"), ("scan.h5", "is a scan")):
        done = subprocess.run([program, "look", "a.mha", "--beside", name], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        require(done.returncode == 3 and said in done.stderr and done.stderr.count("\n") == 1, name, done.returncode, done.stderr)
    for words in (["a.mha", "--fbp-filter", "hann"], ["scan.h5", "--beside", "scan.h5"], ["a.mha", "a.mha"], ["a.mha", "-o", "v.h5"]):
        done = subprocess.run([program, "look", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        require(done.returncode in (2, 3) and done.stderr.count("\n") == 1, words, done.returncode, done.stderr)


def check_refused(program, folder):
    with looking(program, folder, scan="a.mha") as (run, port):
        bad = [{}, {"axis": "w"}, {"axis": "zy"}, {"axis": 3}, {"axis": "z", "at": -1}, {"axis": "z", "at": SHAPE[0]},
               {"axis": "z", "at": 1.5}, {"axis": "z", "at": "1"}, {"axis": "z", "at": 10 ** 30}, {"axis": "z", "region": [0, 5]},
               {"axis": "z", "region": [0, 53, 0, 40]}, {"axis": "z", "region": [5, 5, 0, 4]}, {"axis": "z", "region": [9, 5, 0, 4]},
               {"axis": "z", "region": [-1, 5, 0, 4]}, {"axis": "z", "region": ["a", 5, 0, 4]}, {"axis": "z", "region": {}},
               {"axis": "z", "side": 0}, {"axis": "z", "side": 10 ** 9}, {"axis": "z", "of": 1}, {"axis": "z", "of": -1},
               {"axis": "z", "pane": 3}, {"axis": None}]
        for command in bad:
            status, _, body = posted(port, "plane", command)
            require(status == 422 and json.loads(body)["error"].count("\n") == 0, command, "gives", status, body[:200])
        for command in ({}, {"at": [1, 2]}, {"at": [1, 2, SHAPE[2]]}, {"at": [1, 2, -1]}, {"at": "z"}, {"at": [1, 2, 0.5]}):
            require(posted(port, "value", command)[0] == 422, "value", command)
        for body in (b"{", b"[]", b"", b"\xff", b"[" * 60000):
            require(posted(port, "plane", body)[0] == 400, body[:10])
        require(posted(port, "slice", {})[0] == 404 and posted(port, "run", {"name": "v.h5"})[0] == 404, "a volume is run")
        for path in (b"/plane", b"/" + b"0" * 32 + b"/plane"):
            status, _, _ = talk(port, b"POST " + path + f" HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}".encode())
            require(status == 403, path, status)
        live_page.check_page(port)
        require(len(get(port, "")[1]) < 150_000, "the page has", len(get(port, "")[1]), "bytes")
        live_page.check_this_machine_alone(port)
        live_page.check_idle_connections_do_no_harm_to(run, lambda: get(port, "about.json"), port)


def check_gone(program, folder):
    """The volume is deleted, or cut, while it is looked at: a line says so, and the page lives on."""
    for what in ("unlink", "cut"):
        (folder / "gone.mha").write_bytes((folder / "a.mha").read_bytes())
        with looking(program, folder, scan="gone.mha") as (_, port):
            picture(port, "plane", {"axis": "z", "at": 1})
            (folder / "gone.mha").unlink() if what == "unlink" else (folder / "gone.mha").write_bytes(b"")
            for path, command in (("plane", {"axis": "z", "at": 2}), ("value", {"at": [1, 2, 3]})):
                status, _, body = posted(port, path, command)
                require(status == 422 and b"gone.mha" in body, what, path, status, body)
            get(port, "about.json")


def status_of(run, name, file="status"):
    return int(re.search(rf"^{name}:\s+(\d+)", pathlib.Path(f"/proc/{run.pid}/{file}").read_text(), re.MULTILINE)[1])


def check_large(program, folder):
    """A volume of 100 GB, which takes no disk: what is read and held is what is seen."""
    side = 2924
    (folder / "large.mhd").write_text(HEAD.format((side,) * 3, 1, (0, 0, 0), "large.raw"))
    with open(folder / "large.raw", "wb") as file:
        file.truncate(4 * side ** 3)
    with looking(program, folder, "--memory", "0.25", scan="large.mhd") as (run, port):
        for command, due in (({"axis": "z", "at": 1000, "region": [900, 1900, 800, 1300]}, 4 * 1000 * 500),
                             ({"axis": "y", "at": 7, "side": 512}, 4 * side * -(-side // 6)),
                             ({"axis": "x", "at": 7, "side": 128}, 4 * 128 ** 2)):
            before = status_of(run, "rchar", "io")
            head, pixels = picture(port, "plane", command)
            more = status_of(run, "rchar", "io") - before
            require(more <= due + 20000, command, "reads", more, "bytes")  # the request, and what the server reads to answer
            require(not any(pixels), "not zeros", head)
        require(status_of(run, "VmHWM") < 2 ** 18, "it held", status_of(run, "VmHWM"), "kB")
    with looking(program, folder, "--memory", "0.001", scan="large.mhd") as (_, port):
        status, _, body = posted(port, "plane", {"axis": "z", "at": 1, "side": 4096})
        require(status == 422 and b"--memory" in body, status, body)
    (folder / "large.raw").unlink()


def check_as_client(program, folder):
    subprocess.run([program, "simulate", "-o", "scan.h5", "--phantom", "ellipsoids", "--quiet", "--size", "72", "--bins", "96", "--rows", "5",
                    "--views", "60"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    check_formats(program, folder)
    check_beside(program, folder)
    check_refused(program, folder)
    check_gone(program, folder)
    check_large(program, folder)
    print("look_volume_page: planes are those of the volume, and nothing else is read or served")


# Where the bright pixels of a picture are, as shares of it, and how many they are.
SEEN = """(() => { const c = document.getElementById("%s"), w = c.width, h = c.height;
  const d = c.getContext("2d").getImageData(0, 0, w, h).data; let s = 0, x = 0, y = 0;
  for (let k = 0; k < w * h; ++k) if (d[4 * k] > 200 && d[4 * k + 2] > 200) { s += 1; x += k %% w; y += Math.floor(k / w); }
  return s > 0 ? [x / s / w, y / s / h, s / w / h] : null; })()"""
IDLE = "planes.every(p => p.views.every(v => v.ask.flying === 0)) && !due && !valuesFlying"


def settled(page):
    page.until(IDLE, "all planes")
    page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def drag(page, element, begin, end):
    """A hand that presses, moves and lets go, by shares of the element."""
    page.value(f"""(() => {{ const e = document.getElementById("{element}"), box = e.getBoundingClientRect();
      e.setPointerCapture = () => {{}};
      const at = ([a, b]) => ({{clientX: box.left + a * box.width, clientY: box.top + b * box.height, pointerId: 1, bubbles: true}});
      e.dispatchEvent(new PointerEvent("pointerdown", at({list(begin)})));
      e.dispatchEvent(new PointerEvent("pointermove", at({list(end)})));
      e.dispatchEvent(new PointerEvent("pointerup", at({list(end)}))); }})()""")
    settled(page)


def near(found, wanted, tolerance):
    return found is not None and all(abs(a - b) <= tolerance for a, b in zip(found, wanted))


def key(page, element, name):
    page.value(f'document.getElementById("{element}").dispatchEvent(new KeyboardEvent("keydown", {{key: "{name}", bubbles: true}}))')
    settled(page)


def check_cross(page):
    """Dragging the cross to the ball in one plane shows the ball in the other two, where it is."""
    page.click("marks")
    settled(page)
    middle = [(k + 0.5) / n for k, n in zip(BALL, SHAPE)]  # z, y, x
    page.set("at-z", BALL[0])
    settled(page)
    require(near(page.value(SEEN % "picture-z"), (middle[2], middle[1]), 0.02), "the ball is at", page.value(SEEN % "picture-z"))
    drag(page, "picture-z", (0.1, 0.9), (middle[2], middle[1]))
    require(page.value("S.at") == list(BALL), "the cross is at", page.value("S.at"))
    require(near(page.value(SEEN % "picture-y"), (middle[2], middle[0]), 0.06), "plane y has", page.value(SEEN % "picture-y"))
    require(near(page.value(SEEN % "picture-x"), (middle[1], middle[0]), 0.06), "plane x has", page.value(SEEN % "picture-x"))
    text = page.value("document.getElementById('values').textContent")
    require("5, 11, 33" in text and "value in A1 1/mm" in text and "3.3, 1.1, 0.5 mm" in text, text)
    for name, axis, step in (("ArrowRight", 2, 1), ("ArrowLeft", 2, -1), ("ArrowDown", 1, 1), ("ArrowUp", 1, -1), ("PageUp", 0, 1), ("PageDown", 0, -1)):
        before = page.value("S.at")
        key(page, "picture-z", name)
        before[axis] += step
        require(page.value("S.at") == before, name, page.value("S.at"))
    page.set("number-x", 3)
    settled(page)
    require(page.value(SEEN % "picture-x") is None and page.value("Number(document.getElementById('at-x').value)") == 3, "the ball stays")
    page.set("number-x", 33)
    settled(page)
    page.click("marks")
    settled(page)
    blue = """(() => { const c = document.getElementById("picture-z"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
      let n = 0; for (let k = 0; k < d.length; k += 4) n += d[k + 2] > 200 && d[k] < 120; return n; })()"""
    require(page.value(blue) > 100, "there is no cross")


def check_overtaken(page):
    """A command that an older one has overtaken on its way is sent again, and the page waits for its answer."""
    page.value("""globalThis.ask = fetch, globalThis.fetch = path => { fetch = ask;
      return Promise.resolve(new Response('{"error": "a newer command has come"}', {status: 409})); }""")
    page.value("setCross([8, 11, 33])")
    settled(page)
    require(page.value("fetch === ask && planes.map(p => p.views[0].found.at)") == [8, 11, 33], "a plane is an old one")
    page.value("setCross([5, 11, 33])")
    settled(page)


def check_window(page):
    """The window by the mouse, by the histogram, by numbers and by itself."""
    page.click("tool-window")
    window = page.value("S.window")
    drag(page, "picture-z", (0.5, 0.5), (0.7, 0.5))
    moved = page.value("S.window")
    require(moved["black"] < window["black"] and abs(moved["white"] - moved["black"] - window["white"] + window["black"]) < 1e-6, window, moved)
    require(not page.value("document.getElementById('auto').checked"), "the window stays automatic")
    drag(page, "histogram", (0.25, 0.5), (0.75, 0.5))
    h, found = page.value("S.histogram"), page.value("S.window")
    share = lambda a: (640 * a - 8) / 624
    for name, a in (("black", 0.25), ("white", 0.75)):
        require(abs(found[name] - (h["low"] + share(a) * (h["high"] - h["low"]))) < 0.01, name, found)
    page.set("black", 2, "change")
    page.set("white", 3, "change")
    settled(page)
    require(page.value(SEEN % "picture-z") is None, "a window above all shows something")
    page.click("auto")
    settled(page)
    require(page.value(SEEN % "picture-z") is not None, "the automatic window shows nothing")


def check_line(page):
    page.click("tool-line")
    drag(page, "picture-z", (0.25, 0.5), (0.75, 0.5))
    text = page.value("document.getElementById('length').textContent")
    require("2.6 mm, 26 voxels" in text, text)  # half of 52 voxels of 0.1 mm
    require(page.value("document.querySelectorAll('#profile polyline').length") == 2, "not a curve for each volume")
    page.click("pin")
    key(page, "picture-x", "ArrowRight")
    require("line in plane z: 0.1 mm, 1 voxel" in page.value("document.getElementById('length').textContent"), "no line from the cross")
    page.click("pin")
    key(page, "picture-x", "ArrowLeft")
    page.click("tool-cross")


def check_zoom(page):
    page.value("setCross([5, 11, 33])")
    settled(page)
    before = page.value(SEEN % "picture-z")[2]
    page.click("zoom-in")
    settled(page)
    require(page.value("S.part") == [[2, 10], [4, 31], [11, 46]] and page.value(SEEN % "picture-z")[2] > 1.8 * before, page.value("S.part"))
    bar = page.value("document.querySelector('#picture-z').parentNode.querySelector('.scale').textContent")
    require(bar == "500 µm" or bar == "0.5 mm", "the scale bar says", bar)
    page.click("tool-move")
    drag(page, "picture-z", (0.5, 0.5), (0.3, 0.5))
    require(page.value("S.part[2]") == [17, 52] and page.value("S.part[1]") == [4, 31], page.value("S.part"))
    page.value('document.getElementById("picture-z").dispatchEvent(new WheelEvent("wheel", {deltaY: 1, clientX: 200, clientY: 200, bubbles: true, cancelable: true}))')
    settled(page)
    require(page.value("S.part[2][1] - S.part[2][0]") == 42, page.value("S.part"))
    page.click("zoom-out")
    page.click("zoom-all")
    settled(page)
    require(page.value("S.part") == [[0, n] for n in SHAPE], page.value("S.part"))
    page.click("tool-cross")


def check_two(page):
    """The other volume has its ball 10 voxels to the left."""
    page.click("marks")
    middle = (BALL[2] + 0.5) / SHAPE[2]
    for name, wanted in (("show-B", middle - 10 / SHAPE[2]), ("show-A", middle)):
        page.click(name)
        settled(page)
        page.until(f"({SEEN % 'picture-z'} || [9])[0] - {wanted} < 0.02", name)
        require(abs(page.value(SEEN % "picture-z")[0] - wanted) < 0.02, name, page.value(SEEN % "picture-z"))
    page.click("show-both")
    settled(page)
    page.until(f"!document.getElementById('picture-z-b').parentNode.hidden && {SEEN % 'picture-z-b'}", "both")
    require(abs(page.value(SEEN % "picture-z-b")[0] - middle + 10 / SHAPE[2]) < 0.03, "B is elsewhere")
    page.click("show-difference")
    settled(page)
    page.until("document.getElementById('plane-z').textContent.includes('A − B')", "the difference")
    require(abs(page.value(SEEN % "picture-z")[0] - middle) < 0.02, "A − B is bright at", page.value(SEEN % "picture-z"))
    window = page.value("S.window")
    require(abs(window["black"] + window["white"]) < 1e-9, "the window of a difference is", window)
    page.click("flicker")
    page.value("globalThis.shows = new Set(), setInterval(() => shows.add(S.show), 20)")
    page.until("shows.has('A') && shows.has('B')", "A and B, one after the other")
    page.click("flicker")
    page.click("show-A")
    settled(page)
    require(page.value("flickering === 0 && document.getElementById('flicker').getAttribute('aria-pressed') === 'false'"), "it flickers on")
    page.click("marks")


def check_png(page):
    """What is saved is what is seen: three planes side by side."""
    png = page.value("""new Promise(done => pictureOfAll().toBlob(blob => { const r = new FileReader(); r.onload = () => done(r.result.split(",")[1]); r.readAsDataURL(blob); }))""")
    require(png.startswith("iVBOR"), "no PNG", png[:20])
    width = page.value("planes.reduce((sum, p) => sum + p.views[0].canvas.width + 8, -8)")
    require(page.value("pictureOfAll().width") == width, "the picture is not as wide as its planes")
    page.value("globalThis.saved = '', HTMLAnchorElement.prototype.click = function () { saved = this.download; }")
    page.click("save-png")
    page.until("saved === 'planes_' + S.at.join('_') + '.png'", "that the picture is saved")


def check_in_browser(program, folder):
    write_volume(folder / "a.mha", SHAPE, voxels(SHAPE, ball))
    write_volume(folder / "b.mha", SHAPE, voxels(SHAPE, lambda z, y, x: ball(z, y, x + 10)))
    with looking(program, folder, "--beside", "b.mha", scan="a.mha") as (_, port), driven(browser(), folder / "profile") as page:
        page.open(f"http://127.0.0.1:{port}{port.path('')}")
        page.until("document.body.dataset.pictures >= 3", "three planes")
        settled(page)
        for check in (check_cross, check_overtaken, check_window, check_line, check_zoom, check_two, check_png):
            check(page)
        (folder / "a.mha").unlink()
        page.set("number-z", 1)
        page.until("document.getElementById('error').textContent.includes('a.mha')", "that the volume is gone")
        write_volume(folder / "a.mha", SHAPE, voxels(SHAPE, ball))
        complaints = [text for text in page.said if not re.search("422|409|willReadFrequently", text)]  # answers, and this test
        require(not complaints, "the page complains:", complaints)
        unnamed = page.value("[...document.querySelectorAll('button, input, select, canvas')].filter(e => !e.textContent.trim() && "
                             "!e.closest('label') && !e.getAttribute('aria-label')).map(e => e.outerHTML)")
        require(unnamed == [], "a screen reader has no name for", unnamed)
    with looking(program, folder, scan="a.mha") as (_, port), driven(browser(), folder / "profile") as page:
        for width, dark in ((1400, False), (400, True)):
            page.open(f"http://127.0.0.1:{port}{port.path('')}", width, dark=dark)
            page.until("document.body.dataset.pictures >= 3", "three planes")
            audit(page, f"{width} pixels wide:")
            require(page.value("document.documentElement.scrollWidth") <= width, "the page is wider than", width)
            require(page.value("document.getElementById('compare').hidden"), "one volume has another one")
    print("look_volume_page: Chromium uses every control, and sees the planes of the cross")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as made:
        check_in_browser(program, pathlib.Path(made)) if "--in-browser" in sys.argv[2:] else check_as_client(program, pathlib.Path(made))


if __name__ == "__main__":
    main()
