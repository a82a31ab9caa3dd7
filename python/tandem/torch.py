"""Operators as layers of PyTorch, differentiable to any order: the backward of A is its adjoint, and the other way
round. Numbers are float32 everywhere; under autocast, too."""
from __future__ import annotations

from typing import Any, Callable, Optional, Union

import torch
from torch import nn

from . import _arrays, _tomography
from ._core import VolumeGrid
from ._errors import SpaceError
from ._operator import LinearOperator
from ._tomography import Filter, Scan


class _Applied(torch.autograd.Function):
    @staticmethod
    def forward(x, A):
        batch = _arrays.batch_of("x", x.shape, A._domain.inner)
        return A._apply(x.detach().contiguous(), _arrays.TorchKind, batch)

    @staticmethod
    def setup_context(ctx, inputs, _):
        ctx.A = inputs[1]

    @staticmethod
    def backward(ctx, gradient):
        return _Applied.apply(gradient, ctx.A.T), None

    @staticmethod
    def jvp(ctx, tangent, _):
        return _Applied.apply(tangent, ctx.A)

    @staticmethod
    def vmap(_, in_dims, x, A):
        return _Applied.apply(x.movedim(in_dims[0], 0), A), 0


@torch.compiler.disable
def applied(A: LinearOperator, x: torch.Tensor) -> torch.Tensor:
    """A x, with a gradient. Spaces that are sums have all their parts on the last axis."""
    _arrays.require_device("x", _arrays.TorchKind.device(x), A.domain.device)
    if not _arrays.TorchKind.is_real(x):
        raise TypeError(f"x: {x.dtype} values; give real numbers, float32 at best")
    with torch.autocast(x.device.type, enabled=False):
        return _Applied.apply(x.float(), A)


class Layer(nn.Module):
    """An operator as a layer, for tensors with any axes before those of the operator, such as batch and channel.

    make: makes the operator for a device, 'cpu' or 'cuda:N'. It is called once for each device that tensors come from.
    images: for one slice and one detector row, leaves out the axis of length 1 of the slice and of the row, so that
    (batch, channel, y, x) becomes (batch, channel, view, bin).
    """

    def __init__(self, make: Callable[[str], LinearOperator], images: bool = False):
        super().__init__()
        self._make, self._images, self._made = make, images, {}
        if images:
            A = self.operator("cpu")
            for shape in A._domain.shapes + A._range.shapes:
                if 1 not in shape[:2]:
                    raise SpaceError(f"images: shape {shape}; it needs one slice and one detector row")

    def operator(self, device: str = "cpu") -> LinearOperator:
        if device not in self._made:
            self._made[device] = self._make(device)
        return self._made[device]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": {}}  # operators are made anew after a copy or from a file

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        A = self.operator(_arrays.TorchKind.device(x))
        if not self._images:
            return applied(A, x)
        here, there = A._domain.inner, A._range.inner
        batch = _arrays.batch_of("x", x.shape, _without_one(here))
        return applied(A, x.reshape(*batch, *here)).reshape(*batch, *_without_one(there))


def _without_one(shape):
    """(1, y, x) as (y, x), and (view, 1, bin) as (view, bin)."""
    return shape[1:] if shape[0] == 1 else (shape[0], shape[2])


class _OfScan:
    """Makes an operator of a scan for a device. It can be stored in a file."""

    def __init__(self, make, *arguments):
        self.make, self.arguments = make, arguments

    def __call__(self, device: str) -> LinearOperator:
        return self.make(*self.arguments, device=device)


class Projector(Layer):
    """Volumes (..., slice, y, x) -> line integrals (..., view, row, bin): `tandem.projector`."""

    def __init__(self, scan: Scan, grid: Optional[VolumeGrid] = None, model: Optional[str] = None, *,
                 images: bool = False):
        super().__init__(_OfScan(_tomography.projector, scan, grid, model), images)


class RampFilter(Layer):
    """Line integrals -> filtered line integrals: `tandem.ramp_filter`."""

    def __init__(self, scan: Scan, filter: Union[Filter, str] = "ramp", *, images: bool = False):
        super().__init__(_OfScan(_tomography.ramp_filter, scan, filter), images)


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
