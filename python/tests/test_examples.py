"""Each example ends with 0 if its claim holds."""
import os
import pathlib
import subprocess
import sys

import pytest

import tandem

EXAMPLES = sorted((pathlib.Path(__file__).parents[2] / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_keeps_its_claim(path, tmp_path):
    for line in path.read_text().splitlines():
        if line.startswith("import ") or line.startswith("from "):
            pytest.importorskip(line.split()[1].split(".")[0])
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tandem.__file__).parents[1])}
    ended = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment,
                           cwd=tmp_path, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
