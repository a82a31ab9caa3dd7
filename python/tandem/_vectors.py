"""Spaces as arrays see them."""
from __future__ import annotations

import copy
from typing import Any, Optional, Sequence

from . import _arrays
from ._core import Space
from ._errors import SpaceError
from ._layouts import Layout


class Vectors:
    """A space, as arrays see it: a shape, or the shapes of a direct sum, whose vectors are tuples of arrays. With a
    layout, arrays are those of another package."""

    def __init__(self, space: Space, layout: Optional[Layout] = None):
        self.space, self.device, self.size = space, space.device, space.size
        self.shapes = space.shapes
        self.is_sum = len(self.shapes) > 1
        self.own = (self.size,) if self.is_sum else self.shapes[0]
        self.layout = layout
        self.inner = layout.shape(self.own) if layout else self.own
        # Whether there is one slice or one row, so that arrays may have two axes.
        self.may_be_images = layout is None and len(self.inner) == 3 and 1 in self.inner[:2]

    def taken(self, name: str, value):
        """(array, kind, batch): float32 in C order, with the inner axes that `own` says."""
        if self.is_sum and isinstance(value, (tuple, list)):
            value = self._joined(name, value)
        array, kind = _arrays.known(name, value)
        _arrays.require_device(name, kind.device(array), self.device)
        batch = _arrays.batch_of(name, array.shape, self.inner)
        if self.layout:
            array = kind.in_order(self.layout.to_ours(array, kind, batch))
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
        images.own = images.inner = shape[1:] if shape[0] == 1 else (shape[0], shape[2])
        images.may_be_images = False
        return images

    def shown(self, whole, batch: Sequence[int], kind=None):
        if self.layout:
            return self.layout.to_theirs(whole, kind, batch)
        return self.split(whole, batch) if self.is_sum else whole


def _joined_with_gradient(parts, batch: Sequence[int]):
    import torch
    return torch.cat([part.to(torch.float32).reshape((*batch, -1)) for part in parts], -1)
