#!/usr/bin/env python3
"""Runs what pages tell their readers to type, page by page, and keeps what comes out for the site.

usage: run_pages.py FOLDER [PAGE.md...]

Without names, all pages of docs/ and the README are run. All blocks of a page marked `bash` or `python` are run in their order, in FOLDER/PAGE, where their pictures stay;
output.json has what each printed. Examples that a page shows (`<!-- example FILE: EXPRESSION; ... -->`) are run, too,
and the middle slices of the expressions become a picture. The environment has TANDEM_PROGRAM and PYTHONPATH. A block
that needs a package which is not installed ends its page; that is said. Exit code 1 if a block fails.
"""
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
from PIL import Image

docs = pathlib.Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```|^<!-- example (\S+): (.*?) -->$", re.MULTILINE | re.DOTALL)
OPTIONAL = ("torch", "scipy", "skimage", "astra")


def run_bash(code):
    words = ["bash", "-euo", "pipefail", "-c", code]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def run_python(code, names):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            exec(compile(code, "block", "exec"), names)
        except SystemExit as end:  # examples end with 0 if their claim holds
            if end.code:
                raise RuntimeError(f"exit code {end.code}\n{said.getvalue()}") from end
    return said.getvalue()


def middle_slice(image):
    slices = np.asarray(image, float).reshape(-1, *image.shape[-2:])
    return slices[len(slices) // 2]


def run_example(path, expressions):
    """Runs an example, and makes a picture of slices side by side, with the greys of the first."""
    names = {"__name__": "__main__"}
    said = run_python((docs.parent / "examples" / path).read_text(), names)
    slices = [middle_slice(eval(expression, names)) for expression in expressions.split(";")]
    low, high = slices[0].min(), slices[0].max()
    joined = np.hstack([np.pad(np.clip((s - low) / (high - low), 0, 1), 2) for s in slices])
    factor = max(1, 900 // joined.shape[1])
    picture = Image.fromarray((255 * joined).astype(np.uint8).repeat(factor, 0).repeat(factor, 1))
    picture.save(f"{pathlib.Path(path).stem}.png")
    return said


def run_page(page, folder):
    """Runs the blocks of a page in a new folder. Returns what went wrong, or nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    text, names, said = page.read_text(), {"__name__": "page"}, []
    with contextlib.chdir(folder):
        for found in BLOCK.finditer(text):
            language, code, example, expressions = found.groups()
            place = f"{page.name}:{text.count(chr(10), 0, found.start()) + 1}"
            try:
                said.append(run_example(example, expressions) if example else
                            run_bash(code) if language == "bash" else run_python(code, names))
            except ModuleNotFoundError as missing:
                if missing.name not in OPTIONAL:
                    return f"{place}: {missing}"
                print(f"pages: {place}: from here on not run, {missing.name} is not installed")
                break
            except Exception as error:
                return f"{place}: {type(error).__name__}: {error}"
    (folder / "output.json").write_text(json.dumps(said))
    return ""


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    os.environ["PATH"] = f"{pathlib.Path(os.environ['TANDEM_PROGRAM']).parent}:{os.environ['PATH']}"
    os.environ["TANDEM_CACHE"] = str(folder / "cache")
    pages = [docs / name for name in sys.argv[2:]] or sorted(docs.glob("*.md"))
    pages += [] if sys.argv[2:] else [docs.parent / "README.md"]
    failures = [run_page(page, folder / page.stem) for page in pages if BLOCK.search(page.read_text())]
    for failure in filter(None, failures):
        print(f"pages: {failure}", file=sys.stderr)
    return any(failures)


if __name__ == "__main__":
    sys.exit(main())
