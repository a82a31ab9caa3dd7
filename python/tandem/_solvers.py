"""Solvers, stop rules, and the loop around them."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional, Sequence, Union

import numpy as np

from . import _arrays, _core, _mistakes, _words
from ._core import Bounds, Regulariser, Report, StopRule
from ._errors import GeometryError, SpaceError
from ._operator import Array, LinearOperator, Vectors
from ._tomography import Scan, projector

no_bounds = Bounds()
BoundsLike = Union[Bounds, tuple[float, float]]
"""Bounds, or (lowest, highest)."""


def _bounds(given: BoundsLike) -> Bounds:
    if isinstance(given, Bounds):
        return given
    if isinstance(given, (tuple, list)) and len(given) == 2:
        low, high = (default if value is None else float(value)
                     for value, default in zip(given, (no_bounds.lowest, no_bounds.highest)))
        return Bounds(low, high)
    raise TypeError(f"bounds: {_mistakes.shown(given)}; give tandem.Bounds(lowest, highest), (lowest, highest) or "
                    "tandem.above_zero")


def _require_operator(solver: str, A: object, subsets_: bool = False) -> None:
    kind, words = (Subsets, "subsets(scan, grid, count)") if subsets_ else (LinearOperator, "a LinearOperator, such as "
                                                                            "projector(scan, grid)")
    if not isinstance(A, kind):
        raise TypeError(f"{solver}: A is a {type(A).__name__}; give {words}")


def _require_matched(solver: str, A: LinearOperator, allow_unmatched: bool) -> None:
    _require_operator(solver, A)
    if not A.is_matched and not allow_unmatched:
        raise GeometryError(f"{solver}: the back-projection of A is not the transpose of its projection, which this "
                            "solver needs; give a matched pair, BaGmres, or allow_unmatched=True")


class Solver:
    """A state that can make a step towards A x = b. It keeps copies of what it is given, on the device of A. It is
    made and used in one thread."""

    def _begin(self, make: Callable[[_core.Given], _core.Solver], domain: Vectors, range_: Vectors, b: Array, x0: Array,
               beside: tuple[str, Array] = ("", None)) -> None:
        if domain.may_be_images and range_.may_be_images and getattr(b, "ndim", 0) == 2:
            domain, range_ = domain.as_images(), range_.as_images()
        b, kind, batch = range_.taken("b", b)
        given = {"b": (b, batch)}
        for name, vectors, value in (("x0", domain, x0), (beside[0], range_, beside[1])):
            if value is not None:
                value, own, batch = vectors.taken(name, value)
                if own is not kind:
                    raise TypeError(f"{name}: {type(value).__name__}, and b is {type(b).__name__}; give one kind")
                given[name] = value, batch
        for name, (value, batch) in given.items():
            if batch:
                raise SpaceError(f"{name}: shape {tuple(value.shape)}; a solver has one problem, no axes before it")
        address = {name: kind.address(value) for name, (value, _) in given.items()}
        stream, keeper = kind.stream(b)
        self._kind, self._like, self._domain = kind, kind.empty((0,), b), domain
        self._core = make(_core.Given(address["b"], address.get("x0", 0), address.get(beside[0], 0), stream,
                                      beside[0], keeper))

    def _stream(self) -> int:
        return self._kind.stream(self._like)[0]

    @property
    def solution(self) -> Array:
        """x, a new array of the kind of b."""
        out = self._kind.empty(self._domain.own, self._like)
        self._core.copy_solution(self._kind.address(out), self._stream())
        return self._domain.shown(out, (), self._kind)

    def __repr__(self) -> str:
        norm = float(np.linalg.norm(self.residual_norms))
        return f"<{type(self).__name__} of {self._domain.inner}, |b - Ax| = {_words.number(norm)}>"

    @property
    def residual_norms(self) -> np.ndarray:
        """|b - Ax| of the solution, one for each block."""
        return np.array(self._core.residual_norms())

    def step(self, active: Optional[Sequence[bool]] = None) -> None:
        """Makes a step in all blocks, or in those that are active."""
        blocks = len(self._core.residual_norms())
        active = [True] * blocks if active is None else [bool(a) for a in active]
        if len(active) != blocks:
            raise SpaceError(f"active: {len(active)} values; the problem has {blocks} blocks")
        self._core.step(active, self._stream())


class _Plain(Solver):
    def __init__(self, A: LinearOperator, b: Array, x0: Array = None):
        make = getattr(_core, type(self).__name__)
        _require_operator(type(self).__name__, A)
        self._begin(lambda given: make(A._core, given), A._domain, A._range, b, x0)


class _Krylov(_Plain):
    def __init__(self, A: LinearOperator, b: Array, x0: Array = None, *, allow_unmatched: bool = False):
        _require_matched(type(self).__name__, A, allow_unmatched)
        super().__init__(A, b, x0)


class Cgls(_Krylov):
    """Minimises |Ax - b| over the Krylov space of AtA, each block by itself. Needs a matched pair. For damping, pass
    ``vstack([A, weight * D])`` and ``(b, zeros)``."""


class Lsqr(_Krylov):
    """As Cgls, through the Golub-Kahan process: rounding harms it less where A is ill conditioned."""


class Lsmr(_Krylov):
    """Minimises |At (Ax - b)| over the same space; neither it nor |Ax - b| ever grows."""


class BaGmres(_Plain):
    """Minimises |B (b - Ax)| for a B that need not be the transpose of A: see ``unmatched_pair``."""


class Mlem(_Plain):
    """x <- x At(b / Ax) / At1, for b that are counts whose means are Ax. All voxels stay at 0 or above."""


class Mltr(Solver):
    """Maximum likelihood of transmission counts. b: counts, none negative, zeros among them; blank: counts without an
    object, of the shape of b. The means of b are blank * exp(-Ax). The likelihood never falls, and all voxels stay
    within the bounds, the lowest of which must be finite."""

    def __init__(self, A: LinearOperator, b: Array, blank: Array, x0: Array = None, *,
                 bounds: BoundsLike = _core.above_zero):
        _require_operator("Mltr", A)
        if blank is None:
            raise TypeError("blank: None; counts without an object are needed")
        self._begin(lambda given: _core.Mltr(A._core, given, _bounds(bounds)), A._domain, A._range, b, x0,
                    ("blank", blank))


class Sirt(Solver):
    """x <- P(x + relaxation C At R (b - Ax)), with R = 1/(A 1) and C = 1/(At 1); P clamps into the bounds."""

    def __init__(self, A: LinearOperator, b: Array, x0: Array = None, *, relaxation: float = 1,
                 bounds: BoundsLike = no_bounds):
        make = getattr(_core, type(self).__name__)
        _require_operator(type(self).__name__, A)
        self._begin(lambda given: make(A._core, given, relaxation, _bounds(bounds)), A._domain, A._range, b, x0)


class Landweber(Sirt):
    """x <- P(x + relaxation / |A|^2 At (b - Ax)), where each block has its own norm |A|."""


class Subsets:
    """A projector in parts, each of which takes some of the views: see ``subsets``. Data keep the order of the scan."""

    def __init__(self, parts: Sequence[LinearOperator], views: Sequence[Sequence[int]], whole: LinearOperator):
        self._core = _core.Subsets([part._core for part in parts], [list(v) for v in views])
        self.whole, self.count = whole, len(parts)

    def __repr__(self) -> str:
        return f"<Subsets {self.count} of {self.whole!r}>"


def subsets(scan: Scan, grid: Optional[_core.VolumeGrid] = None, count: int = 10, model: Optional[str] = None,
            device: str = "cpu") -> Subsets:
    """The projector of a scan in subsets of its views, each of which sees the object from all around."""
    views = _core.view_subsets(scan, count)
    grid = _core.fitting_grid(scan) if grid is None else grid
    parts = [projector(_core.with_views(scan, some), grid, model, device) for some in views]
    return Subsets(parts, views, projector(scan, grid, model, device))


class Osem(Solver):
    """MLEM by subsets of the views."""

    def __init__(self, A: Subsets, b: Array, x0: Array = None):
        _require_operator("Osem", A, subsets_=True)
        whole = A.whole
        self._begin(lambda given: _core.Osem(A._core, whole.range, given), whole._domain, whole._range, b, x0)


class OsSirt(Solver):
    """SIRT by subsets of the views; with one view a subset it is SART."""

    def __init__(self, A: Subsets, b: Array, x0: Array = None, *, relaxation: float = 1,
                 bounds: BoundsLike = no_bounds):
        _require_operator("OsSirt", A, subsets_=True)
        whole = A.whole
        self._begin(lambda given: _core.OsSirt(A._core, whole.range, given, relaxation, _bounds(bounds)), whole._domain,
                    whole._range, b, x0)


def _numbers(weights: Union[float, Sequence[float]]) -> list[float]:
    return [float(w) for w in np.atleast_1d(weights)]


def _regulariser(given: Regulariser) -> Regulariser:
    if isinstance(given, Regulariser):
        return given
    raise TypeError(f"regulariser: {_mistakes.shown(given)}; give tandem.total_variation(A.domain) or another")


class Pdhg(Solver):
    """Minimises 1/2 sum of w (Ax - b)^2 + W g(Kx) within bounds, by the primal-dual hybrid gradient method.

    regulariser: g and K, such as ``total_variation(A.domain)``. weights: W, a number, or one for each block.
    data_weights: w, of the shape of b, none negative; default: 1. Needs a matched pair.
    """

    def __init__(self, A: LinearOperator, b: Array, x0: Array, regulariser: Regulariser,
                 weights: Union[float, Sequence[float]], data_weights: Array = None, *,
                 bounds: BoundsLike = no_bounds, relaxation: float = 1.8, balance: float = 0.05,
                 allow_unmatched: bool = False):
        _require_matched("Pdhg", A, allow_unmatched)
        W, within = _numbers(weights), _bounds(bounds)
        self._begin(lambda given: _core.Pdhg(A._core, given, _regulariser(regulariser), W, within, relaxation, balance),
                    A._domain, A._range, b, x0, ("data_weights", data_weights))


class Fista(Solver):
    """Minimises the same by gradient steps with momentum, and `inner_steps` of the regulariser in each."""

    def __init__(self, A: LinearOperator, b: Array, x0: Array, regulariser: Regulariser,
                 weights: Union[float, Sequence[float]], data_weights: Array = None, *,
                 bounds: BoundsLike = no_bounds, inner_steps: int = 10, allow_unmatched: bool = False):
        _require_matched("Fista", A, allow_unmatched)
        W, within = _numbers(weights), _bounds(bounds)
        self._begin(lambda given: _core.Fista(A._core, given, _regulariser(regulariser), W, within, inner_steps),
                    A._domain, A._range, b, x0, ("data_weights", data_weights))


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
    if not isinstance(solver, Solver):
        raise TypeError(f"run: solver is {_mistakes.shown(solver)}; give a solver, such as Cgls(A, b)")
    if isinstance(stop, (int, np.integer)) and not isinstance(stop, bool):
        stop = _core.max_iterations(int(stop))
    if not isinstance(stop, StopRule):
        raise TypeError(f"run: stop is {_mistakes.shown(stop)}; give a number of steps or a rule, such as "
                        "max_iterations(30) | time_limit(60)")
    watch = None if observe is None else (lambda seen: observe(_progress(seen, solver)))
    return _core.run(solver._core, stop, watch, solver._stream())


def stop_rule(name: str, holds: Callable[[Progress, int], bool]) -> StopRule:
    """A rule of your own: whether the block is to stop."""
    return _core.rule_of(name, lambda seen, block: bool(holds(_progress(seen), block)))


def stagnation(solver: Solver, data: Sequence[int]) -> StopRule:
    """Stops when |b - Ax|^2 falls by no more than it would by fitting noise of any size. data: how many data each block
    has. To be asked for before the first step."""
    return _core.stagnation(solver._core, [int(d) for d in np.atleast_1d(data)], solver._stream())
