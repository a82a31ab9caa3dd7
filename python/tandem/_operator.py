"""Linear operators that act on the arrays of their callers."""
from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import numpy as np

from . import _arrays, _core
from ._core import Space
from ._errors import SpaceError, UsageError
from ._layouts import Layout
from ._vectors import Vectors

Array = Any
"""An array of NumPy, torch or CuPy, or any with DLPack or __cuda_array_interface__."""


class LinearOperator:
    """A linear map A with its adjoint, an immutable value. ``A @ x`` and ``A.T @ y`` take and give arrays of one
    library: NumPy, torch or CuPy. Axes before those of ``A.domain`` are a batch. Of one slice and one detector row,
    images (y, x) and sinograms (view, bin) of two axes do, too.

    ``A * B`` (or ``A @ B``), ``A + B``, ``A - B`` and ``2 * A`` are operators. ``A.T`` is the adjoint, and so is
    ``A.H``, since everything is real. Several threads may use an operator at once.
    """

    __array_ufunc__ = None  # so that NumPy leaves x @ A and 2 * A to this class
    dtype = np.dtype(np.float32)

    def __init__(self, core: _core.Operator, domain: Optional[Vectors] = None, range: Optional[Vectors] = None,
                 is_matched: bool = True, made: Optional[tuple] = None):
        self._core, self._adjoint, self._made = core, None, made
        self._domain, self._range = domain or Vectors(core.domain), range or Vectors(core.range)
        self._on_tensors = _core.OnTensors(core, self._domain.own, self._range.own)
        self._is_plain = not (self._domain.layout or self._range.layout or self._range.is_sum)
        self._may_be_images = self._domain.may_be_images and self._range.may_be_images
        self.is_matched = is_matched
        """Whether its adjoint is its transpose, as most solvers need it."""

    @property
    def domain(self) -> Space:
        """The space of x in A x."""
        return self._domain.space

    @property
    def range(self) -> Space:
        """The space of A x."""
        return self._range.space

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix: number of elements of the range, and of the domain."""
        return self._range.size, self._domain.size

    @property
    def T(self) -> LinearOperator:
        """The adjoint. Numbers are real, so `H` is the same."""
        if self._adjoint is None:
            self._adjoint = LinearOperator(self._core.adjoint(), self._range, self._domain, self.is_matched,
                                           (adjoint, (self,), {}))
        return self._adjoint

    H = T

    def _as_images(self) -> LinearOperator:
        """A x for arrays that lack the axis of one slice or one detector row."""
        return LinearOperator(self._core, self._domain.as_images(), self._range.as_images(), self.is_matched)

    def _as_they_lie(self, domain: Optional[Layout], range: Optional[Layout]) -> LinearOperator:
        """A x for arrays of another package."""
        return LinearOperator(self._core, Vectors(self.domain, domain), Vectors(self.range, range), self.is_matched)

    def apply(self, x: Array, out: Array = None, *, alpha: float = 1, beta: float = 0) -> Array:
        """alpha A x + beta out. It is written into `out`, if there is one, and returned. If beta = 0, `out` is not
        read. On a GPU the work is queued on the caller's current stream. For a space that is a sum, vectors are
        tuples of arrays, or one array whose last axis has all."""
        return self._applied(x, out, alpha, beta)

    def _applied(self, x: Array, out: Array = None, alpha: float = 1, beta: float = 0) -> Array:
        if out is None and not beta and self._is_plain:
            if type(x) is np.ndarray:
                if self._takes(x):
                    return self._of_one(x, alpha)
            elif (y := self._on_tensors.apply(x, alpha, True)) is not None:
                return y
        if self._may_be_images and getattr(x, "ndim", 0) == 2:
            return self._as_images()._applied(x, out, alpha, beta)
        x, kind, batch = self._domain.taken("x", x)
        if kind is _arrays.TorchKind and x.requires_grad and _gradients_are_on():
            if out is not None or beta:
                raise TypeError("out: x needs a gradient, which does not go through an array that is overwritten; "
                                "leave out away, or give x.detach()")
            from .torch import applied
            whole = applied(self if alpha == 1 else alpha * self, x)
        elif self._range.layout and out is not None:
            return self._into(out, x, kind, batch, alpha, beta)
        else:
            whole = self._apply(x, kind, batch, out, alpha, beta)
        return self._range.shown(whole, batch, kind)

    def _takes(self, x: np.ndarray) -> bool:
        """Whether x is a single vector that can be used where it lies, for the short way of small operators."""
        flags = x.flags
        return (x.shape == self._domain.own and x.dtype == self.dtype and flags.c_contiguous and flags.aligned and
                self._domain.device == "cpu")

    def _of_one(self, x: np.ndarray, alpha: float) -> np.ndarray:
        y = np.empty(self._range.own, self.dtype)
        self._core.apply(alpha, x.__array_interface__["data"][0], 0, y.__array_interface__["data"][0], 1, 0)
        return y

    def _into(self, out, x, kind, batch, alpha, beta):
        """A x into an array of another package."""
        shape = (*batch, *self._range.inner)
        out = _arrays.checked_out(out, kind, shape, self._range.device)
        new = self._range.shown(self._apply(x, kind, batch, None, alpha), batch, kind)
        out[...] = new + beta * out if beta else new
        return out

    def _apply(self, x, kind, batch, out=None, alpha=1.0, beta=0.0):
        shape = (*batch, *self._range.own)
        if out is None and beta:
            raise UsageError(f"beta: {beta} without out; give the array that it multiplies")
        out = kind.empty(shape, x) if out is None else _arrays.checked_out(out, kind, shape, self._range.device)
        stream, _ = kind.stream(x)
        self._core.apply(alpha, kind.address(x), beta, kind.address(out), _arrays.count(batch), stream)
        return out

    def matvec(self, x: Array) -> Array:
        """A x between vectors of one axis, rounded to float32, as SciPy's solvers ask for it: they take A as it is."""
        return self._on_one_axis("x", x)

    def _on_one_axis(self, name: str, x: Array) -> Array:
        x, kind = _arrays.known(name, x)
        _arrays.require_real(name, x, kind)
        if _arrays.count(x.shape) != self._domain.size:
            raise SpaceError(f"{name}: shape {tuple(x.shape)}; {self._domain.size} elements are needed")
        if not kind.is_ready(x):
            x = kind.made_ready(x)
        taken = self._domain.taken(name, x.reshape(self._domain.inner))
        whole = self._apply(*taken)
        return (self._range.shown(whole, (), kind) if self._range.layout else whole).reshape(-1)

    def rmatvec(self, y: Array) -> Array:
        """At y between vectors of one axis, see `matvec`."""
        return self.T._on_one_axis("y", y)

    def __call__(self, x: Array) -> Array:
        return self._applied(x)

    def __matmul__(self, other):
        return self * other if isinstance(other, LinearOperator) else self._applied(other)

    def __mul__(self, other) -> LinearOperator:
        if isinstance(other, LinearOperator):
            if self._domain.layout != other._range.layout:
                raise SpaceError("A * B: arrays between the two lie in other ways; make both from scan_from(g) and "
                                 "grid_from(g), whose arrays are those of tandem")
            return LinearOperator(self._core.product(other._core), other._domain, self._range,
                                  self.is_matched and other.is_matched, (_product, (self, other), {}))
        return self.__rmul__(other)

    def __rmul__(self, number) -> LinearOperator:
        if isinstance(number, str):
            return NotImplemented
        if getattr(number, "shape", ()):
            raise TypeError("A * x: an operator is applied by A @ x, and its transpose by A.T @ y")
        try:
            factor = float(number)
        except (TypeError, ValueError):
            return NotImplemented
        return LinearOperator(self._core.scaled(factor), self._domain, self._range, self.is_matched,
                              (_product, (factor, self), {}))

    def __truediv__(self, number: float) -> LinearOperator:
        if isinstance(number, LinearOperator):
            raise TypeError("A / B: operators have no quotient; solve A x = b by Cgls(A, b), or give A / 2.0")
        return (1 / number) * self

    def __neg__(self) -> LinearOperator:
        return -1 * self

    def __add__(self, other: LinearOperator) -> LinearOperator:
        if not isinstance(other, LinearOperator):
            return NotImplemented
        return self._joined(other, self._core.sum(other._core), _sum)

    def __radd__(self, other) -> LinearOperator:
        return self if isinstance(other, (int, float)) and other == 0 else NotImplemented  # for sum([A, B])

    def __sub__(self, other: LinearOperator) -> LinearOperator:
        if not isinstance(other, LinearOperator):
            return NotImplemented
        return self._joined(other, self._core.difference(other._core), _difference)

    def _joined(self, other: LinearOperator, core: _core.Operator, how: Callable) -> LinearOperator:
        if (self._domain.layout, self._range.layout) != (other._domain.layout, other._range.layout):
            raise SpaceError("A + B: the two take arrays that lie in other ways; make both from the same geometry")
        return LinearOperator(core, self._domain, self._range, self.is_matched and other.is_matched,
                              (how, (self, other), {}))

    def __deepcopy__(self, _) -> LinearOperator:
        return self

    def __reduce__(self):
        if self._made is None:
            raise TypeError("this operator cannot be pickled, as it is made of functions or arrays; pickle what it is "
                            "made of")
        return _rebuilt, self._made

    def __repr__(self) -> str:
        def words(v: Vectors) -> str:
            return str(v.inner) if v.layout else " + ".join(map(str, v.shapes))
        return f"<LinearOperator {words(self._domain)} -> {words(self._range)} on {self._domain.device}>"


