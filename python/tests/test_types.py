"""What checkers and editors see: all names, and the examples of the pages under mypy --strict."""
import inspect
import pathlib
import re
import subprocess
import sys

import pytest

import tandem

ROOT = pathlib.Path(__file__).parents[2]


def test_all_public_names_are_listed():
    found = {name for name, value in vars(tandem).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert set(tandem.__all__) == found and len(tandem.__all__) == len(found)


def test_stubs_say_what_lists_hold():
    stub = (pathlib.Path(tandem.__file__).parent / "_core.pyi").read_text()
    assert "def solver_kinds() -> list[SolverKind]" in stub
    assert not re.findall(r"(?:->|:) (?:list|dict|tuple|set)\b(?!\[)", stub)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/coming.md"])
def test_pages_pass_a_checker(page, tmp_path):
    pytest.importorskip("mypy")
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    path = tmp_path / "page.py"
    path.write_text("\n".join(blocks))
    package = str(pathlib.Path(tandem.__file__).parents[1])
    words = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--ignore-missing-imports",
             "--cache-dir", str(tmp_path), str(path)]
    ended = subprocess.run(words, capture_output=True, text=True, env={"MYPYPATH": package, "PATH": ""}, timeout=300)
    assert ended.returncode == 0, ended.stdout
