#!/usr/bin/env python3
"""Makes notebooks of examples, and runs them, so that they hold what they print.

usage: notebooks.py FOLDER EXAMPLE.py...

Cells begin at lines `# %%`. What an example says at its top becomes text. One that needs a package which is not
installed becomes a notebook without output; that is said. Exit code 1 if a cell fails.
"""
import importlib.util
import os
import pathlib
import re
import sys

import jupytext
import nbformat
from nbclient import NotebookClient


def notebook_of(path):
    notebook = jupytext.read(path, fmt="py:percent")
    top = notebook.cells[0]
    notebook.cells[0] = nbformat.v4.new_markdown_cell(top.source.strip().strip('"').replace("\n  ", "\n      "))
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook


def missing(path):
    names = re.findall(r"^(?:import|from) (\w+)", path.read_text(), re.MULTILINE)
    return [name for name in names if importlib.util.find_spec(name) is None]


def main():
    # Threads of OpenMP that spin at their barriers make small networks of torch 25 times as slow where cores are shared.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for path in map(pathlib.Path, sys.argv[2:]):
        notebook = notebook_of(path)
        if lacks := missing(path):
            print(f"{path.stem}: not run, {', '.join(lacks)} is not installed")
        else:
            where = {"metadata": {"path": str(folder)}}
            NotebookClient(notebook, timeout=300, resources=where,
                           extra_arguments=["--log-level=ERROR"]).execute()
        nbformat.write(notebook, folder / f"{path.stem}.ipynb")


if __name__ == "__main__":
    main()
