#!/usr/bin/env python3
"""Reads every #include of the tree and fails on one that points up the layers (docs/architecture.md).

usage: check_layers.py ROOT
"""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "core": set(),
    "geometry": {"core"},
    "kernels": {"geometry", "core"},
    "operators": {"kernels", "geometry", "core"},
    "solvers": {"operators", "core"},
    "io": {"geometry", "core"},
    "pipeline": {"solvers", "operators", "kernels", "geometry", "io", "core"},
}
# Headers of third parties and where alone they may be seen.
ONLY_IN = {
    r"hdf5\.h|tiffio\.h|png\.h|libdeflate\.h": r"io/.*\.cpp",
    r"cuda.*|cufft.*|cublas.*": r"(core|kernels)/cuda/.*",
    r"fftw3\.h": r"kernels/cpu/.*",
    r"Eigen/.*": r"geometry/.*\.cpp|kernels/cpu/.*\.cpp",
    r"(oneapi/)?tbb/.*": r"core/parallel\.cpp",
    r"nlohmann/.*|CLI/.*": r"io/.*\.cpp|pipeline/.*\.cpp",
    r"mpi\.h": r"core/comm_mpi\.cpp",
}


def faults(root):
    for folder, below in MAY_INCLUDE.items():
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".hpp", ".cpp", ".cu", ".cuh"}:
                continue
            name = path.relative_to(root).as_posix()
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
                if not match:
                    continue
                header = match.group(2)
                if header.startswith("tandem/"):
                    target = header.split("/")[1]
                    if target != folder and target not in below:
                        yield f"{name}:{number}: {folder}/ may not include {header}"
                for pattern, place in ONLY_IN.items():
                    if re.fullmatch(pattern, header) and not re.fullmatch(place, name):
                        yield f"{name}:{number}: {header} belongs in {place}"


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "layers: every include points down")
    return 1 if found else 0


sys.exit(main())
