#!/usr/bin/env python3
"""Compares the lists that README.md and docs/ have with what the program says of itself.

usage: lists_of_docs.py PROGRAM       Exit code 1 if a list lacks something, or has too much.

Compared elsewhere: formulas of methods (tests/pipeline/test_methods.cpp), variants (tests/kernels/test_variants.cpp), fields of
files (tests/io/scans/test_fields.cpp), names of the Python package (docs/site/conf.py).
"""
import json
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
# Options of other programs: mpirun and srun, Slurm, Apptainer, Docker, CMake, GoogleTest, scripts of tandem.
OTHERS = set("--mpi --ntasks-per-node --nodes --gpus-per-node --cpus-per-task --signal --requeue --array --gpus --mca "
             "--nv --bind --build --preset --install --prefix --target --gtest_filter --gtest_also_run_disabled_tests "
             "--version --cone --sample --way --tandem --measure --rm --entrypoint --build-arg --draws --quantities "
             "--body --beams --ranks".split())


def text(name):
    return (root / name).read_text()


def pages():
    return [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]


def said(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


class Help:
    """What the program prints of its commands."""

    def __init__(self, program):
        listed = re.search(r"^Commands:\n(.*?)\n\n", said(program, "help") + "\n\n", re.MULTILINE | re.DOTALL)[1]
        self.commands = re.findall(r"^  (\w+)", listed, re.MULTILINE)
        self.of = {command: said(program, "help", command, "all") for command in self.commands}
        self.instructions = re.search(r"^instructions (.*)$", said(program, "--version"), re.MULTILINE)[1].split(", ")

    def options(self):
        return {option for help_ in self.of.values() for option in re.findall(r"--[a-z][a-z0-9-]*", help_)}

    def choices(self, option, command="recon"):
        """The words of "--option A[:NAME=VALUE]|B|C"."""
        words = re.search(rf"^  (?:-\w,)?{option} (\S+)", self.of[command], re.MULTILINE)[1]
        return re.sub(r"\[[^\]]*\]", "", words).split("|")

    def words(self, option, command="recon"):
        """The words of an option whose help ends by ": A, B, C"."""
        lines = re.search(rf"^  {option} .*?(?=^  -|^\n)", self.of[command], re.MULTILINE | re.DOTALL)[0]
        return " ".join(lines.split()).rpartition(": ")[2].split(", ")

    def section(self, title):
        """Names of the lines "  NAME: what it does" below a title."""
        body = re.search(rf"^{title}.*?:\n((?:  .*\n)+)", self.of["recon"], re.MULTILINE)[1]
        return re.findall(r"^  ([\w-]+):", body, re.MULTILINE)


def first_column(name, head):
    """The words in backticks of the first cells of the table that begins by this line."""
    table = text(name).partition(head + "\n")[2].split("\n\n")[0]
    return [word for row in table.splitlines()[1:] for word in re.findall(r"`([^`]+)`", row.split(" | ")[0])]


def steps_of_docs():
    table = text("docs/preprocessing.md").partition("| step | works on | does |\n")[2].split("\n\n")[0]
    cells = [row.strip("| ").split(" | ")[0] for row in table.splitlines()[1:]]
    return [name for cell in cells if not cell.startswith("(") for name in cell.split(", ")]


def exit_codes():
    """0, and what failures become in the program."""
    found = re.findall(r"Failure\{(\d)|early\(.*?, (\d)\)", text("apps/runs/failure.cpp"))
    return sorted({0, *(int(a or b) for a, b in found)})


def documented_exit_codes():
    table = text("docs/recon.md").partition("| exit code | meaning |\n")[2].split("\n\n")[0]
    return [int(code) for code in re.findall(r"^\| (\d) \|", table, re.MULTILINE)]


def compare_formats(faults):
    """Formats of the README are those of docs/formats.md, and those whose fields docs/fields.md has are among them."""
    formats = text("docs/formats.md")
    scans, volumes = re.search(r"^\| \[formats\]\(docs/formats.md\) \| (.*?) and settings .*?; volumes as (.*?) \|$",
                               text("README.md"), re.MULTILINE).groups()
    rows = re.findall(r"^\| `\..*?` \| (?:one )?([\w-]+)", formats, re.MULTILINE)
    same("volumes, README.md", set(volumes.split(", ")), set(rows) - {"BigTIFF"}, faults)
    first = formats.partition("| given | what is read |")[2].split("\n\n")[0]
    listed = scans.split(", ")
    faults += [f"docs/formats.md: no row of the first table has {name}" for name in listed if name not in first]
    beside = formats.partition("## Settings beside images")[2].split("\n\n")[1]
    for title in re.findall(r"^## ([\w-]+)", text("docs/fields.md"), re.MULTILINE):
        if title not in listed and f"| {title} " not in beside:
            faults.append(f"{title} of docs/fields.md is neither in README.md nor in docs/formats.md")


# Where the program has the names that these options take.
TABLES = {
    "--precision": ("core/execution.cpp", r"precisions\{(.*?)\};", r'"(\w+)"'),
    "--padding": ("operators/filter.cpp", r"paddings\[\] = \{(.*?)\};", r'"(\w+)"'),
    "--model": ("core/execution.cpp", r"models\{(.*?)\};", r'"(\w+)"'),
    "--dtype": ("io/volumes/volume_kind.hpp", r"voxel_types\{(.*?)\};", r"VoxelType::(\w+)"),
    "--flat-method": ("counts/combining.cpp", r"names\{(.*?)\};", r'"(\w+)"'),
    "--stop": ("apps/options/method_options.cpp", r"void parse_stop(.*?)throw", r'(?:text|name) == "(\w+)=?"'),
}


def compare_choices(h, faults):
    """Choices that help lists by hand are those of the table."""
    for option, places in TABLES.items():
        due = {choice for file, table, name in (places if isinstance(places, list) else [places])
               for choice in re.findall(name, re.search(table, text(file), re.DOTALL)[1])}
        listed = [choice.partition("=")[0] for choice in h.choices(option)]
        left_out = {"automatic"}  # no model of its own
        same(f"{option} in help", sorted(set(listed) - left_out), sorted(set(due) - left_out), faults)


def same(what, documented, due, faults):
    if documented != due:
        faults.append(f"{what}: the docs have {documented}, the program {due}")


def compare_tables(h, faults):
    """Tables, in the order of the program."""
    pages_of_commands = re.findall(r"^<!-- tandem help (\w+) all -->", text("docs/reference/options.md"), re.MULTILINE)
    same("commands, docs/reference/options.md", pages_of_commands, h.commands, faults)
    same("windows, docs/kernels/fbp.md", first_column("docs/kernels/fbp.md", "| window | value |"),
         h.choices("--fbp-filter"), faults)
    same("rules, docs/methods.md", first_column("docs/methods.md", "| `--stop` | stops |"), h.choices("--stop"), faults)
    headings = [rule for line in re.findall(r"^## (.*`.*)$", text("docs/kernels/stopping.md"), re.MULTILINE)
                for rule in re.findall(r"`([^`]+)`", line)]
    same("rules, docs/kernels/stopping.md", sorted(headings), sorted(h.choices("--stop")), faults)
    same("steps, docs/preprocessing.md", steps_of_docs(), h.section("Steps from counts"), faults)
    same("sets of flats, docs/preprocessing.md",
         first_column("docs/preprocessing.md", "| `--flat-sets` | F at the time t of a view |"),
         h.choices("--flat-sets"), faults)
    same("windows of zingers, docs/preprocessing.md",
         first_column("docs/preprocessing.md", "| `window=` | window | at the borders | in tomopy |"),
         re.search(r"^  window=(\S+): ", h.of["recon"], re.MULTILINE)[1].split("|"), faults)
    kinds = re.findall(r"^\| `\..*? \| .*?`(\w+)` \|", text("docs/formats.md"), re.MULTILINE)
    same("volumes, docs/formats.md", kinds, h.choices("--save-format"), faults)


def compare_words(h, faults):
    """Lists in sentences, and what has no table in help."""
    types = re.search(r"\*\*Types\*\* are (.*?) \(`--dtype`\)", text("docs/formats.md"))[1]
    same("types, docs/formats.md", re.split(", | and ", types), h.choices("--dtype"), faults)
    devices = re.search(r"`--device` is (.*?)\.", text("docs/devices.md").replace("...", "…"))[1].replace("…", "...")
    due = re.search(r"--device NAME(.*?)--variant", h.of["recon"], re.DOTALL)[1]
    due = re.findall(r"(?:^|\|)([\w:,.]+)", re.sub(r" ?\([^)]*\)", "", " ".join(due.split())))
    same("devices, docs/devices.md", re.findall(r"`([^`]+)`", devices), due, faults)
    same("exit codes, docs/recon.md", documented_exit_codes(), exit_codes(), faults)
    for name in set(h.words("--remove-stripe-method")) - {"none"}:
        if f"`{name}" not in text("docs/preprocessing.md"):
            faults.append(f"docs/preprocessing.md does not say what {name} is")
    for name in h.instructions:
        if name not in text("docs/kernels/instruction_sets.md"):
            faults.append(f"docs/kernels/instruction_sets.md does not have {name}")


def sources():
    """All files, by their paths from the root."""
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in ("build", ".git")]
        yield from (str((pathlib.Path(folder) / name).relative_to(root)) for name in files)


