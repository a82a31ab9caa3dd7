"""Linear operators that act on the arrays of their callers."""
from __future__ import annotations

import copy
from typing import Any, Callable, Optional, Sequence

import numpy as np

from . import _arrays, _core
from ._core import Space
from ._errors import SpaceError

Array = Any
"""An array of NumPy, torch or CuPy, or any with DLPack or __cuda_array_interface__."""


class Vectors:
    """A space, as arrays see it: a shape, or the shapes of a direct sum, whose vectors are tuples of arrays."""

    def __init__(self, space: Space):
        self.space, self.device, self.size = space, space.device, space.size
        self.shapes = space.shapes
        self.is_sum = len(self.shapes) > 1
        self.inner = (self.size,) if self.is_sum else self.shapes[0]

    def taken(self, name: str, value):
        """(array, kind, batch): float32 in C order, with the inner axes that `inner` says."""
        if self.is_sum and isinstance(value, (tuple, list)):
            value = self._joined(name, value)
        array, kind = _arrays.known(name, value)
        _arrays.require_device(name, kind.device(array), self.device)
        batch = _arrays.batch_of(name, array.shape, self.inner)
        return _arrays.ready(name, array, kind), kind, batch

    def _joined(self, name: str, parts):
        """The parts of a direct sum one after another, which is a copy."""
        if len(parts) != len(self.shapes):
            raise SpaceError(f"{name}: {len(parts)} arrays; the space is a sum of {len(self.shapes)}")
        found = [_arrays.known(f"{name}[{i}]", part) for i, part in enumerate(parts)]
        first, kind = found[0]
        batch = _arrays.batch_of(f"{name}[0]", first.shape, self.shapes[0])
        for i, ((part, own), shape) in enumerate(zip(found, self.shapes)):
            if own is not kind or kind.device(part) != kind.device(first):
                raise TypeError(f"{name}[{i}]: the arrays of a sum are of one library and device")
            if tuple(part.shape) != (*batch, *shape):
                raise SpaceError(f"{name}[{i}]: shape {tuple(part.shape)}; {(*batch, *shape)} is needed")
        if kind is _arrays.TorchKind and any(part.requires_grad for part, _ in found):
            return _joined_with_gradient([part for part, _ in found], batch)
        whole = kind.empty((*batch, self.size), first)
        for (part, _), piece in zip(found, self.split(whole, batch)):
            piece[...] = part
        return whole

    def split(self, whole, batch: Sequence[int]):
        """The parts of an array of all, as views."""
        parts, first = [], 0
        for shape in self.shapes:
            end = first + _arrays.count(shape)
            parts.append(whole[..., first:end].reshape((*batch, *shape)))
            first = end
        return tuple(parts)

    def as_images(self) -> Vectors:
        """The same, with the inner axes (y, x) or (view, bin). Raises SpaceError unless the third one has length 1."""
        shape = self.inner
        if len(shape) != 3 or 1 not in shape[:2]:
            raise SpaceError(f"images: shape {shape}; it needs one slice and one detector row")
        images = copy.copy(self)
        images.inner = shape[1:] if shape[0] == 1 else (shape[0], shape[2])
        return images

    def shown(self, whole, batch: Sequence[int]):
        return self.split(whole, batch) if self.is_sum else whole


def _joined_with_gradient(parts, batch: Sequence[int]):
    import torch
    return torch.cat([part.to(torch.float32).reshape((*batch, -1)) for part in parts], -1)


