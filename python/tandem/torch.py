"""Operators as layers of PyTorch, differentiable to any order: the backward of A is its adjoint, and the other way
round. Numbers are float32 everywhere; under autocast, too."""
from __future__ import annotations

import functools
from typing import Any, Callable, Optional, Union

import numpy as np
import torch
from torch import nn
from torch.autograd.function import once_differentiable

from . import _arrays, _tomography
from ._core import FlexibleBeam, VolumeGrid
from ._errors import DeviceError
from ._operator import LinearOperator
from ._tomography import Filter, Scan


class _Applied(torch.autograd.Function):
    """A x, whose gradient is At."""

    @staticmethod
    def forward(ctx, x, A):
        ctx.A = A
        return _of_tensor(A, x)

    @staticmethod
    def backward(ctx, gradient):
        return applied(ctx.A.T, gradient), None

    @staticmethod
    def jvp(ctx, tangent, _):
        return applied(ctx.A, tangent)


class _Transformed(_Applied):
    """A x, whose gradient is At, in the form that torch.func needs. torch takes longer for it."""

    @staticmethod
    def forward(x, A):
        return _of_tensor(A, x)

    @staticmethod
    def setup_context(ctx, inputs, _):
        ctx.A = inputs[1]

    @staticmethod
    def vmap(_, in_dims, x, A):
        return applied(A, x.movedim(in_dims[0], 0)), 0


_transforms_are_active = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)


def _of_tensor(A: LinearOperator, x: torch.Tensor) -> torch.Tensor:
    """A x of float32, in any layout."""
    y = A._on_tensors.apply(x.contiguous(), 1.0, False)
    if y is not None:
        return y
    kind = _arrays.known("x", x)[1]
    _arrays.require_device("x", kind.device(x), A.domain.device)
    batch = _arrays.batch_of("x", x.shape, A._domain.inner)
    return A._apply(x if kind.is_ready(x) else kind.made_ready(x), kind, batch)


def applied(A: LinearOperator, x: torch.Tensor) -> torch.Tensor:
    """A x, with a gradient. Spaces that are sums have all their parts on the last axis."""
    if torch.compiler.is_compiling():
        return _uncompiled(A, x)
    if x.dtype != torch.float32:
        if not _arrays.TorchKind.is_real(x):
            raise TypeError(f"x: {x.dtype} values; give real numbers, float32 at best")
        x = x.float()
    return (_Transformed if _transforms_are_active() else _Applied).apply(x, A)


_uncompiled = torch.compiler.disable(applied)


class _Given:
    """An existing operator, for its own device."""

    def __init__(self, operator: LinearOperator):
        self.operator = operator

    def __call__(self, device: str) -> LinearOperator:
        if device != self.operator.domain.device:
            raise DeviceError(f"x: the tensor is on {device}, the operator of this layer on "
                              f"{self.operator.domain.device}; move one, or give Layer a function of the device")
        return self.operator


class Layer(nn.Module):
    """An operator as a layer, for tensors with any axes before those of the operator, such as batch and channel.

    operator: an operator, for tensors on its device; or a function that makes one for a device, 'cpu' or 'cuda:N'. The
    function is called once for each device that tensors come from.
    images: with one slice and one detector row, tensors do not have the axes of the slice and of the row, so that
    (batch, channel, y, x) becomes (batch, channel, view, bin).
    """

    def __init__(self, operator: Union[LinearOperator, Callable[[str], LinearOperator]], images: bool = False):
        super().__init__()
        is_operator = isinstance(operator, LinearOperator)
        self._make, self._images, self._made = _Given(operator) if is_operator else operator, images, {}
        if images:
            self._operators(operator.domain.device if is_operator else "cpu")

    def operator(self, device: str = "cpu") -> LinearOperator:
        return self._operators(device)[0]

    def _operators(self, device: str) -> tuple[LinearOperator, LinearOperator]:
        """On a device; and as it takes the tensors of this layer."""
        if device not in self._made:
            A = self._make(device)
            self._made[device] = A, A._as_images() if self._images else A
        return self._made[device]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": {}}  # operators are made anew after a copy or from a file

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not isinstance(x, torch.Tensor):
            raise TypeError(f"x: a {type(x).__name__}; give a tensor, such as torch.from_numpy(x)")
        A = self._operators(_arrays.TorchKind.device(x))[1]
        return applied(A, x) if A._is_plain or A._range.is_sum else A.apply(x)


class _OfScan:
    """Makes an operator of a scan for a device. It can be stored in a file."""

    def __init__(self, make, *arguments, **keywords):
        self.make, self.arguments, self.keywords = make, arguments, keywords

    def __call__(self, device: str) -> LinearOperator:
        return self.make(*self.arguments, **self.keywords, device=device)


class Projector(Layer):
    """Volumes (..., slice, y, x) -> line integrals (..., view, row, bin): `tandem.projector`."""

    def __init__(self, scan: Scan, grid: Optional[VolumeGrid] = None, model: Optional[str] = None, *,
                 images: bool = False):
        super().__init__(_OfScan(_tomography.projector, scan, grid, model), images)


class RampFilter(Layer):
    """Line integrals -> filtered line integrals: `tandem.ramp_filter`."""

    def __init__(self, scan: Scan, filter: Union[Filter, str] = "ramp", *, model: Optional[str] = None,
                 grid: Optional[VolumeGrid] = None, images: bool = False):
        super().__init__(_OfScan(_tomography.ramp_filter, scan, filter, model=model, grid=grid), images)


