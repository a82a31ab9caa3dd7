#!/usr/bin/env python3
"""Draws the pictures that docs/ and README.md keep: pictures.py PROGRAM DATA FOLDER

The program makes the volumes in FOLDER, by the commands that docs/pictures.md has. DATA has the measured scans, in any
folder: tooth.h5, sinogram_360_neutron_image.tif, and tiffs/, flat_00001.tiff, dark_00001.tiff, angles.txt of the
capsule, htc2022_ta_full.mat.
What is missing is named, and its picture stays as it is. All panels of a picture have one window of greys, that of the
best of them, and voxels of whole pixels. A scale bar counts voxels, where the scan does not know its pitch.

Needs numpy, h5py, pillow and the font DejaVu Sans. The pairs of docs/wrong.md are made by the blocks of that page, and
one of these needs the package for Python.
"""
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import h5py
import numpy as np
from PIL import Image, ImageDraw, ImageFont

import run_pages

docs = pathlib.Path(__file__).resolve().parents[1]
SMALL, GAP = 17, 10  # pixels of a picture of 900 across, as pages show it


@dataclasses.dataclass
class Panel:
    """A slice with its caption."""

    caption: str
    slice: np.ndarray


@dataclasses.dataclass
class Style:
    columns: int
    factor: int  # pixels a voxel
    window: tuple
    bar: int  # voxels
    detail: tuple = ()  # rows and columns of what a second picture shows, larger: (first, last, first, last)
    best: int = -1  # the panel with a frame


def window_of(panel):
    low, high = np.percentile(panel.slice, (0.5, 99.8))
    return low - 0.05 * (high - low), high + 0.05 * (high - low)


def grey(voxels, window, factor):
    low, high = window
    levels = (255 * np.clip((voxels - low) / (high - low), 0, 1)).astype(np.uint8)
    return Image.fromarray(levels.repeat(factor, 0).repeat(factor, 1))


