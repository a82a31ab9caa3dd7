#!/usr/bin/env python3
"""Looks at the page of `tandem report`, as a text and in a headless Chromium.

usage: report_page.py PROGRAM [--in-browser]

Without a Chromium, --in-browser gives the exit code 77 (skipped). Exit code 1 if something is not as it should be.
"""
import base64
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from pages import browser, greys_of, require, require_preview, text_in

SIZE, ROWS, VIEWS, STEPS = 64, 12, 45, 25
EVIL = "</script><b id=evil>bold</b><script>document.title = 'evil'</script>"


def tandem(program, folder, *arguments, code=0):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    require(done.returncode == code, arguments, "gives", done.returncode, done.stderr)
    return done


def page_of(program, folder, run, page="page.html"):
    tandem(program, folder, "report", run, "-o", page)
    return (folder / page).read_text()


def in_page(page, element):
    return json.loads(re.search(rf'<script id="{element}" type="application/json">(.*?)</script>', page, re.DOTALL)[1])


def make_run(program, folder):
    tandem(program, folder, "simulate", "-o", "scan.h5", "--size", str(SIZE), "--rows", str(ROWS),
           "--views", str(VIEWS), "--photons", "1e4", "--truth", "truth.h5")
    tandem(program, folder, "recon", "scan.h5", "-o", "v.h5", "--reconstruction-algorithm", "tv", "--tv-weight", "0.5",
           "--iterations", str(STEPS), "--truth", "truth.h5", "--json", "run.json", "--preview", "v.png", "--dezinger",
           "3:threshold=100")


def check_text(program, folder):
    page = page_of(program, folder, "run.json")
    report = json.loads((folder / "run.json").read_text())
    require(in_page(page, "report") == report, "another report")
    check_histogram(page)
    others = set(re.findall(r"https?://[^\"' ]*", page)) - {"http://www.w3.org/2000/svg"}  # a name, never fetched
    require(not others and not re.search(r'(src|href)="(?!data:)', page), "the page names", others)
    volume = in_page(page, "volume")
    require([p["axis"] for p in volume["planes"]] == ["z", "y", "x"], volume)
    pictures = [base64.b64decode(plane["png"].split(",")[1]) for plane in volume["planes"]]
    for png, rows in zip(pictures, (SIZE, ROWS, ROWS)):
        width, height, _, _ = greys_of(png)
        require((width, height) == (SIZE, rows), width, height)
    require_preview(folder / "v.png", pictures)
    curves = report["curves"]
    require(curves["change"]["iterations"] == list(range(1, STEPS + 1)), curves["change"])
    require(curves["psnr_db"]["iterations"][-1] == STEPS and curves["objective"]["iterations"][0] == 0, curves)


def check_histogram(page):
    """All voxels are in the histogram; its ends are half a window beyond those of the picture."""
    told = in_page(page, "volume")["histogram"]
    voxels = sum(told["counts"]) + told["below"] + told["above"] + told["not_finite"]
    require(voxels == ROWS * SIZE * SIZE and told["slices"] == ROWS, told)
    require(sum(told["counts"]) > 0.95 * voxels and told["low"] < 0 < told["high"], told)


def check_times(report, seconds):
    """The time is that from the start of the run to its end: more than the work, less than the program took."""
    times = report["seconds"]
    require(times["total"] < times["run"] < seconds, times, "in a program of", seconds)
    begun = datetime.datetime.fromisoformat(report["begun"].replace("Z", "+00:00")).timestamp()
    require(abs(time.time() - begun - seconds) < 60, report["begun"])
    require(report["command_line"].startswith("tandem recon scan.h5 -o v.h5 "), report["command_line"])


def check_volume_gone(program, folder):
    (folder / "v.h5").rename(folder / "w.h5")
    volume = in_page(page_of(program, folder, "run.json"), "volume")
    require("v.h5 is no longer there" in volume["missing"], volume)
    (folder / "w.h5").rename(folder / "v.h5")
    (folder / "away").mkdir()
    for name in ("run.json", "v.h5"):  # both went to another folder
        (folder / name).rename(folder / "away" / name)
    volume = in_page(page_of(program, folder, "away/run.json"), "volume")
    require("planes" in volume, "the volume beside it is not seen")
    for name in ("run.json", "v.h5"):
        (folder / "away" / name).rename(folder / name)


