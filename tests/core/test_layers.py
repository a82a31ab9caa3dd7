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
    "geometry/b.cpp": '#include "../core/a.hpp"\n#include "c.hpp"\n',
    "geometry/c.hpp": "",
    "io/scans/e.hpp": "",
    "operators/a.hpp": '#include "../core/a.hpp"\n#include "../geometry/c.hpp"\n',
    "io/files/f.hpp": '#include "../../core/a.hpp"\n',
    "io/scans/d.cpp": '#include <hdf5.h>\n#include "../files/f.hpp"\n#include "../../core/a.hpp"\n#include "../../geometry/c.hpp"\n',
}
# Planted file, its include, and what the check must say of it.
PLANTED = [
    ("core/up.hpp", '#include "../operators/a.hpp"', "core/up.hpp:2"),
    ("geometry/up.cpp", '  #  include "../operators/a.hpp"', "geometry/up.cpp:2"),
    ("geometry/lost.cpp", '#include "nowhere.hpp"', "geometry/lost.cpp:2"),
    ("geometry/built.cpp", '#include "geometry/c.hpp"', "geometry/built.cpp:2"),
    ("io/scans/up.cpp", '#include "../../operators/a.hpp"', "io/scans/up.cpp:2"),
    ("io/files/up.cpp", '#include "../scans/e.hpp"', "io/files/ may not include"),
    ("io/scans/part.hpp", "#include <hdf5.h>", "io/scans/part.hpp:2"),
    ("core/fast.cpp", "#include <cuda_runtime.h>", "core/fast.cpp:2"),
    ("core/comm.cpp", "#include <mpi.h>", "core/comm.cpp:2"),
    ("solvers/s.cpp", '#include "../core/a.hpp"', "solvers/ may include operators/"),
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
