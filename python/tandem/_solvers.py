"""Solvers, stop rules, and the loop around them."""
from __future__ import annotations

import functools
import zlib
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _core, _mistakes, _words
from ._core import Bounds, WeightFound
from ._errors import GeometryError, SpaceError
from ._operator import Array, LinearOperator, Vectors
from ._regularisers import RegulariserLike, as_regulariser
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


def _checksum(array: Array) -> int:
    if isinstance(array, np.ndarray):
        return zlib.crc32(array)
    return zlib.crc32(np.asarray(array.detach() if hasattr(array, "detach") else array))


class Solver:
    """A state that can make a step towards A x = b. It keeps copies of what it is given, on the device of A. It is
    made and used in one thread. On the CPU it is pickled with its state, if b is still there as it was.

    data_weights, of the shape of b and none negative, say how much each datum counts; 0: not at all. Norms of residuals
    are then weighed, too.
    """

    def __init_subclass__(cls) -> None:
        """Lets solvers keep what they are made of, for files."""
        own = cls.__dict__.get("__init__")
        if own is None:
            return

        @functools.wraps(own)
        def made(self: Solver, *arguments: Any, **keywords: Any) -> None:
            self._made = arguments, keywords
            own(self, *arguments, **keywords)
        cls.__init__ = made  # type: ignore[method-assign]

    def _begin(self, make: Callable[[_core.Given], _core.Solver], domain: Vectors, range_: Vectors, b: Array, x0: Array,
               beside: tuple[str, Array] = ("", None)) -> None:
        if domain.may_be_images and range_.may_be_images and getattr(b, "ndim", 0) == 2:
            domain, range_ = domain.as_images(), range_.as_images()
        kind: Any = None
        arrays: list[Array] = []
        addresses: dict[str, int] = {}
        originals: dict[str, tuple] = {}
        on_cpu = domain.device == "cpu"
        for name, vectors, value in (("b", range_, b), ("x0", domain, x0), (beside[0], range_, beside[1])):
            if value is None and kind:
                continue
            array, own, batch = vectors.taken(name, value)
            kind = kind or own
            if own is not kind:
                raise TypeError(f"{name}: {type(array).__name__}, and b is {type(arrays[0]).__name__}; give one kind")
            if batch:
                raise SpaceError(f"{name}: shape {tuple(array.shape)}; a solver has one problem, no axes before it")
            arrays.append(array)
            addresses[name] = kind.address(array)
            if on_cpu:
                originals[name] = vectors, value, _checksum(array)
        stream, keeper = kind.stream(arrays[0])
        self._kind, self._like, self._domain, self._data = kind, kind.empty((0,), arrays[0]), domain, range_.size
        self._core = make(_core.Given(addresses["b"], addresses.get("x0", 0), addresses.get(beside[0], 0), stream,
                                      beside[0], keeper))
        self._originals = originals
        if not on_cpu:
            self._made = None  # so that nothing on a GPU is kept

    def __reduce__(self) -> tuple:
        name = type(self).__name__
        if self._made is None:
            raise TypeError(f"{name} on {self._domain.device} cannot be pickled, as its state lies on a GPU; pickle "
                            "its solution, and begin again with x0=solution")
        for word, (vectors, value, checksum) in self._originals.items():
            if _checksum(vectors.taken(word, value)[0]) != checksum:
                raise TypeError(f"{name} cannot be pickled, as {word} was changed after it was made; pickle its "
                                "solution, and begin again with x0=solution")
        return _gone_on, (type(self), *self._made, self._core.state())

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


def _gone_on(kind: type, arguments: tuple, keywords: dict[str, Any], state: Any) -> Solver:
    solver = kind(*arguments, **keywords)
    solver._core.set_state(*state)
    return solver


class _Krylov(Solver):
    def __init__(self, A: LinearOperator, b: Array, x0: Array = None, *, data_weights: Array = None,
                 tikhonov_weight: float = 0, gcv: bool = False, allow_unmatched: bool = False):
        name = type(self).__name__
        _require_matched(name, A, allow_unmatched or isinstance(self, BaGmres))
        make, self._has_follower = getattr(_core, name), gcv
        self._begin(lambda given: make(A._core, given, tikhonov_weight, gcv), A._domain, A._range, b, x0,
                    ("data_weights", data_weights))