class Fbp(Layer):
    """Line integrals of a parallel beam -> volumes: `tandem.fbp`."""

    def __init__(self, scan: Scan, grid: Optional[VolumeGrid] = None, filter: Union[Filter, str] = "ramp",
                 model: Optional[str] = None, *, images: bool = False):
        super().__init__(_OfScan(_tomography.fbp, scan, grid, filter, model), images)


class Fdk(Layer):
    """Line integrals of a cone beam or a fan beam -> volumes: `tandem.fdk`."""

    def __init__(self, scan: Scan, grid: Optional[VolumeGrid] = None, filter: Union[Filter, str] = "ramp",
                 model: Optional[str] = None, *, images: bool = False):
        super().__init__(_OfScan(_tomography.fdk, scan, grid, filter, model), images)


class _Views:
    """A scan without its vectors: makes of these the pair in double."""

    def __init__(self, grid, rows, bins, parallel):
        self.grid, self.rows, self.bins, self.parallel = grid, rows, bins, parallel

    def __call__(self, vectors: np.ndarray) -> _tomography.ViewsInDouble:
        scan = FlexibleBeam(self.bins, self.rows, vectors.tolist(), self.parallel)
        return _tomography.ViewsInDouble(scan, self.grid)

    def along(self, vectors: np.ndarray, change: np.ndarray, of: Callable) -> Any:
        """The derivative of what `of` makes of the pair, along a change of the vectors: a central difference. Its step
        moves no vector by more than 1e-5 of a cell, so that rounding leaves 1e-11 of the value, and few corners of
        trapezoids, where derivatives jump, lie within it."""
        most = np.abs(change).max(initial=0)
        if most == 0:
            return 0
        step = 1e-5 * np.linalg.norm(vectors[:, 6:9], axis=1).min() / most
        return (of(self(vectors + step * change)) - of(self(vectors - step * change))) / (2 * step)


def _in_double(*tensors: torch.Tensor) -> list[np.ndarray]:
    return [tensor.detach().double().numpy() for tensor in tensors]


class _OfViews(torch.autograd.Function):
    """A x, with gradients by x and by the vectors of the views. All is done in double."""

    @staticmethod
    def forward(ctx, x, vectors, views):
        ctx.views = views
        ctx.save_for_backward(x, vectors)
        volume, numbers = _in_double(x, vectors)
        return torch.from_numpy(views(numbers).project(volume)).to(x.dtype)

    @staticmethod
    def backward(ctx, gradient):
        return *_GradientsOfViews.apply(*ctx.saved_tensors, gradient, ctx.views, ctx.needs_input_grad), None


class _GradientsOfViews(torch.autograd.Function):
    """The gradients of <y, A x> by x and by the vectors, with gradients of their own."""

    @staticmethod
    def forward(ctx, x, vectors, y, views, wanted):
        ctx.views = views
        ctx.save_for_backward(x, vectors, y)
        volume, numbers, data = _in_double(x, vectors, y)
        pair = views(numbers)
        by_x = torch.from_numpy(pair.back_project(data)).to(x.dtype) if wanted[0] else None
        by_vectors = torch.from_numpy(pair.gradient_by_views(volume, data)).to(vectors.dtype) if wanted[1] else None
        return by_x, by_vectors

    @staticmethod
    @once_differentiable
    def backward(ctx, for_x, for_vectors):
        """The gradient of <for_x, At y> + <for_vectors, gradient by vectors>, which is that of <y, A for_x> and of the
        change of <y, A x> along for_vectors."""
        x, vectors, y = ctx.saved_tensors
        volume, numbers, data = _in_double(x, vectors, y)
        by_x, by_vectors, by_y = 0, 0, 0
        if for_x is not None:
            pair, change = ctx.views(numbers), for_x.double().numpy()
            by_y = by_y + pair.project(change)
            by_vectors = by_vectors + pair.gradient_by_views(change, data)
        if for_vectors is not None:
            along = functools.partial(ctx.views.along, numbers, for_vectors.double().numpy())
            by_y = by_y + along(lambda pair: pair.project(volume))
            by_x = by_x + along(lambda pair: pair.back_project(data))
            by_vectors = by_vectors + along(lambda pair: pair.gradient_by_views(volume, data))

        def like(tensor, gradient):
            return torch.from_numpy(np.broadcast_to(gradient, tensor.shape).copy()).to(tensor.dtype)

        return like(x, by_x), like(vectors, by_vectors), like(y, by_y), None, None


def project_views(x: torch.Tensor, vectors: torch.Tensor, grid: VolumeGrid, rows: int, bins: int,
                  parallel: bool = False) -> torch.Tensor:
    """The line integrals (view, row, bin) of a volume (slice, y, x), with gradients by the volume and by the views: 12
    numbers each, as `FlexibleBeam` has them, in mm. So a geometry can be fitted by any optimiser of PyTorch; parameters
    of one's own become vectors by operations of PyTorch. On the CPU, in double within, of flat detectors. First
    derivatives are exact; second ones by the views are central differences of these, and jump where the edge of a voxel's
    shadow passes that of a cell. `tandem.view_derivative` says which pair this is."""
    for name, tensor in (("x", x), ("vectors", vectors)):
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name}: a {type(tensor).__name__}; give a tensor, such as torch.from_numpy({name})")
        if tensor.device.type != "cpu":
            raise DeviceError(f"{name}: the tensor is on {tensor.device}; derivatives by views are made on the cpu")
    return _OfViews.apply(x, vectors, _Views(grid, rows, bins, parallel))