class LinearOperator:
    """A linear map A with its adjoint, an immutable value. ``A @ x`` and ``A.T @ y`` take and give arrays of one
    library: NumPy, torch or CuPy. Axes before those of ``A.domain`` are a batch.

    ``A * B`` (or ``A @ B``), ``A + B``, ``A - B`` and ``2 * A`` are operators. ``A.T`` is the adjoint, and so is
    ``A.H``, since everything is real. Several threads may use an operator at once.
    """

    __array_ufunc__ = None  # so that NumPy leaves x @ A and 2 * A to this class
    dtype = np.dtype(np.float32)

    def __init__(self, core: _core.Operator, domain: Optional[Vectors] = None, range: Optional[Vectors] = None):
        self._core, self._adjoint = core, None
        self._domain, self._range = domain or Vectors(core.domain), range or Vectors(core.range)
        self._on_tensors = _core.OnTensors(core, self._domain.inner, self._range.inner)

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
        """Of the matrix: elements of the range, and of the domain."""
        return self._range.size, self._domain.size

    @property
    def T(self) -> LinearOperator:
        """The adjoint. Numbers are real, so `H` is the same."""
        if self._adjoint is None:
            self._adjoint = LinearOperator(self._core.adjoint(), self._range, self._domain)
        return self._adjoint

    H = T

    def _as_images(self) -> LinearOperator:
        """The same, where arrays lack the axis of one slice or one detector row."""
        return LinearOperator(self._core, self._domain.as_images(), self._range.as_images())

    def apply(self, x: Array, out: Array = None, *, alpha: float = 1, beta: float = 0) -> Array:
        """alpha A x + beta out. It is written into `out`, if there is one, and returned. If beta = 0, `out` is not
        read. On a GPU the work is queued on the caller's current stream. For a space that is a sum, vectors are
        tuples of arrays, or one array whose last axis has all."""
        if out is None and not beta and not self._range.is_sum:
            y = self._on_tensors.apply(x, alpha, True)
            if y is not None:
                return y
        x, kind, batch = self._domain.taken("x", x)
        if kind is _arrays.TorchKind and x.requires_grad and _gradients_are_on():
            if out is not None or beta:
                raise TypeError("out: x needs a gradient, which does not go through an array that is overwritten; "
                                "leave out away, or give x.detach()")
            from .torch import applied
            whole = applied(self if alpha == 1 else alpha * self, x)
        else:
            whole = self._apply(x, kind, batch, out, alpha, beta)
        return self._range.shown(whole, batch)

    def _apply(self, x, kind, batch, out=None, alpha=1.0, beta=0.0):
        shape = (*batch, *self._range.inner)
        if out is None and beta:
            raise ValueError(f"beta: {beta} without out; give the array that it multiplies")
        out = kind.empty(shape, x) if out is None else _arrays.checked_out(out, kind, shape, self._range.device)
        stream, _ = kind.stream(x)
        self._core.apply(alpha, kind.address(x), beta, kind.address(out), _arrays.count(batch), stream)
        return out

    def matvec(self, x: Array) -> Array:
        """A x between vectors of one axis, rounded to float32, as SciPy's solvers ask for it: they take A as it is."""
        x, kind = _arrays.known("x", x)
        if not kind.is_ready(x):
            x = kind.made_ready(x)
        return self._apply(*self._domain.taken("x", x.reshape(self._domain.inner))).reshape(-1)

    def rmatvec(self, y: Array) -> Array:
        """The same for the adjoint."""
        return self.T.matvec(y)

    def __call__(self, x: Array) -> Array:
        return self.apply(x)

    def __matmul__(self, other):
        return self * other if isinstance(other, LinearOperator) else self.apply(other)

    def __mul__(self, other) -> LinearOperator:
        if isinstance(other, LinearOperator):
            return LinearOperator(self._core.product(other._core))
        return self.__rmul__(other)

    def __rmul__(self, number) -> LinearOperator:
        try:
            return LinearOperator(self._core.scaled(float(number)))
        except (TypeError, ValueError):
            return NotImplemented

    def __neg__(self) -> LinearOperator:
        return -1 * self

    def __add__(self, other: LinearOperator) -> LinearOperator:
        return LinearOperator(self._core.sum(other._core)) if isinstance(other, LinearOperator) else NotImplemented

    def __sub__(self, other: LinearOperator) -> LinearOperator:
        return (LinearOperator(self._core.difference(other._core)) if isinstance(other, LinearOperator)
                else NotImplemented)

    def __deepcopy__(self, _) -> LinearOperator:
        return self

    def __repr__(self) -> str:
        def words(v: Vectors) -> str:
            return " + ".join(map(str, v.shapes))
        return f"<LinearOperator {words(self._domain)} -> {words(self._range)} on {self._domain.device}>"