class Cgls(_Krylov):
    """Minimises |Ax - b| over the Krylov space of AtA, each block by itself. Needs a matched pair.

    data_weights: w, so that the sum of w (Ax - b)^2 takes the place of |Ax - b|^2. tikhonov_weight: W in
    1/2 |Ax - b|^2 + 1/2 W |x|^2, in mm^2; residuals are then those of both terms. For a penalty on Dx, pass
    ``vstack([A, weight * D])`` and ``(b, zeros)``. gcv: takes along what the rule `gcv` needs, for twice the cost of
    a step.
    """


class Lsqr(_Krylov):
    """As `Cgls`, through the Golub-Kahan process: rounding harms it less where A is ill conditioned."""


class Lsmr(_Krylov):
    """Minimises |At (Ax - b)| over the same space; neither it nor |Ax - b| ever grows."""


class BaGmres(_Krylov):
    """Minimises |B (b - Ax)| for a B that need not be the transpose of A: see ``unmatched_pair``."""


class Mlem(Solver):
    """x <- x At(b / Ax) / At1, for b that are counts whose means are Ax. All voxels stay at 0 or above. data_weights: w
    of each datum's log likelihood."""

    def __init__(self, A: LinearOperator, b: Array, x0: Array = None, *, data_weights: Array = None):
        _require_operator("Mlem", A)
        self._begin(lambda given: _core.Mlem(A._core, given), A._domain, A._range, b, x0,
                    ("data_weights", data_weights))


class Mltr(Solver):
    """Maximum likelihood of transmission counts. b: counts, none negative, zeros among them; blank: counts without an
    object, of the shape of b. The means of b are blank * exp(-Ax). The likelihood never falls, and all voxels stay
    within the bounds, the lowest of which must be finite."""

    def __init__(self, A: LinearOperator, b: Array, blank: Array, x0: Array = None, *, data_weights: Array = None,
                 bounds: BoundsLike = _core.above_zero):
        _require_operator("Mltr", A)
        if blank is None:
            raise TypeError("blank: None; counts without an object are needed")
        if data_weights is not None:  # weights of log likelihoods, which are linear in both
            b, blank = b * data_weights, blank * data_weights
        self._begin(lambda given: _core.Mltr(A._core, given, _bounds(bounds)), A._domain, A._range, b, x0,
                    ("blank", blank))


class Sirt(Solver):
    """x <- P(x + relaxation C At R (b - Ax)), with R = 1/(A 1) and C = 1/(At 1); P clamps into the bounds.
    data_weights: w in C At w R (b - Ax), with C = 1/(At w)."""

    def __init__(self, A: LinearOperator, b: Array, x0: Array = None, *, relaxation: float = 1,
                 bounds: BoundsLike = no_bounds, data_weights: Array = None):
        make = getattr(_core, type(self).__name__)
        _require_operator(type(self).__name__, A)
        self._begin(lambda given: make(A._core, given, relaxation, _bounds(bounds)), A._domain, A._range, b, x0,
                    ("data_weights", data_weights))


class Landweber(Sirt):
    """x <- P(x + relaxation / |A|^2 At (b - Ax)), where each block has its own norm |A|. data_weights: w in
    At w (b - Ax), where |A|^2 is that of At w A."""


class Subsets:
    """A projector in parts, each of which takes some of the views: see ``subsets``. Data keep the order of the scan."""

    def __init__(self, parts: Sequence[LinearOperator], views: Sequence[Sequence[int]], whole: LinearOperator):
        self._core = _core.Subsets([part._core for part in parts], [list(v) for v in views])
        self.whole, self.count, self._parts = whole, len(parts), (parts, views)

    def __reduce__(self) -> tuple:
        return Subsets, (*self._parts, self.whole)

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

    def __init__(self, A: Subsets, b: Array, x0: Array = None, *, data_weights: Array = None):
        _require_operator("Osem", A, subsets_=True)
        whole = A.whole
        self._begin(lambda given: _core.Osem(A._core, whole.range, given), whole._domain, whole._range, b, x0,
                    ("data_weights", data_weights))


