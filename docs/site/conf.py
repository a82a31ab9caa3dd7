"""The site of `make docs`: pages of docs/, and what is made when it is built.

A line of a page says what is put in its place:

    <!-- tandem help recon -->              what the program prints
    <!-- headers operators -->              the public headers of a folder, with their docstrings
    <!-- python tandem: fbp projector -->   names of a module, with their docstrings; KINDS: all classes of solvers
    <!-- solvers -->                        rows of a table: solvers of the program, their defaults and options
    <!-- output -->                         what the block above printed when run_pages.py ran it
    <!-- picture a.png: what is seen -->    a picture that a block of the page made
    <!-- example FILE: EXPRESSION; ... -->  an example, what it printed, and a picture of these slices

What was not run is said in its place.

Environment: TANDEM_PROGRAM is the program; PYTHONPATH has the package.
"""
import importlib
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys

from sphinx.ext.autodoc.mock import mock
from sphinx.util import logging

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import headers
import run_pages

root = pathlib.Path(__file__).resolve().parents[2]
made = root / "build" / "docs" / "pages"  # by run_pages.py
program = os.environ["TANDEM_PROGRAM"]

project = "tandem"
version = release = headers.version(root)
author = "the authors of tandem"
html_show_copyright = False
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["site"]
html_theme = "furo"
html_title = f"tandem {version}"
html_static_path = ["style"]
html_css_files = ["site.css"]
html_copy_source = False
myst_heading_anchors = 3
pygments_style = "default"

# Names that docstrings have from elsewhere: their links would need the network.
nitpick_ignore_regex = [("cpp:.*", ".*"), ("py:.*", r"(?!tandem\.).*"), ("py:.*", r"tandem\..*\b_.*"),
                        ("py:class", r"tandem\.adaptors\..*")]  # classes that need the other package

autodoc_mock_imports = ["torch", "deepinv", "cil", "pylops"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"Array": "Array"}
autodoc_default_options = {"members": True, "undoc-members": True}
default_role = "literal"  # one backtick in a docstring
python_maximum_signature_line_length = cpp_maximum_signature_line_length = 100
python_use_unqualified_type_names = True
add_module_names = False


def program_says(words, *_):
    said = subprocess.run([program, "help", *words.split()], capture_output=True, text=True, check=True).stdout
    return f"```text\n{said.rstrip()}\n```"


def solvers(*_):
    """"| `osem` | mlem by subsets ... | 30 updates | `--subsets` |", and so on."""
    rows = []
    for kind in importlib.import_module("tandem._core").solver_kinds():
        count = f"{kind.updates} updates" if kind.updates else kind.iterations
        options = ", ".join(f"`--{option}`" for option in kind.options)
        if kind.name:
            help_ = re.sub(r"\{(.*?)\}", r"`--\1`", kind.help)
            rows.append(f"| `{kind.name}` | {help_} | {count} | {options} |")
    return "\n".join(rows)


def python_names(words, *_):
    module, names = words.split(":")
    names = names.replace("KINDS", " ".join(importlib.import_module("tandem._kinds").__all__))
    described.setdefault(module, set()).update(names.split())
    lines = [f".. currentmodule:: {module}", ""]
    with mock(autodoc_mock_imports):
        values = vars(importlib.import_module(module))
    for name in names.split():
        value = values[name]
        kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
        kind = "exception" if kind == "class" and issubclass(value, BaseException) else kind
        lines.append(f".. auto{kind}:: {name}{native_arguments(value)}")
        lines += ["   :no-value:"] if kind == "data" else []
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```"


def picture(words, page, _before=""):
    name, seen = words.split(": ", 1)
    if not (made / page / name).exists():
        return f"*This build has no picture here: {seen}.*"
    return f"![{seen}]({os.path.relpath(made, root / 'docs')}/{page}/{name})"


def output(_words, page, before):
    file = made / page / "output.json"
    said = json.loads(file.read_text()) if file.exists() else []
    count = len(run_pages.BLOCK.findall(before))
    if count > len(said):
        return "*This build has no output here.*"
    return f"```text\n{said[count - 1].rstrip()}\n```"


def example(words, page, before):
    file = words.split(":")[0]
    code = f"```{{literalinclude}} ../examples/{file}\n:language: python\n```"
    seen = f"{pathlib.Path(file).stem}.png: {', '.join(words.split(': ', 1)[1].split(';'))}"
    parts = [code, output("", page, before + f"<!-- example {words} -->"), picture(seen, page)]
    notebook = made / "notebooks" / f"{pathlib.Path(file).stem}.ipynb"
    if notebook.exists():
        parts.append(f"{{download}}`As a notebook <{os.path.relpath(notebook, root / 'docs')}>`")
    return "\n\n".join(parts)


described = {}
makers = {"tandem help": program_says, "python": python_names, "picture": picture, "output": output, "example": example,
          "solvers": solvers,
          "headers": lambda folder, *_: headers.page_of(root, folder)}
MARK = re.compile(rf"^<!-- ({'|'.join(makers)}) ?(.*?) -->$", re.MULTILINE)


def fill_in(_app, page, text):
    whole = text[0]
    text[0] = MARK.sub(lambda m: makers[m[1]](m[2], page, whole[:m.start()]), whole)


def native_arguments(value):
    """What makes an object of a class of nanobind, which says it in a docstring."""
    said = getattr(getattr(value, "__init__", None), "__doc__", None) or ""
    if not inspect.isclass(value) or not said.startswith("__init__(self"):
        return ""
    arguments = said.partition("\n")[0].removeprefix("__init__(self").removeprefix(", ").removesuffix(" -> None")
    return "(" + known(arguments)


def short_types(_app, _kind, _name, _value, _options, signature, returned):
    return known(signature), known(returned)


def known(types):
    """Types by the names that users know."""
    plain = re.sub(r"~|\b(tandem\._core\.|_core\.|collections\.abc\.|numpy\.|typing\.)", "", types or "")
    return plain.replace("<factory>", "...") or types


def plain_docstring(_app, _kind, _name, _value, _options, lines):
    """Docstrings are plain text: norms and products in them are no markup. nanobind begins those of properties with
    their type."""
    if lines and lines[0].startswith("(self) -> "):
        lines[0] = f"``{known(lines[0].removeprefix('(self) -> '))}``"
    if lines and lines[0].startswith("Alias for field"):  # Python's own words for a field of a tuple
        lines.clear()
    for i, line in enumerate(lines):
        lines[i] = re.sub(r"(``.*?``|`[^`]*`)|([|*])", lambda m: m[1] or "\\" + m[2], line)


def check_names(_app, _env):
    """Every public name of the package is in the reference."""
    left_out = set(importlib.import_module("tandem").__all__) - described.get("tandem", set())
    if described and left_out:
        logging.getLogger(__name__).warning("reference/python.md lacks %s", ", ".join(sorted(left_out)))


def setup(app):
    app.connect("source-read", fill_in)
    app.connect("autodoc-process-signature", short_types)
    app.connect("autodoc-process-docstring", plain_docstring)
    app.connect("env-check-consistency", check_names)