def compare_files(faults):
    """Sources that pages name are there, by the end of their paths."""
    all_ends = {path[at:] for path in sources() for at in [0, *(k + 1 for k, c in enumerate(path) if c == "/")]}
    for page in [*pages(), *sorted(root.glob("*/README.md"))]:
        for name in re.findall(r"`((?:[\w.-]+/)*[\w-]+\.(?:cpp|hpp|cuh?|py|sh|def))`", page.read_text()):
            if name not in all_ends:
                faults.append(f"{page.relative_to(root)}: {name} is not there")


def compare_names(h, faults):
    """Options, targets of make, presets and links that pages name are there."""
    options = h.options() | OTHERS
    targets = {name for names in re.findall(r"^([a-z -]+):", text("Makefile"), re.MULTILINE) for name in names.split()}
    presets = {p["name"] for p in json.loads(text("CMakePresets.json"))["configurePresets"] if not p.get("hidden")}
    for page in pages():
        words, name = page.read_text(), page.relative_to(root)
        for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9_]*(?:-[a-z0-9_]+)*", words):
            if option not in options and page.name != "fuzzing.md":
                faults.append(f"{name}: no program has {option}")
        for target in re.findall(r"(?:^    |`)make ([a-z-]+)", words, re.MULTILINE):
            if target not in targets:
                faults.append(f"{name}: make {target} is no target")
        for link in re.findall(r"\]\(([^)#:\s]+)[^):]*\)", words):
            if not (page.parent / link).exists():
                faults.append(f"{name}: {link} is not there")
    for option in re.findall(r"\{([a-z][a-z0-9-]*)\}", text("options/renamed.cpp")):
        if "--" + option not in options:
            faults.append(f"options/renamed.cpp: no program has --{option}")
    listed = re.findall(r"^\| `(\w+)` \|", text("CONTRIBUTING.md"), re.MULTILINE)
    same("presets, CONTRIBUTING.md", sorted(listed), sorted(presets), faults)
    version = re.search(r'TANDEM_VERSION "(.*)"', text("core/version.hpp"))[1]
    same("version, CITATION.cff", re.search(r"^version: (.*)$", text("CITATION.cff"), re.MULTILINE)[1], version, faults)
    count = re.search(r"(\w+) \[examples\]\(examples\)", text("README.md"))[1]
    numbers = "no one two three four five six seven eight nine ten eleven twelve".split()
    same("examples in C++, README.md", count.lower(), numbers[len(list((root / "examples").glob("[0-9]*.cpp")))], faults)


def compare_packages(faults):
    """Packages that docs/install.md names are those that the build asks for, and cmake/setup.sh installs them all."""
    needed = re.search(r"^need\(TBB.*?^if\(TANDEM_TESTS\)", text("CMakeLists.txt"), re.MULTILINE | re.DOTALL)[0]
    needed = re.findall(r"^ *need(?:_module|_header)?\(\w+ ([\w-]+)", needed, re.MULTILINE)
    listed = re.search(r"apt-get install ((?:.*\\\n)*.*)", text("docs/install.md"))[1].replace("\\", "").split()
    same("packages, docs/install.md", sorted(listed), sorted([*needed, "g++", "python3-venv"]), faults)
    installed = set(text("cmake/setup.sh").split()) | {"python3-dev"}
    faults += [f"cmake/setup.sh does not install {package}" for package in needed if package not in installed]


def main():
    h, faults = Help(sys.argv[1]), []
    for compare in (compare_tables, compare_words, compare_choices, compare_names):
        compare(h, faults)
    compare_files(faults)
    compare_formats(faults)
    compare_packages(faults)
    print("\n".join(faults) or "lists_of_docs: all lists are those of the program")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