class OsSirt(Solver):
    """SIRT by subsets of the views; with one view a subset it is SART."""

    def __init__(self, A: Subsets, b: Array, x0: Array = None, *, relaxation: float = 1,
                 bounds: BoundsLike = no_bounds, data_weights: Array = None):
        _require_operator("OsSirt", A, subsets_=True)
        whole = A.whole
        self._begin(lambda given: _core.OsSirt(A._core, whole.range, given, relaxation, _bounds(bounds)), whole._domain,
                    whole._range, b, x0, ("data_weights", data_weights))


def _numbers(weights: Union[float, Sequence[float]]) -> list[float]:
    return [float(w) for w in np.atleast_1d(weights)]


class Pdhg(Solver):
    """Minimises 1/2 sum of w (Ax - b)^2 + W g(Kx) within bounds, by the primal-dual hybrid gradient method.

    regulariser: g and K, such as ``total_variation(A.domain)``, or one of your own (`OwnRegulariser`). weights: W, a
    number, or one for each block; `find_weight` finds it. data_weights: w, of the shape of b, none negative; default:
    1. Needs a matched pair.
    """

    def __init__(self, A: LinearOperator, b: Array, x0: Array, regulariser: RegulariserLike,
                 weights: Union[float, Sequence[float]], data_weights: Array = None, *,
                 bounds: BoundsLike = no_bounds, relaxation: float = 1.8, balance: float = 0.05,
                 allow_unmatched: bool = False):
        _require_matched("Pdhg", A, allow_unmatched)
        W, within, g = _numbers(weights), _bounds(bounds), as_regulariser(regulariser, A.domain)
        self._begin(lambda given: _core.Pdhg(A._core, given, g, W, within, relaxation, balance), A._domain, A._range, b,
                    x0, ("data_weights", data_weights))

    def objective(self) -> np.ndarray:
        """What is minimised, of the solution, one for each block."""
        return np.array(self._core.objective(self._stream()))

    def gap(self) -> np.ndarray:
        """How far the objective may be above the least one, as a share of it, one for each block: the duality gap,
        which goes to 0. It holds among points within bounds that are at most twice as long as the solution."""
        return np.array(self._core.gap(self._stream()))


class Fista(Solver):
    """Minimises the same by gradient steps with momentum, and `inner_steps` of the regulariser in each."""

    def __init__(self, A: LinearOperator, b: Array, x0: Array, regulariser: RegulariserLike,
                 weights: Union[float, Sequence[float]], data_weights: Array = None, *,
                 bounds: BoundsLike = no_bounds, inner_steps: int = 10, allow_unmatched: bool = False):
        _require_matched("Fista", A, allow_unmatched)
        W, within, g = _numbers(weights), _bounds(bounds), as_regulariser(regulariser, A.domain)
        self._begin(lambda given: _core.Fista(A._core, given, g, W, within, inner_steps), A._domain, A._range, b, x0,
                    ("data_weights", data_weights))


class _Search(Solver):
    """The vectors of a search, as a solver takes them."""

    def __init__(self, A: LinearOperator, b: Array, data_weights: Array, search: Callable[[_core.Given], Any]):
        def make(given: _core.Given) -> Any:
            self.found = search(given)
        self._begin(make, A._domain, A._range, b, None, ("data_weights", data_weights))


def find_weight(A: LinearOperator, b: Array, regulariser: RegulariserLike, data_weights: Array = None, *,
                bounds: BoundsLike = no_bounds, share: float = 0.125, most_steps: int = 300,
                seed: int = 1) -> WeightFound:
    """The weight W of a regulariser for `Pdhg` and `Fista`, from the data alone, by cross-validation: a share of the
    data is held out, and the rest is solved for one W after another, with at most so many steps each. The larger W of
    two that are alike is taken. There is one W for all blocks."""
    _require_matched("find_weight", A, False)
    g, within = as_regulariser(regulariser, A.domain), _bounds(bounds)
    return _Search(A, b, data_weights, lambda given: _core.find_weight(A._core, given, g, within, share, most_steps,
                                                                       seed)).found
