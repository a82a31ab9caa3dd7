#!/usr/bin/env python3
"""Reads every #include of the tree and fails on one that does not resolve from the files alone, or points up the layers
(docs/architecture.md).

usage: check_layers.py ROOT
"""
import os
import pathlib
import re
import sys

# What each room includes: no more than is in use, so that a new dependency is a decision. Who may include a room
# may include the rooms within it.
MAY_INCLUDE = {
    "core": set(),
    "geometry": {"core"},
    "kernels": {"geometry", "core"},
    "operators": {"kernels", "geometry", "core"},
    "solvers": {"operators", "core"},
    "io/files": {"core"},
    "io/hdf5": {"io/files", "core"},
    "io/scans": {"io/hdf5", "io/files", "geometry", "core"},
    "io/volumes": {"io/scans", "io/hdf5", "io/files", "geometry", "core"},
    "io": {"io/volumes", "io/scans", "io/hdf5", "io/files", "core"},
    "counts": {"operators", "kernels", "geometry", "io", "core"},
    # What finds a geometry from line integrals in memory. A pipeline finds the axis by it, and judges slices.
    "calibration": {"counts", "operators", "kernels", "geometry", "core"},
    # A plan, its beams and its methods know each other; none knows a station, a route, or what watches a run.
    "pipeline/plan": {"pipeline/beams", "pipeline/methods", "counts", "solvers", "operators", "geometry", "io", "core"},
    "pipeline/beams": {"pipeline/plan", "pipeline/methods", "operators", "geometry", "core"},
    "pipeline/methods": {"pipeline/plan", "pipeline/beams", "pipeline/watch", "counts", "solvers", "operators", "io", "core"},
    "pipeline/watch": {"pipeline/plan", "calibration", "counts", "solvers", "geometry", "io", "core"},
    # What completes a recipe from a scan: it looks at counts, and makes no plan.
    "pipeline/complete": {"pipeline/watch", "pipeline/memory", "pipeline/methods", "pipeline/plan", "pipeline/beams", "calibration", "counts", "geometry", "io", "core"},
    "pipeline/memory": {"pipeline/plan", "pipeline/methods", "core"},
    "pipeline/stations": {"pipeline/plan", "pipeline/beams", "pipeline/methods", "pipeline/watch", "counts",
                          "operators", "kernels", "io", "core"},
    "pipeline/routes": {"pipeline/stations", "pipeline/memory", "pipeline/plan", "pipeline/beams", "pipeline/methods",
                        "pipeline/watch", "counts", "operators", "geometry", "core"},
    "pipeline": {"pipeline/complete", "pipeline/stations", "pipeline/memory", "pipeline/plan", "pipeline/beams", "pipeline/methods",
                 "pipeline/watch", "calibration", "operators", "geometry", "io", "core"},
    "options": {"counts", "io", "geometry", "core"},
    "forecast": {"pipeline", "counts", "solvers", "io", "core"},
    "bench": {"pipeline", "counts", "solvers", "operators", "kernels", "geometry", "io", "core"},
    "apps/beams": {"apps/options", "core"},
    "apps/options": {"options", "apps/beams", "apps/runs", "apps", "counts", "operators", "kernels", "geometry", "io", "pipeline", "solvers", "core"},
    "apps/pages": {"options", "apps/runs", "apps", "solvers", "geometry", "io", "pipeline", "core"},
    "apps/reports": {"apps/options", "apps/pages", "apps/runs", "apps", "calibration", "forecast", "pipeline", "solvers", "operators", "io", "core"},
    "apps/runs": {"options", "apps/options", "apps/pages", "apps", "pipeline", "counts", "solvers", "io", "core"},
    "apps/look": {"options", "apps/options", "apps/pages", "apps/reports", "apps/runs", "apps", "calibration", "counts", "io", "pipeline", "core"},
    "apps/commands": {"options", "apps/beams", "apps/look", "apps/options", "apps/pages", "apps/reports", "apps/runs", "apps", "bench", "calibration", "pipeline", "counts",
                      "operators", "kernels", "io", "core"},
    "apps": {"options", "apps/options", "apps/runs", "operators", "kernels", "geometry", "io", "core"},
    "python": {"apps", "options", "pipeline", "solvers", "operators", "geometry", "io", "core"},
    "examples": {"pipeline", "solvers", "operators", "geometry", "io", "core"},
    "tests": {"options", "forecast", "pipeline", "calibration", "counts", "solvers", "operators", "kernels", "geometry", "io", "core"},
}
# Headers of third parties and where alone they may be seen.
ONLY_IN = {
    r"png\.h": r"io/png\.cpp|tests/support/png_canvas\.hpp",
    r"pugixml\.hpp": r"io/.*",
    r"hdf5\.h|tiffio\.h|libdeflate\.h|lz4\.h|zstd\.h|blosc\.h": r"(io|tests)/.*\.cpp|examples/grow_scan\.cpp",
    r"cuda.*|cufft.*|cub/.*|nvtx3/.*": r"(core|kernels)/cuda/.*|(bench|tests)/cuda/.*",
    r"mpi\.h": r"core/mpi/mpi\.cpp",
    r"nccl\.h": r"core/cuda/nccl\.cpp",
    r"hwy/.*": r"kernels/cpu/.*|core/instruction_set\.cpp",
    r"pocketfft.*": r"kernels/cpu/fourier_transform\.cpp",
    r"dejavu_sans\.hpp": r"io/files/font\.cpp",
    r"httplib\.h": r"apps/pages/local_server\.cpp",
    r"Eigen/.*": r"(calibration|tests)/.*",
    r"(oneapi/)?tbb/.*": r"core/parallel\.cpp|tests/core/.*",
    r"nlohmann/.*": r"io/.*\.cpp|io/files/json\.hpp|options/recipe\..pp|(apps|bench|tests|examples)/.*",
    r"CLI/.*": r"apps/options/command_line\.cpp",
    r"toml\+\+/.*": r"options/toml\.cpp",
    r"nanobind/.*": r"python/src/.*",
}
SOURCES = {".hpp", ".cpp", ".cu", ".cuh"}
OWN_ROOT = "tests/install"  # a project of somebody else


