"""The loop around solvers, and the rules that stop it."""
from __future__ import annotations

import copyreg
import operator
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _arrays, _core, _mistakes
from ._core import Report, StopRule
from ._errors import UsageError
from ._mistakes import made_by
from ._operator import Array, _rebuilt
from ._solvers import Solver

_either = StopRule.__or__


def _or(a: StopRule, b: StopRule) -> StopRule:
    rule = _either(a, b)
    return rule if rule is NotImplemented else made_by(rule, operator.or_, a, b)


def _stored(rule: StopRule) -> tuple:
    if not hasattr(rule, "made"):
        raise TypeError(f"stop rule {rule.name} cannot be pickled, as it looks at its solver; make it anew, for "
                        "the solver that it is to stop")
    return _rebuilt, rule.made


def _report_of(*parts: Any) -> Report:
    return _core.report_of(*parts)


def _stored_report(report: Report) -> tuple:
    return _report_of, (report.iterations, report.block_iterations, report.stopped_by, report.residuals)


StopRule.__or__ = _or  # type: ignore[method-assign]
copyreg.pickle(StopRule, _stored)
copyreg.pickle(Report, _stored_report)


@dataclass
class Progress:
    """A solver between two steps."""
    iteration: int
    """Finished steps; 0 is the start."""
    residuals: np.ndarray
    """|b - Ax|, one for each block."""
    first: np.ndarray
    """The same at the start."""
    seconds: float
    solver: Optional[Solver] = None

    @property
    def solution(self) -> Array:
        """A copy of the solution."""
        if self.solver is None:
            raise AttributeError("a stop rule sees residuals alone; look at the solution in `observe`")
        return self.solver.solution


def _progress(seen, solver: Optional[Solver] = None) -> Progress:
    iteration, residuals, first, seconds = seen
    return Progress(iteration, np.array(residuals), np.array(first), seconds, solver)


def run(solver: Solver, stop: Union[StopRule, int],
        observe: Optional[Callable[[Progress], None]] = None) -> Report:
    """Makes steps until a rule holds for every block; a number as the rule is a number of steps. `observe` is called
    before each step and at the end; an exception in it ends the run. Ctrl-C ends the run before the next step. The
    solver then has the solution of the last step."""
    if isinstance(stop, (int, np.integer)) and not isinstance(stop, bool):
        if stop < 0:
            raise UsageError(f"run: stop is {stop}; give a number of steps from 0 on")
        stop = _core.max_iterations(int(stop))
    if not isinstance(stop, StopRule):
        raise TypeError(f"run: stop is {_mistakes.shown(stop)}; give a number of steps or a rule, such as "
                        "max_iterations(30) | time_limit(60)")
    watch = None if observe is None else (lambda seen: observe(_progress(seen, solver)))
    report = _core.run(solver._core, stop, watch, solver._stream())
    if solver._is_plugged and report.residuals[-1] > 10 * report.residuals[0]:
        _arrays.warn("run: steps with this denoiser diverge: |b - Ax| has grown tenfold; give denoiser(function, "
                     "strength=0.5) or less, or a smaller weight")
    return report


def stop_rule(name: str, holds: Callable[[Progress, int], bool]) -> StopRule:
    """A rule of your own: whether the block is to stop."""
    rule = _core.rule_of(name, lambda seen, block: bool(holds(_progress(seen), block)))
    return made_by(rule, stop_rule, name, holds)


def _data_of(solver: Solver, data: Union[None, int, Sequence[int]]) -> list[int]:
    """How many data each block has."""
    if data is not None:
        return [int(d) for d in np.atleast_1d(data)]
    blocks = len(solver._core.residual_norms())
    return [solver._data // blocks] * blocks


def stagnation(solver: Solver, data: Union[None, int, Sequence[int]] = None) -> StopRule:
    """Stops when |b - Ax|^2 falls by no more than it would by fitting noise of any size. data: how many data each block
    has; default: all. To be asked for before the first step."""
    return _core.stagnation(solver._core, _data_of(solver, data), solver._stream())


def gcv(solver: Solver, data: Union[None, int, Sequence[int]] = None, factor: float = 1) -> StopRule:
    """Stops a step after generalised cross-validation, |b - Ax|^2 / (data - factor t)^2 with t degrees of freedom, has
    been least: Ax then begins to fit noise of any size. For solvers that are made with ``gcv=True``. data: how many each block has; default: all."""
    if not getattr(solver, "_has_follower", False):
        raise TypeError(f"gcv: {type(solver).__name__} takes no signs along; make it as Cgls(A, b, gcv=True)")
    return _core.gcv(solver._core, _data_of(solver, data), factor)


def duality_gap(solver: Solver, epsilon: float) -> StopRule:
    """Stops a solver that has a `gap` when what is minimised is at most epsilon of itself above the least value, as its `gap` tells
    at every tenth step."""
    if not hasattr(solver, "gap"):
        raise TypeError(f"duality_gap: {type(solver).__name__} tells no gap; give a Pdhg")
    solver._require_objective("duality_gap")
    return _core.duality_gap(solver._core, epsilon)


def settled(solver: Solver, epsilon: float = 0.03) -> StopRule:
    """Stops a Pdhg when the way of x to its end is estimated to be at most epsilon of its way until now. It looks at every fifth step
    from the 20th on."""
    if not hasattr(solver, "gap"):
        raise TypeError(f"settled: {type(solver).__name__} does not tell how far it is from its end; give a Pdhg")
    return _core.settled(solver._core, epsilon)
