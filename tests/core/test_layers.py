#!/usr/bin/env python3
"""The layer check passes the tree's own kind of include and fails on each planted fault.

usage: test_layers.py CHECK_LAYERS_PY
"""
import pathlib
import subprocess
import sys
import tempfile

CLEAN = {
    "core/a.hpp": "#include <vector>\n",
    "geometry/b.cpp": '#include "tandem/core/a.hpp"\n#include "tandem/geometry/c.hpp"\n',
    "io/d.cpp": "#include <hdf5.h>\n",
    "kernels/cuda/e.cu": "#include <cuda_runtime_api.h>\n",
}
# Planted file, its include, and what the check must say of it.
PLANTED = [
    ("core/up.hpp", '#include "tandem/operators/a.hpp"', "core/up.hpp:2"),
    ("geometry/up.cpp", '  #  include "tandem/io/hdf5.hpp"', "geometry/up.cpp:2"),
    ("operators/up.cpp", '#include "tandem/solvers/cgls.hpp"', "operators/up.cpp:2"),
    ("solvers/up.cpp", '#include "tandem/geometry/scan.hpp"', "solvers/up.cpp:2"),
    ("io/up.cpp", '#include "tandem/pipeline/recipe.hpp"', "io/up.cpp:2"),
    ("io/part.hpp", "#include <hdf5.h>", "io/part.hpp:2"),
    ("core/fast.cpp", "#include <cuda_runtime.h>", "core/fast.cpp:2"),
    ("kernels/cuda/up.cu", '#include "tandem/operators/projector.hpp"', "kernels/cuda/up.cu:2"),
]


def check(script, files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, script, folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


def main():
    script = sys.argv[1]
    code, said = check(script, CLEAN)
    assert code == 0, said
    for name, line, expected in PLANTED:
        code, said = check(script, {**CLEAN, name: "// planted\n" + line + "\n"})
        assert code == 1 and expected in said, f"{name}: exit {code}: {said}"
        assert len(said.strip().splitlines()) == 1, said
    print(f"layers: {len(PLANTED)} planted faults found")


main()
