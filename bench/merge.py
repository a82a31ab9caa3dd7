#!/usr/bin/env python3
"""Merges new results into the file of their machine, where each takes the place of the older one of its name.

    python bench/merge.py bench/results/h200.json NEW.json... --command "tandem bench ..." [--driver VERSION] [--date DATE]

NEW.json is what `--json` wrote; its name without .json is the name of the result. A row has a line of its own, so that a
difference of two versions shows which figures changed.
"""
import argparse
import datetime
import json
import pathlib

FACTS = ("name", "date", "driver", "command")  # said of a result before what its report has
WIDTH = 1000  # characters of a line: longer lists and objects have a line for each member


def written(value, indent=""):
    """JSON in which lists and objects of plain values stand on one line."""
    line = json.dumps(value, ensure_ascii=False)
    members = list(value.values()) if isinstance(value, dict) else value
    plain = not isinstance(value, (dict, list)) or not any(isinstance(member, (dict, list)) for member in members)
    if plain or (len(line) < WIDTH and indent.count(" ") >= 3):
        return line
    inner = indent + " "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {written(member, inner)}" for key, member in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + written(member, inner) for member in value) + f"\n{indent}]"


def result_of(name, report, facts):
    """A report as a result of this name, its rows last."""
    if isinstance(report, list):
        report = {"rows": report}
    said = {"name": name, **{key: value for key, value in facts.items() if value}}
    rows_last = sorted(report, key=lambda key: key == "rows")
    return said | {key: report[key] for key in rows_last if key not in FACTS}


def merged(results, new):
    return sorted([*(old for old in results if old["name"] != new["name"]), new], key=lambda result: result["name"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path, nargs="+")
    parser.add_argument("--command", required=True)
    parser.add_argument("--driver")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    asked = parser.parse_args()
    machine = json.loads(asked.file.read_text())
    for file in asked.new:
        facts = {"date": asked.date, "driver": asked.driver, "command": asked.command}
        machine["results"] = merged(machine["results"], result_of(file.stem, json.loads(file.read_text()), facts))
    asked.file.write_text(written(machine) + "\n")


if __name__ == "__main__":
    main()