def _rebuilt(make: Callable, arguments: tuple, keywords: dict) -> Any:
    """What a function made of these, from a file."""
    return make(*arguments, **keywords)


def _product(A, B):
    return A * B


def _sum(A, B):
    return A + B


def _difference(A, B):
    return A - B


def _gradients_are_on() -> bool:
    import torch
    return torch.is_grad_enabled()


def vstack(rows: Sequence[LinearOperator]) -> LinearOperator:
    """x -> (A0 x, A1 x, ...)."""
    rows = _without_layouts("vstack", rows)
    return LinearOperator(_core.vstack([row._core for row in rows]), is_matched=all(A.is_matched for A in rows),
                          made=(vstack, (rows,), {}))


def hstack(columns: Sequence[LinearOperator]) -> LinearOperator:
    """(x0, x1, ...) -> A0 x0 + A1 x1 + ..."""
    columns = _without_layouts("hstack", columns)
    return LinearOperator(_core.hstack([column._core for column in columns]),
                          is_matched=all(A.is_matched for A in columns), made=(hstack, (columns,), {}))


def _without_layouts(name: str, operators: Sequence[LinearOperator]) -> list[LinearOperator]:
    operators = list(operators)
    for A in operators:
        if not isinstance(A, LinearOperator):
            raise TypeError(f"{name}: {type(A).__name__} is no operator; give a list of operators")
        if A._domain.layout or A._range.layout:
            raise TypeError(f"{name}: an operator takes arrays of another package; make it by projector(scan_from(g))")
    return operators


