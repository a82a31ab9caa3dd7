"""The classes of solvers, one for each kind of the library that has a name for it."""
from __future__ import annotations

from typing import Any, Callable, Sequence, Union

import numpy as np

from . import _core, _signatures
from ._core import above_zero
from ._operator import Array, LinearOperator
from ._regularisers import RegulariserLike
from ._solvers import BoundsLike, Solver, Subsets, no_bounds


def _telling(name: str) -> Callable[[Solver], np.ndarray]:
    def tell(self: Solver) -> np.ndarray:
        self._require_objective(name)
        return np.array(getattr(self._core, name)(self._stream()))
    tell.__name__, tell.__doc__ = name, _signatures.METHODS[name]
    return tell


def _class_of(kind: _core.SolverKind) -> type:
    """A class whose constructor has the parameters of the kind."""
    made: dict[str, Any] = {}
    exec(f"def __init__(self, {', '.join(_signatures.parameters(kind))}) -> None: self._make(locals())", globals(), made)
    made["__init__"].__qualname__ = f"{kind.class_name}.__init__"
    telling = {name: _telling(name) for name in _signatures.methods(kind)}
    return type(kind.class_name, (Solver,), {"__module__": __name__, "__doc__": _signatures.docs(kind), "_kind": kind,
                                             **made, **telling})


__all__ = [kind.class_name for kind in _core.solver_kinds() if kind.class_name]
globals().update({kind.class_name: _class_of(kind) for kind in _core.solver_kinds() if kind.class_name})
