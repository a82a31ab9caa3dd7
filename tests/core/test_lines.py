#!/usr/bin/env python3
"""The count of lines passes a tree within its budgets and fails on each planted fault; --lower never raises a budget.

usage: test_lines.py COUNT_LINES_PY
"""
import pathlib
import subprocess
import sys
import tempfile

BUDGET = "cmake/lines.txt"
CLEAN = {
    BUDGET: "# A comment\n.     2\ncmake 9\ncore  3\nio    1\nio/a  2\n",
    "README.md": "1\n",
    ".ci/run": "1\n",
    "core/a.hpp": "1\n2\n",
    "core/part/b.hpp": "1\n",  # core is no large room: its folders are not rooms
    "core/picture.png": "\0\n\n\n\n",
    "io/a.hpp": "1\n",
    "io/a/a.hpp": "1\n2",  # the last line counts without its end, too
}
# Changed file, its text, and what the check must say.
PLANTED = [
    ("core/a.hpp", "1\n2\n3\n", "core has 4 lines, 1 over its budget of 3"),
    ("core/new.hpp", "1\n", "core has 4 lines, 1 over its budget of 3"),
    ("io/a/a.hpp", "1\n2\n\n", "io/a has 3 lines, 1 over its budget of 2"),
    ("README.md", "1\n2\n", ". has 3 lines, 1 over its budget of 2"),
    ("attic/a.cpp", "1\n", "attic has no budget"),
    ("io/b/a.cpp", "1\n", "io/b has no budget"),
    (BUDGET, CLEAN[BUDGET] + "gone 5\n", "gone has a budget but no file"),
]


def check(script, files, *options):
    """Exit code, lines of faults, and the budget after it."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for words in (["init", "--quiet"], ["add", "."]):
            subprocess.run(["git", "-C", folder, *words], check=True)
        done = subprocess.run([sys.executable, script, folder, *options], capture_output=True, text=True, check=False)
        said = [line for line in done.stdout.splitlines() if line.startswith("lines: ")]
        return done.returncode, said, (root / BUDGET).read_text(encoding="utf-8")


def main():
    script = sys.argv[1]
    code, said, _ = check(script, CLEAN)
    assert code == 0 and not said, said
    for name, text, expected in PLANTED:
        code, said, _ = check(script, {**CLEAN, name: text})
        assert code == 1 and len(said) == 1 and expected in said[0], f"{name}: exit {code}: {said}"
    more, less = "1\n2\n3\n4\n", ""
    code, said, budget = check(script, {**CLEAN, "core/a.hpp": more, "io/a/a.hpp": "1\n"}, "--lower")
    assert code == 1 and len(said) == 1 and "core has 5" in said[0], said
    assert budget == "# A comment\n.           2\ncmake       6\ncore        3\nio          1\nio/a        1\n", budget
    code, said, budget = check(script, {**CLEAN, BUDGET: CLEAN[BUDGET] + "gone 5\n", "io/a.hpp": less}, "--lower")
    assert code == 0 and "gone" not in budget and "\nio          0\n" in budget, budget
    print(f"lines: {len(PLANTED)} planted faults found, and --lower lowers only")


main()