def zeros(space: Space, like: Array = None) -> Array:
    """A vector of zeros: `Space.zeros`."""
    vectors = Vectors(space)
    like, kind = _arrays.known("like", np.empty(0, np.float32) if like is None else like)
    _arrays.require_device("like", kind.device(like), space.device)
    whole = kind.empty(vectors.own, like)
    whole[...] = 0
    return vectors.shown(whole, ())


def adjoint(A: LinearOperator) -> LinearOperator:
    """A.T."""
    return A.T


def identity(space: Space) -> LinearOperator:
    """x -> x."""
    return LinearOperator(_core.identity(space))


def diagonal(weights: Array, space: Space) -> LinearOperator:
    """Multiplies the vectors of a space by weights, element by element, or by one number. Keeps a copy of them."""
    if isinstance(weights, (int, float, np.number)):
        return float(weights) * identity(space)
    return _diagonal("weights", weights, space)


def _diagonal(name: str, weights: Array, space: Space) -> LinearOperator:
    vectors = Vectors(space)
    if vectors.may_be_images and np.ndim(weights) == 2:
        vectors = vectors.as_images()
    weights, kind, batch = vectors.taken(name, weights)
    if batch:
        raise SpaceError(f"{name}: shape {tuple(weights.shape)}; {vectors.inner} is needed")
    return LinearOperator(_core.diagonal(space, kind.address(weights), kind.stream(weights)[0]))


