"""Solvers, stop rules, and the loop around them."""
from __future__ import annotations

import functools
import zlib
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _core, _mistakes, _words
from ._core import Bounds, WeightFound
from ._errors import GeometryError, SpaceError, UsageError
from ._operator import Array, LinearOperator, Vectors
from ._regularisers import Denoiser, RegulariserLike, as_regulariser
from ._tomography import Scan, projector

no_bounds = Bounds()
BoundsLike = Union[Bounds, tuple[Union[float, Array], Union[float, Array]]]
"""Bounds, or (lowest, highest), of which each is a number or an array of the shape of the volume."""


def _bounds(given: BoundsLike) -> tuple[Bounds, dict[str, Array]]:
    """Bounds of all voxels, and arrays of those that each voxel has."""
    if isinstance(given, Bounds):
        return given, {}
    if isinstance(given, (tuple, list)) and len(given) == 2:
        ends = dict(zip(("lowest", "highest"), given))
        arrays = {word: end for word, end in ends.items() if getattr(end, "ndim", 0) > 0}
        low, high = (getattr(no_bounds, word) if end is None or word in arrays else float(end)
                     for word, end in ends.items())
        return Bounds(low, high), arrays
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

    _kind: _core.SolverKind
    _is_plugged = False

    def __init_subclass__(cls) -> None:
        """Lets solvers keep what they are made of, for files."""
        own = cls.__dict__.get("__init__")
        if own is None or cls.__name__.startswith("_"):
            return

        checked = _mistakes.checked(own, cls.__name__, of_class=True)

        @functools.wraps(own)
        def made(self: Solver, *arguments: Any, **keywords: Any) -> None:
            self.__dict__.setdefault("_made", (arguments, keywords))  # the outermost class is first
            checked(self, *arguments, **keywords)
        cls.__init__ = made  # type: ignore[method-assign]

    def _make(self, given: dict[str, Any]) -> None:
        """Makes it from the arguments of its class, which the kind has named."""
        kind, A, name = self._kind, given["A"], type(self).__name__
        _require_operator(name, A, kind.by_subsets)
        if kind.needs_matched:
            _require_matched(name, A, given["allow_unmatched"])
        if kind.takes_blank and given["blank"] is None:
            raise TypeError("blank: None; counts without an object are needed")
        whole = A.whole if kind.by_subsets else A
        self._is_plugged = isinstance(given.get("regulariser"), Denoiser)
        if self._is_plugged and not hasattr(self, "gap"):
            raise TypeError(f"{name}: regulariser is a denoiser, which Pdhg alone takes; give it to tandem.Pdhg")
        regulariser = as_regulariser(given["regulariser"], A.domain) if "regulariser" in given else None
        self._has_follower = given.get("gcv", False)
        within, ends = _bounds(given.get("bounds", no_bounds))
        asked = _core.Asked([(word, given[word]) for word, _ in kind.numbers], within, regulariser,
                            [float(w) for w in np.atleast_1d(given.get("weights", 0))],
                            given.get("tikhonov_weight", 0), self._has_follower)
        self._begin(lambda vectors: _core.Solver(kind, A._core, whole.range, vectors, asked), whole._domain,
                    whole._range, given["b"], given["x0"],
                    **{word: given[word] for word in ("data_weights", "blank") if word in given}, **ends)

    def _begin(self, make: Callable[[_core.Given], _core.Solver], domain: Vectors, range_: Vectors, b: Array, x0: Array,
               **beside: Array) -> None:
        if domain.may_be_images and range_.may_be_images and getattr(b, "ndim", 0) == 2:
            domain, range_ = domain.as_images(), range_.as_images()
        kind: Any = None
        arrays: list[Array] = []
        addresses: dict[str, int] = {}
        originals: dict[str, tuple] = {}
        on_cpu = domain.device == "cpu"
        for name, vectors, value in (("b", range_, b), ("x0", domain, x0),
                                     *((word, domain if word in ("other", "lowest", "highest") else range_, array)
                                       for word, array in beside.items())):
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
        at = [addresses.get(word, 0) for word in ("b", "x0", "data_weights", "blank", "other", "lowest", "highest")]
        self._core = make(_core.Given(*at, stream, keeper))
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

    def _require_objective(self, asked: str) -> None:
        if self._is_plugged:
            raise UsageError(f"{asked}: with a denoiser nothing is minimised; stop by settled(solver), and look at "
                             "residual_norms and check_residual")

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


_mistakes.BY_TYPE["Solver"] = (lambda value: isinstance(value, Solver)), "a solver, such as Cgls(A, b)"


def _gone_on(kind: type, arguments: tuple, keywords: dict[str, Any], state: Any) -> Solver:
    solver = kind(*arguments, **keywords)
    solver._core.set_state(*state)
    return solver


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


class _Search(Solver):
    """The vectors of a search, as a solver takes them."""

    def __init__(self, A: LinearOperator, b: Array, x0: Array, search: Callable[[_core.Given], Any],
                 **beside: Array) -> None:
        def make(given: _core.Given) -> Any:
            self.found = search(given)
        self._begin(make, A._domain, A._range, b, x0, **beside)


def find_weight(A: Sequence[LinearOperator], b: Sequence[Array], F: Sequence[LinearOperator],
                regulariser: RegulariserLike, data_weights: Array = None, *,
                bounds: BoundsLike = no_bounds) -> WeightFound:
    """The weight W of a regulariser for `Pdhg` and `Fista` and all views, by cross-validation between two halves of
    them (`view_subsets(scan, 2)`). Each half has a projector in A, data in b, and in F what makes a volume of data, such
    as `fbp`. The equations of the first half, with `data_weights`, are solved for one W after another. A W is the
    better, the nearer its solution is to the volume of the second half. There is one W for all blocks."""
    for word, halves in (("A", A), ("b", b), ("F", F)):
        if len(halves) != 2:
            raise SpaceError(f"find_weight: {word} has {len(halves)} parts; one for each of two halves is needed")
    _require_matched("find_weight", A[0], False)
    g, (within, ends) = as_regulariser(regulariser, A[0].domain), _bounds(bounds)
    first, second = (part @ data for part, data in zip(F, b))
    return _Search(A[0], b[0], first, lambda given: _core.find_weight(
        A[0]._core, given, g, within, A[1]._core, F[0]._core, F[1]._core), data_weights=data_weights, other=second,
                   **ends).found
