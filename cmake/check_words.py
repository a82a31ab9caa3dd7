#!/usr/bin/env python3
"""Lists the comments and docstrings of tracked sources that begin without their noun, and the strings of the library
that spell an option for a shell ("--device"), and fails if there are any.

usage: check_words.py ROOT
"""
import ast
import io
import pathlib
import re
import subprocess
import sys
import tokenize

FORBIDDEN = re.compile(r"(of|who|whose|those|likewise)\b", re.IGNORECASE)
CPP = {".hpp", ".cpp", ".h", ".cu", ".cuh"}
NOT_OURS = "third_party/"
LIBRARY = tuple(f"{room}/" for room in "calibration core counts forecast geometry io kernels operators pipeline solvers".split())
OPTION = re.compile(r"(?<![\w-])--[a-z]")
# Literals come first, so that "//" in them is no comment. A quote after a digit separates thousands.
TOKEN = re.compile(
    r'(?P<text>R"(?P<end>[^()\s\\]*)\(.*?\)(?P=end)"'
    r'|"(?:\\.|[^"\\\n])*")'
    r"|(?<!\w)'(?:\\.|[^'\\\n])+'"
    r"|(?P<line>//[/!]*<?(?P<words>[^\n]*))"
    r"|/\*+(?P<block>.*?)\*/",
    re.DOTALL,
)


def comments_of_cpp(text):
    """(line number, column, whether code stands before it, words), a line comment after the other."""
    for match in TOKEN.finditer(text):
        words = match["words"] if match["line"] else match["block"]
        if words is not None:
            start = text.rfind("\n", 0, match.start()) + 1
            column = match.start() - start
            yield text.count("\n", 0, start) + 1, column, text[start : match.start()].strip() != "", words


def comments_of_python(text):
    """The same for #, and the docstrings, which continue nothing."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            yield line, column, token.line[:column].strip() != "", token.string.lstrip("#!")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node):
            yield node.body[0].lineno, 0, True, ast.get_docstring(node)


def shell_words(text):
    """(line number, string) of the strings that spell an option for a shell."""
    for match in TOKEN.finditer(text):
        if match["text"] and OPTION.search(match["text"]):
            yield text.count("\n", 0, match.start()) + 1, match["text"]


def faults(root):
    listed = subprocess.run(["git", "-C", root, "ls-files"], check=True, capture_output=True, text=True).stdout
    for name in listed.splitlines():
        suffix = pathlib.Path(name).suffix
        path = root / name
        if suffix not in CPP | {".py"} or name.startswith(NOT_OURS) or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        if suffix in CPP and name.startswith(LIBRARY):
            for line, said in shell_words(text):
                yield f"{name}:{line}: {said}: options are named by spelled(), or between braces in a table"
        above = None  # line and column of the comment before: one that stands alone right below it continues it
        for line, column, beside_code, words in (comments_of_python if suffix == ".py" else comments_of_cpp)(text):
            continues = not beside_code and above == (line - 1, column)
            above = (line, column)
            if not continues and FORBIDDEN.match(words.strip()):
                yield f"{name}:{line}: {words.strip().splitlines()[0]}"


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "words: every comment begins with its noun or its verb, and the library spells no option for a shell")
    return 1 if found else 0


sys.exit(main())