def check_refused(program, folder):
    (folder / "a.json").write_text("{]")
    (folder / "b.json").write_text('{"command":"center","version":"0"}')
    deep = '{"command":"recon","version":"0","seconds":' + 200000 * "[" + 200000 * "]" + "}"
    (folder / "deep.json").write_text(deep)
    os.mkfifo(folder / "pipe.json")
    for name, more in (("seven", {"seconds": 7}), ("curves", {"curves": 3}), ("text", {"residuals": "1"})):
        (folder / f"{name}.json").write_text(json.dumps({"command": "recon", "version": "0", "seconds": {}, **more}))
    (folder / "c.html").write_text("<!doctype html> of another")
    for arguments, code, words in ((("a.json", "-o", "p.html"), 3, "a.json: is no report of tandem"),
                                   (("b.json", "-o", "p.html"), 3, "b.json: is a report of tandem center"),
                                   (("none.json", "-o", "p.html"), 3, "none.json: cannot be read"),
                                   (("deep.json", "-o", "p.html"), 3, "deep.json: is no report of tandem"),
                                   (("pipe.json", "-o", "p.html"), 3, "pipe.json: nothing comes"),
                                   (("seven.json", "-o", "p.html"), 3, "seven.json: its seconds is no object"),
                                   (("curves.json", "-o", "p.html"), 3, "curves.json: its curves is no object"),
                                   (("text.json", "-o", "p.html"), 3, "text.json: its residuals is no list"),
                                   (("run.json", "-o", "c.html"), 3, "tandem did not write it"),
                                   (("run.json", "-o", "run.json"), 2, "would overwrite"),
                                   (("run.json",), 2, "--output")):
        done = tandem(program, folder, "report", *arguments, code=code)
        require(words in done.stderr and done.stderr.count("\n") == 1, words, "is not in", done.stderr)
    require(not (folder / "p.html").exists(), "a refused run left a page")


# A curve of so many points as no call takes arguments, drawn without a browser.
LONG_CURVE = """
const fs = require("fs");
global.document = {createElementNS: (_, tag) => ({tag, a: {}, setAttribute(name, value) { this.a[name] = value; }})};
const {plot, thinned} = new Function(fs.readFileSync(process.argv[1], "utf8") + "; return {plot, thinned};")();
const points = Array.from({length: 300000}, (_, k) => [k, k === 123456 ? 1e-9 : Math.exp(-k / 1e5)]);
const svg = {replaceChildren(...nodes) { this.nodes = nodes; }};
plot(svg, [{points, kind: "curve"}], "residual", {logarithmic: true});
const kept = thinned(points), drawn = svg.nodes.find(node => node.tag === "polyline").a.points.split(" ").length;
const ends = kept[0] === points[0] && kept[kept.length - 1] === points[points.length - 1];
const few = thinned(points.slice(0, 1000)).length === 1000 && thinned([]).length === 0;
process.exit(drawn > 1000 && drawn < 5000 && ends && kept.includes(points[123456]) && few ? 0 : 1);
"""


def check_long_curve():
    if node := shutil.which("node"):
        script = pathlib.Path(__file__).resolve().parents[2] / "apps/pages/page.js"
        done = subprocess.run([node, "-e", LONG_CURVE, script], capture_output=True, text=True, timeout=60, check=False)
        require(done.returncode == 0, "300,000 residuals give no curve:", done.stderr[-500:])


def check_marks_in_texts(program, folder):
    """A name may look like a mark of the page."""
    report = json.loads((folder / "run.json").read_text())
    report.update(input="{{volume}}\n{{report}}", warnings=["{{script}}", "{{volume}}"])
    (folder / "marks.json").write_text(json.dumps(report))
    page = page_of(program, folder, "marks.json", "marks.html")
    require(in_page(page, "report")["input"] == "{{volume}}\n{{report}}", "the report is another one")
    require("planes" in in_page(page, "volume"), "the volume is another one")


def seen_in(chromium, folder, page, *more):
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
               "--disable-background-networking", f"--user-data-dir={folder / 'browser'}", "--enable-logging=stderr",
               "--virtual-time-budget=4000", *more, "--dump-dom", (folder / page).as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    require(done.returncode == 0 and not complaints, done.returncode, complaints)
    return done.stdout


