#!/usr/bin/env python3
"""Runs a program with a set of SIMD instructions. Skips the set that all other tests run with, and sets that this
processor or this build lacks.

usage: with_instructions.py TANDEM SET PROGRAM [ARGUMENT...]
"""
import os
import re
import subprocess
import sys

SKIPPED = 77


def main():
    tandem, wanted, *program = sys.argv[1:]
    os.environ.pop("TANDEM_SIMD", None)
    said = subprocess.run([tandem, "--version"], check=True, capture_output=True, text=True).stdout
    usual, *narrower = re.search("^instructions (.*)$", said, re.MULTILINE)[1].split(", ")
    if wanted == usual:
        print(f"skipped: all other tests run with {wanted}")
        return SKIPPED
    if wanted not in narrower:
        print(f"skipped: this processor or this build lacks {wanted}; here are {', '.join([usual, *narrower])}")
        return SKIPPED
    return subprocess.run(program, check=False, env={**os.environ, "TANDEM_SIMD": wanted}).returncode


sys.exit(main())