def mask(where: Array, space: Space) -> LinearOperator:
    """Keeps the elements of a vector where `where` is true, and sets the others to 0. ``Cgls(A * mask(inside,
    A.domain), y)`` and the other solvers without a regulariser leave voxels beyond at 0; data that do not count get
    ``data_weights`` of 0."""
    import sys
    torch = sys.modules.get("torch")
    is_tensor = torch is not None and isinstance(where, torch.Tensor)
    return _diagonal("where", where.to(torch.float32) if is_tensor else
                     where.astype(np.float32) if hasattr(where, "astype") else np.asarray(where, np.float32), space)


def gradient(volume: Space, scales: Sequence[float] = (1, 1, 1), shear: float = 0) -> LinearOperator:
    """Differences of neighbouring voxels along (slice, y, x); of y and x alone where slices are problems of their own.
    The range is a sum of as many volumes. `shear` times the difference along x is added to that along y; `across` has
    scales and a shear with which lengths weigh a direction more."""
    return LinearOperator(_core.gradient(volume, list(scales), shear))


def across(angle_rad: float, ratio: float, scales: Sequence[float] = (1, 1, 1)) -> tuple[list[float], float]:
    """Scales and shear of a `gradient` whose lengths weigh differences across a direction in slices `ratio` times as
    much as those along it: ``total_variation(volume, *across(angle, 2))``. angle_rad: the direction, from x towards y.
    """
    return _core.across(angle_rad, ratio, list(scales))


def unmatched_pair(forward: LinearOperator, backward: LinearOperator) -> LinearOperator:
    """One operator from two maps that need not be each other's transpose."""
    return LinearOperator(_core.unmatched_pair(forward._core, backward._core), is_matched=False,
                          made=(unmatched_pair, (forward, backward), {}))


def make_operator(domain: Space, range: Space, forward: Callable[[np.ndarray], np.ndarray],
                  adjoint: Callable[[np.ndarray], np.ndarray]) -> LinearOperator:
    """An operator from two functions of NumPy arrays, on the CPU. Each gets an array of its own and returns one."""
    spaces = Vectors(domain), Vectors(range)
    for vectors in spaces:
        if vectors.is_sum:
            raise SpaceError("make_operator: a space is a direct sum; make an operator for each part, and stack them")
    return LinearOperator(_core.of_functions(domain, range, _on_addresses(forward, *spaces),
                                             _on_addresses(adjoint, *reversed(spaces))))


def floats_at(address: int, vectors: Vectors) -> np.ndarray:
    """The vector that lies at an address of this process, without a copy."""
    import ctypes
    floats = (ctypes.c_float * vectors.size).from_address(address)
    return np.frombuffer(floats, np.float32).reshape(vectors.inner)


def _on_addresses(function, here: Vectors, there: Vectors):
    def call(source: int, target: int) -> None:
        result = np.asarray(function(floats_at(source, here).copy()))
        if result.shape != there.inner:
            raise SpaceError(f"make_operator: a function gave shape {result.shape}; {there.inner} is needed")
        _arrays.require_real("make_operator: a function gave", result, _arrays.NumpyKind)
        floats_at(target, there)[...] = result

    return call


def adjointness(A: LinearOperator, trials: int = 16, seed: int = 1) -> _core.Adjointness:
    """How well A and the operator in the place of its adjoint match: coupling (exact: 1) and mismatch (exact: 0). Takes
    four applications for each trial."""
    return _core.adjointness(A._core, trials, seed)


def operator_norm(A: LinearOperator, iterations: int = 20, seed: int = 1) -> float:
    """The largest singular value of A by power iteration, from below: add 2 % if a bound is needed."""
    return _core.operator_norm(A._core, iterations, seed)


