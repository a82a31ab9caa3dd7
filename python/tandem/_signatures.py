"""The classes of solvers as a source would have them, from the kinds of the library (solvers/table.cpp)."""
from __future__ import annotations

from typing import Any, Sequence

WORDS = {
    "tikhonov_weight": "W in 1/2 |Ax - b|^2 + 1/2 W |x|^2, in mm^2; residuals are then those of both terms. For a penalty "
                       "on Dx, pass ``vstack([A, weight * D])`` and ``(b, zeros)``.",
    "gcv": "takes along what the rule `gcv` needs, for twice the cost of a step.",
    "regulariser": "g and K, such as ``total_variation(A.domain)``, or one of your own (`OwnRegulariser`).",
    "weights": "W, a number, or one for each block; `find_weight` finds it.",
    "allow_unmatched": "takes a pair that does not match, with which steps may diverge."}
"""What parameters are that several kinds have."""

METHODS = {
    "objective": "What is minimised, of the solution, one for each block.",
    "gap": "How far the objective may be above the least one, as a share of it, one for each block: the duality gap, "
           "which goes to 0. It holds among points within bounds that are at most twice as long as the solution."}
"""Methods that some kinds have."""

HEAD = '''"""The classes of solvers; the build writes this file."""
from typing import Sequence, Union

import numpy as np

from ._core import above_zero
from ._operator import Array, LinearOperator
from ._regularisers import RegulariserLike
from ._solvers import BoundsLike, Solver, Subsets, no_bounds

'''


def parameters(kind: Any) -> list[str]:
    """The parameters of a class, after self."""
    regularised = "tv-weight" in kind.options
    found = [f"A: {'Subsets' if kind.by_subsets else 'LinearOperator'}", "b: Array"]
    found += ["blank: Array"] if kind.takes_blank else []
    found += (["x0: Array", "regulariser: RegulariserLike", "weights: Union[float, Sequence[float]]"] if regularised
              else ["x0: Array = None"])
    found += ["data_weights: Array = None", "*"] if regularised else ["*", "data_weights: Array = None"]
    found += [f"{name}: float = {value:.6g}" for name, value in kind.numbers]
    if "bounds" in kind.options:
        found.append(f"bounds: BoundsLike = {'above_zero' if kind.bounds.lowest == 0 else 'no_bounds'}")
    found += ["tikhonov_weight: float = 0"] if "tikhonov-weight" in kind.options else []
    found += ["gcv: bool = False"] if kind.leads else []
    found += ["allow_unmatched: bool = False"] if kind.needs_matched else []
    return found


def methods(kind: Any) -> list[str]:
    return [name for name in METHODS if getattr(kind, f"tells_{name}")]


def docs(kind: Any) -> str:
    """The docstring of a class."""
    taken = [part.partition(":")[0] for part in parameters(kind)]
    return "\n\n".join([kind.docs, *(f"{name}: {words}" for name, words in WORDS.items() if name in taken)])


def stub(kinds: Sequence[Any]) -> str:
    """All classes, for editors and checkers."""
    named = [kind for kind in kinds if kind.class_name]
    text = HEAD + f"__all__ = {[kind.class_name for kind in named]}\n"
    for kind in named:
        text += f'\n\nclass {kind.class_name}(Solver):\n    """{docs(kind)}"""\n\n'
        text += f"    def __init__(self, {', '.join(parameters(kind))}) -> None: ...\n"
        text += "".join(f'\n    def {name}(self) -> np.ndarray:\n        """{METHODS[name]}"""\n' for name in methods(kind))
    return text
