"""Writes the types of the classes of solvers.    usage: write_stub.py PACKAGE OUTPUT"""
import pathlib
import sys

sys.path.append(sys.argv[1])
import _core
import _signatures

pathlib.Path(sys.argv[2]).write_text(_signatures.stub(_core.solver_kinds()))
