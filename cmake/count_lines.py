#!/usr/bin/env python3
"""Prints the lines of each room beside its budget (cmake/lines.txt), and fails where a room has more, where a room has
no budget, and where a budget has no room.

usage: count_lines.py ROOT [--lower]

A room is a folder of the root. Each folder of a large room is a room as well. The room "." has the files of the root and
of hidden folders. Tracked text files count, images do not. --lower writes today's lines where they are fewer, never more.
"""
import collections
import pathlib
import subprocess
import sys

BUDGET = "cmake/lines.txt"
LARGE = {"apps", "bench", "io", "kernels", "pipeline"}
SKIPPED = 77  # exit code: nothing was counted


def room_of(name):
    folders = name.split("/")[:-1]
    if not folders or folders[0].startswith("."):
        return "."
    return "/".join(folders[: 2 if folders[0] in LARGE else 1])


def counted(root):
    """{room: lines}, or None if root is not a git checkout."""
    command = ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        return None
    lines = collections.Counter()
    for name in listed.stdout.split("\0"):
        path = root / name
        if not path.is_file():
            continue
        data = path.read_bytes()
        if b"\0" not in data:
            lines[room_of(name)] += len(data.splitlines())
    return lines


def budgets_in(file):
    """The comment lines, and {room: lines}."""
    text = file.read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in text if line and not line.startswith("#")]
    return [line for line in text if line.startswith("#")], {room: int(lines) for room, lines in rows}


def lower(file, lines):
    comments, budgets = budgets_in(file)
    kept = {room: min(budget, lines[room]) for room, budget in budgets.items() if room in lines}
    width = max(map(len, kept), default=0)
    rows = [f"{room:<{width}} {kept[room]:>7}" for room in sorted(kept)]
    file.write_text("\n".join(comments + rows) + "\n", encoding="utf-8")


def table(lines, budgets):
    for room in sorted(lines):
        yield f"{room:<20} {lines[room]:>7} of {budgets.get(room, 0):>7}"
    yield f"{'all':<20} {sum(lines.values()):>7} of {sum(budgets.values()):>7}"


def faults(lines, budgets):
    for room in sorted(lines.keys() | budgets.keys()):
        if room not in budgets:
            yield f"lines: {room} has no budget: write its {lines[room]} lines into {BUDGET}, with the reason in the commit"
        elif room not in lines:
            yield f"lines: {room} has a budget but no file: `make lines LOWER=1` takes it out of {BUDGET}"
        elif lines[room] > budgets[room]:
            yield (f"lines: {room} has {lines[room]} lines, {lines[room] - budgets[room]} over its budget of {budgets[room]}: "
                   f"take as many out, or raise {BUDGET} in the commit of the feature, with the reason")


def main():
    root = pathlib.Path(sys.argv[1])
    lines = counted(root)
    if lines is None:
        print("lines: not counted, this is no git checkout")
        return SKIPPED
    if "--lower" in sys.argv[2:]:
        lower(root / BUDGET, lines)
    budgets = budgets_in(root / BUDGET)[1]
    found = list(faults(lines, budgets))
    print("\n".join([*table(lines, budgets), *found]))
    return 1 if found else 0


sys.exit(main())