def draw_bar(draw, style, height, font):
    """At the lower left, with its length above it. All panels have the same, so the first one shows it."""
    x, y = height // 40, height - height // 40
    thick, font = max(3, font.size // 5), font.font_variant(size=font.size * 3 // 4)
    draw.rectangle((x, y - thick, x + style.bar * style.factor, y), fill=255)
    draw.text((x, y - thick - font.size // 4), f"{style.bar} voxels", fill=255, font=font, anchor="ls", stroke_width=2,
              stroke_fill=0)


def drawn(panel, style, font, has_bar):
    """A panel: the slice, below it its detail in a larger scale, below these the caption."""
    parts = [grey(panel.slice, style.window, style.factor)]
    if has_bar:
        draw_bar(ImageDraw.Draw(parts[0]), style, parts[0].height, font)
    if style.detail:
        top, bottom, left, right = style.detail
        scale = parts[0].width // (right - left)
        box = [style.factor * n for n in (left, top, right, bottom)]
        ImageDraw.Draw(parts[0]).rectangle(box, outline=255, width=2)
        parts.append(grey(panel.slice[top:bottom, left:right], style.window, scale))
    strip = Image.new("L", (parts[0].width, font.size * (3 + 2 * panel.caption.count("\n")) // 2), 255)
    place = (strip.width // 2, strip.height // 2)
    ImageDraw.Draw(strip).multiline_text(place, panel.caption, fill=0, font=font, anchor="mm", align="center")
    parts.append(strip)
    whole = Image.new("L", (parts[0].width, sum(p.height for p in parts) + GAP * (len(parts) - 2)), 255)
    y = 0
    for part in parts:
        whole.paste(part, ((whole.width - part.width) // 2, y))
        y += part.height + (GAP if part is not parts[-2] else 0)
    return whole


def draw(name, panels, style, greys=256):
    """One picture of several panels."""
    across = style.columns * panels[0].slice.shape[1] * style.factor + GAP * (style.columns - 1)
    font = ImageFont.truetype("DejaVuSans.ttf", round(SMALL * across / 900))
    made = [drawn(panel, style, font, k == 0) for k, panel in enumerate(panels)]
    lines = -(-len(made) // style.columns)
    high = made[0].height
    sheet = Image.new("L", (across, lines * high + GAP * (lines - 1)), 255)
    for k, panel in enumerate(made):
        x, y = k % style.columns * (panel.width + GAP), k // style.columns * (high + GAP)
        sheet.paste(panel, (x, y))
        if k == style.best:
            edge = panels[k].slice.shape[0] * style.factor
            ImageDraw.Draw(sheet).rectangle((x + 8, y + 8, x + panel.width - 9, y + edge - 9), outline=255, width=5)
    sheet = sheet.point(lambda level: round(level * (greys - 1) / 255) * 255 // (greys - 1))
    sheet.save(docs / name, optimize=True)
    print(f"{name}: {sheet.width} x {sheet.height}, greys {style.window[0]:.4g} to {style.window[1]:.4g}")


class Maker:
    def __init__(self, program, data, folder):
        self.program, self.data, self.folder = program.resolve(), data, folder
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, *words):
        subprocess.run([str(self.program), *map(str, words), "--quiet", "--overwrite"], check=True, cwd=self.folder,
                       stdout=subprocess.DEVNULL)

    def made(self, scan, name, *options):
        """The middle slice of a volume, and its PSNR if the options name a truth."""
        self.run("recon", scan, "-o", f"{name}.h5", "--json", f"{name}.json", *options)
        report = json.loads((self.folder / f"{name}.json").read_text())
        return self.middle(name), report.get("quality", {}).get("psnr_db")

    def middle(self, name):
        with h5py.File(self.folder / f"{name}.h5") as file:
            volume = file["exchange/data"]
            return volume[len(volume) // 2].astype(float)

    def find(self, name):
        found = sorted(self.data.rglob(name))
        if not found:
            raise FileNotFoundError(f"{name} is not in {self.data}")
        return found[0].resolve()


def demo(maker):
    maker.run("simulate", "-o", "demo.h5", "--size", 256, "--bins", 256, "--views", 90, "--photons", "1e4",
              "--truth", "truth.h5")
    panels = [Panel("truth\n", maker.middle("truth"))]
    for name, caption, *options in (("fbp", "FBP"), ("hann", "FBP, Hann window", "--fbp-filter", "hann"),
                                    ("cgls", "CGLS until the noise", "--reconstruction-algorithm", "cgls", "--stop",
                                     "discrepancy", "--iterations", 50),
                                    ("tv", "total variation", "--reconstruction-algorithm", "tv")):
        slice_, psnr = maker.made("demo.h5", name, "--truth", "truth.h5", *options)
        panels.append(Panel(f"{caption}\n{psnr:.1f} dB", slice_))
    draw("demo.png", panels, Style(5, 2, (0, panels[0].slice.max() / 2), 50, (34, 66, 96, 160)))


def pair(maker, name, scan, options, ways, style):
    """Two panels whose commands differ in some options; the second is the better one."""
    panels = [Panel(caption, maker.made(scan, "pair", *options, *more)[0]) for caption, *more in ways]
    draw(f"pictures/{name}.png", panels, dataclasses.replace(style, window=window_of(panels[1])))


def rods(maker):
    pair(maker, "rods", maker.find("sinogram_360_neutron_image.tif"),
         ("--arc", "360,inclusive", "--air-columns", "0:30", "--rotation-axis", 244.8,
          "--region", "84:420,100:436,0:1"),
         (("as it is",), ("--remove-stripe-method auto", "--remove-stripe-method", "auto")), Style(2, 2, (), 50))


def axis(maker):
    tiffs = maker.find("raw_00000.tiff").parent
    options = ("--flats", tiffs.parent / "flat_00001.tiff", "--darks", tiffs.parent / "dark_00001.tiff", "--angles",
               f"{tiffs.parent / 'angles.txt'}[10:101]", "--detector-rows", "96:97")
    panels = [Panel(f"axis {k}", maker.made(tiffs, "axis", *options, "--rotation-axis", k)[0]) for k in range(83, 89)]
    panels[3].caption += ", the sharpest"
    draw("pictures/sheet.png", panels, Style(3, 3, window_of(panels[3]), 25, best=3))


def half(maker):
    maker.run("simulate", "--phantom", "foam", "--size", 256, "--rows", 1, "--views", 720, "--arc", 360, "--bins", 160,
              "--axis-bin", 30, "-o", "half.h5")
    panels = [Panel("about the middle", maker.made("half.h5", "foam", "--rotation-axis", 79.5)[0]),
              Panel("about the axis that was found", maker.made("half.h5", "foam", "--rotation-axis=auto")[0])]
    size = panels[1].slice.shape[0]
    small = panels[0].slice.shape[0]
    if small < size:  # the field of view is smaller there: on grey, so that voxels are as large
        before, half_gap = np.full((size, size), np.nan), (size - small) // 2
        before[half_gap:half_gap + small, half_gap:half_gap + small] = panels[0].slice
        window = window_of(panels[1])
        panels[0].slice = np.where(np.isnan(before), sum(window) / 2, before)
    draw("pictures/half.png", panels, Style(2, 2, window_of(panels[1]), 50))


def few(maker):
    maker.run("simulate", "--phantom", "foam", "--size", 256, "--rows", 1, "--views", 60, "--photons", "2e3", "-o",
              "few.h5")
    pair(maker, "few", "few.h5", (), (("FBP, Hann window", "--fbp-filter", "hann"),
                                      ("total variation", "--reconstruction-algorithm", "tv")), Style(2, 2, (), 50))


def tooth(maker):
    pair(maker, "tooth", maker.find("tooth.h5"),
         ("--rotation-axis", 295.5, "--detector-rows", ":1", "--views", "::8", "--size", 320),
         (("FBP, Hann window", "--fbp-filter", "hann"), ("total variation", "--reconstruction-algorithm", "tv")),
         Style(2, 2, (), 50))


def arc(maker):
    """A disc with holes from 30 degrees."""
    scan = maker.find("htc2022_ta_full.mat")
    options = ("--minus-log", "false", "--air-columns", "0:16", "--beam-hardening", "1,-0.0009,0.0711", "--binning", 2,
               "--size", 256, "--voxel-size", 0.29664)
    ways = (("FBP",), ("total variation", "--reconstruction-algorithm", "tv"),
            ("--limited-angle auto", "--photons", 40000, "--limited-angle", "auto", "--shell", 4))
    panels = [Panel(caption, maker.made(scan, "arc", *options, "--views", "0:61", *more)[0]) for caption, *more in ways]
    panels.append(Panel("FBP of the whole turn", maker.made(scan, "arc", *options)[0]))
    draw("pictures/arc.png", panels, Style(4, 1, (-0.01, 0.05), 50))


def groups(maker):
    """A cone by both of its models, and ten times what differs, from noisy views."""
    panels = []
    for phantom, title in (("ellipsoids", "ellipsoids"), ("shepp-logan", "Shepp-Logan"), ("foam", "foam")):
        maker.run("simulate", "--phantom", phantom, "--geometry", "cone", "--sod", 300, "--sdd", 450, "--pixel-size",
                  1.5, "--size", 96, "--rows", 120, "--bins", 144, "--views", 192, "--photons", "1e5", "-o", "cone.h5")
        options = ("--fbp-filter", "hann", "--size", 96, "--device", "cpu", "--model")
        other, mine = (maker.made("cone.h5", "by", *options, model)[0]
                       for model in ("separable_footprint", "hierarchical"))
        low, high = window_of(Panel("", other))
        panels += [Panel(f"{title}, footprints", (other - low) / (high - low)),
                   Panel(f"{title}, groups", (mine - low) / (high - low)),
                   Panel("10 times the difference", 0.5 + 10 * (mine - other) / (high - low))]
    draw("pictures/groups.png", panels, Style(3, 3, (0, 1), 25))


def differing(blocks):
    """The options of the commands for wrong.h5 and mended.h5 that the other one does not have."""
    said = {}
    for line in blocks.replace("\\\n", " ").splitlines():
        for name in re.findall(r"^tandem recon .*-o (wrong|mended)\.h5", line):
            said[name] = re.findall(r"--\S+(?: [^-]\S*| -\d\S*)*", shlex.join(shlex.split(line)))
    return [" ".join(o for o in said[a] if o not in said[b]) or "as it is"
            for a, b in (("wrong", "mended"), ("mended", "wrong"))]


def wrong(maker):
    """The pairs of docs/wrong.md: each picture has its commands below it, and those above that make its scan."""
    os.environ["PATH"] = f"{maker.program.parent}:{os.environ['PATH']}"
    narrow = {"wrong-cupping": (0.8, 1.12), "wrong-metal": (-0.15, 1.65)}  # shares of the main material
    folder = maker.folder / "wrong"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    page, names, failed = (docs / "wrong.md").read_text(), {"__name__": "page"}, []
    for before, name, blocks in re.findall(r"(?:\A|\n\n)(```python\n.*?```\n\n)?!\[[^\]]*\]\(pictures/(wrong-\w+)\.png\)"
                                           r"\n(```bash\n.*?```)\n", page, re.DOTALL):
        try:
            with contextlib.chdir(folder):
                for language, code, *_ in run_pages.BLOCK.findall(before + blocks + "\n"):
                    _ = run_pages.run_bash(code) if language == "bash" else run_pages.run_python(code, names)
        except (ImportError, RuntimeError) as error:
            print(f"{name}: left as it is, {error}")
            failed.append(name)
            continue
        slices = [maker.middle(f"wrong/{which}") for which in ("wrong", "mended")]
        panels = [Panel(*both) for both in zip(differing(blocks), slices)]
        size = max(panel.slice.shape[0] for panel in panels)
        main_material, shares = np.percentile(panels[1].slice, 75), narrow.get(name)
        window = [main_material * share for share in shares] if shares else window_of(panels[1])
        for panel in panels:  # the smaller one on grey, so that voxels are as large
            gap = size - panel.slice.shape[0]
            panel.slice = np.pad(panel.slice, (gap // 2, gap - gap // 2), constant_values=sum(window) / 2)
        draw(f"pictures/{name}.png", panels, Style(2, 320 // size + 1, window, 25), 48)
    if failed:
        raise FileNotFoundError(", ".join(failed))


def main():
    program, data, folder = map(pathlib.Path, sys.argv[1:4])
    maker, failed = Maker(program, data, folder), False
    for draw_one in (demo, rods, axis, half, few, tooth, arc, groups, wrong):
        if len(sys.argv) > 4 and draw_one.__name__ not in sys.argv[4:]:
            continue
        try:
            draw_one(maker)
        except FileNotFoundError as missing:
            print(f"{draw_one.__name__}: left as it is, {missing}")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