def check_seen(chromium, folder):
    page = seen_in(chromium, folder, "page.html")
    numbers, report = text_in(page, "numbers"), in_page(page, "report")
    seconds = report["seconds"]["run"]
    require(numbers.startswith(f"time {seconds:.{1 if seconds >= 0.995 else 2}f} s "), numbers)
    require(re.search(rf"method tv iterations {STEPS} .*PSNR [\d.]+ dB SSIM 0\.\d+", numbers), numbers)
    require(page.count("<polyline class=\"curve newest\" points=\"") == 5, "curves:", page.count("<polyline"))
    for label in ("residual |b − Ax|", "change of a step", "objective", "PSNR, dB", "SSIM"):
        require(f">{label}" in page, "no curve of", label)
    require(page.count(">residual |b − Ax|, relative to the start, logarithmic<") == 1, "an axis does not say that it is logarithmic")
    require(len(re.findall(r"<figure><div [^>]*><img", page)) == 3 and "plane z = 6 of 12" in page, "pictures")
    require('class="scale" style="width: 15.625%;">10 bins<' in page, "no scale bar")
    require(">voxels, logarithmic<" in page and "Values of 12 slices" in page, "no histogram")
    stations = text_in(page, "stations")
    for name in ("reading", "cleaning the counts", "solving", "writing the volume", "closing the file"):
        require(re.search(rf"\b{name} [\d.]+ \d+ ", stations), name, "in", stations)
    facts, source = text_in(page, "facts"), report["source"]
    require("45 views × 12 rows × 64 bins" in facts and "parallel beam" in facts, facts)
    require("1 file, " in facts and f"checksum {source['digest']}" in facts and report["begun"][:10] in facts, facts)
    require("tv-weight 0.5" in text_in(page, "parameters"), text_in(page, "parameters"))
    require(text_in(page, "command") == report["command_line"], text_in(page, "command"))
    replaced = {s["name"]: s["replaced"] for s in report["steps"]}["dezinger"]
    require(replaced > 0 and re.match(rf"zingers and hot pixels, in sinograms {replaced:,} ", text_in(page, "steps")),
            text_in(page, "steps"))


def check_beams(program, chromium, folder):
    """A cone beam of one row is a fan beam; one of a thing is said as one."""
    tandem(program, folder, "simulate", "-o", "fan.h5", "--size", "32", "--rows", "1", "--views", "40", "--arc", "360",
           "--geometry", "cone", "--sod", "200", "--sdd", "300", "--pixel-size", "0.1")
    tandem(program, folder, "recon", "fan.h5", "-o", "f.h5", "--json", "fan.json")
    page_of(program, folder, "fan.json", "fan.html")
    page = seen_in(chromium, folder, "fan.html")
    require("fan beam, source to axis 200 mm" in text_in(page, "facts"), text_in(page, "facts"))
    require(" × 1 row × " in text_in(page, "facts") and "Values of 1 slice<" in page, text_in(page, "facts"))
    require(re.search(r'class="scale"[^>]*>[125]0* (mm|µm)<|class="scale"[^>]*>0\.[125] mm<', page), "no scale bar")


def check_any_text(program, chromium, folder):
    """Texts of a report are never HTML; a report that lacks almost everything gives a page all the same."""
    report = json.loads((folder / "run.json").read_text())
    report.update(warnings=[EVIL], algorithm=EVIL, config="a = " + EVIL, input=EVIL)
    (folder / "evil.json").write_text(json.dumps(report))
    page_of(program, folder, "evil.json", "evil.html")
    page = seen_in(chromium, folder, "evil.html")
    require("<b id" not in page and "<title>evil" not in page, "a text is HTML")
    require("&lt;b id=evil&gt;" in text_in(page, "warnings"), text_in(page, "warnings"))
    bare = {"command": "recon", "version": "0", "seconds": {}, "residuals": [1, None], "stations": [5]}
    (folder / "bare.json").write_text(json.dumps(bare))
    page_of(program, folder, "bare.json", "bare.html")
    require("no pictures: the report names no volume" in seen_in(chromium, folder, "bare.html"), "bare")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    chromium = browser() if "--in-browser" in sys.argv[2:] else None
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        begin = time.monotonic()
        make_run(program, folder)
        check_times(json.loads((folder / "run.json").read_text()), time.monotonic() - begin)
        check_text(program, folder)
        if chromium:
            check_seen(chromium, folder)
            check_beams(program, chromium, folder)
            check_any_text(program, chromium, folder)
        else:
            check_volume_gone(program, folder)
            check_refused(program, folder)
            check_marks_in_texts(program, folder)
            check_long_curve()
    print("report_page: " + ("Chromium shows the report" if chromium else "the page has the report and the volume"))


main()