def _gradients_are_on() -> bool:
    import torch
    return torch.is_grad_enabled()


def vstack(rows: Sequence[LinearOperator]) -> LinearOperator:
    """x -> (A0 x, A1 x, ...)."""
    return LinearOperator(_core.vstack([row._core for row in rows]))


def hstack(columns: Sequence[LinearOperator]) -> LinearOperator:
    """(x0, x1, ...) -> A0 x0 + A1 x1 + ..."""
    return LinearOperator(_core.hstack([column._core for column in columns]))


def adjoint(A: LinearOperator) -> LinearOperator:
    """A.T."""
    return A.T


def identity(space: Space) -> LinearOperator:
    """x -> x."""
    return LinearOperator(_core.identity(space))


def diagonal(weights: Array, space: Space) -> LinearOperator:
    """Multiplies the vectors of a space by weights, element by element. Keeps a copy of them."""
    vectors = Vectors(space)
    weights, kind, batch = vectors.taken("weights", weights)
    if batch:
        raise SpaceError(f"weights: shape {tuple(weights.shape)}; {vectors.inner} is needed")
    return LinearOperator(_core.diagonal(space, kind.address(weights), kind.stream(weights)[0]))


def gradient(volume: Space, scales: Sequence[float] = (1, 1, 1)) -> LinearOperator:
    """Differences of neighbouring voxels along (slice, y, x); of y and x alone where slices are problems of their own.
    The range is a sum of as many volumes."""
    return LinearOperator(_core.gradient(volume, list(scales)))


def unmatched_pair(forward: LinearOperator, backward: LinearOperator) -> LinearOperator:
    """One operator from two maps that need not be each other's transpose."""
    return LinearOperator(_core.unmatched_pair(forward._core, backward._core))


def make_operator(domain: Space, range: Space, forward: Callable[[np.ndarray], np.ndarray],
                  adjoint: Callable[[np.ndarray], np.ndarray]) -> LinearOperator:
    """An operator from two functions of NumPy arrays, on the CPU. Each gets an array of its own and returns one."""
    spaces = Vectors(domain), Vectors(range)
    for vectors in spaces:
        if vectors.is_sum:
            raise SpaceError("make_operator: a space is a direct sum; make an operator for each part, and stack them")
    return LinearOperator(_core.of_functions(domain, range, _on_addresses(forward, *spaces),
                                             _on_addresses(adjoint, *reversed(spaces))))


def _on_addresses(function, here: Vectors, there: Vectors):
    import ctypes

    def at(address: int, vectors: Vectors) -> np.ndarray:
        floats = (ctypes.c_float * vectors.size).from_address(address)
        return np.frombuffer(floats, np.float32).reshape(vectors.inner)

    def call(source: int, target: int) -> None:
        result = np.asarray(function(at(source, here).copy()))
        if result.shape != there.inner:
            raise SpaceError(f"make_operator: a function gave shape {result.shape}; {there.inner} is needed")
        at(target, there)[...] = result

    return call


def adjointness(A: LinearOperator, trials: int = 16, seed: int = 1) -> _core.Adjointness:
    """How well A and what serves as its adjoint match: coupling (1) and mismatch (0). Four applications a trial."""
    return _core.adjointness(A._core, trials, seed)


def operator_norm(A: LinearOperator, iterations: int = 20, seed: int = 1) -> float:
    """The largest singular value of A, from below, by power iteration."""
    return _core.operator_norm(A._core, iterations, seed)