def includes(root):
    """(file, line number, whether in quotes, what is included)"""
    for folder in sorted({room.split("/")[0] for room in MAY_INCLUDE}):
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in SOURCES or name.startswith(OWN_ROOT):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
                if match:
                    yield name, number, match.group(1) == '"', match.group(2)


def room_of(name):
    """The room of a file: the longest folder of the table on its path."""
    folders = name.split("/")[:-1]
    for end in range(len(folders), 0, -1):
        if "/".join(folders[:end]) in MAY_INCLUDE:
            return "/".join(folders[:end])
    return folders[0]


def faults(root):
    met = {room: set() for room in MAY_INCLUDE}
    for name, number, quoted, header in includes(root):
        room = room_of(name)
        if quoted:
            target = os.path.normpath(os.path.join(os.path.dirname(name), header))
            if not (root / target).is_file():
                yield f"{name}:{number}: {header} is no file beside {name}"
                continue
            other = room_of(target)
            met[room].add(other)
            met[room].add(other.split("/")[0])
            if other != room and not {other, other.split("/")[0]} & MAY_INCLUDE[room]:
                yield f"{name}:{number}: {room}/ may not include {header}"
            continue
        for pattern, place in ONLY_IN.items():
            if re.fullmatch(pattern, header) and not re.fullmatch(place, name):
                yield f"{name}:{number}: {header} belongs in {place}"
    for room, below in MAY_INCLUDE.items():
        for unused in sorted(below - met[room]):
            if any((root / room).glob("*.[hc]pp")) and (root / unused).is_dir():
                yield f"{room}/ may include {unused}/, and nothing there does"


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "layers: every include resolves and points down")
    return 1 if found else 0


sys.exit(main())
