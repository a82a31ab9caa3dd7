"""Layouts of arrays of other packages: another order of axes, axes that run backwards, axes of length 1 left out."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence


@dataclass(frozen=True)
class Layout:
    """Where the axes of ours are in arrays of another package."""
    order: tuple[int, ...]
    """For each axis of theirs, which of ours it is, of (slice, y, x) or (view, row, bin). Others have length 1."""
    reversed: tuple[int, ...] = ()
    """Axes of ours that run backwards there."""

    def shape(self, ours: Sequence[int]) -> tuple[int, ...]:
        """The shape of their arrays for a shape of ours."""
        return tuple(ours[axis] for axis in self.order)

    def _all(self) -> list[int]:
        return [*self.order, *(axis for axis in range(3) if axis not in self.order)]

    def to_ours(self, array: Any, kind: Any, batch: Sequence[int]) -> Any:
        """The array in our order of axes. Axes before theirs are a batch."""
        before, there = len(batch), self._all()
        array = array.reshape((*array.shape, *(1 for _ in there[len(self.order):])))
        axes = [before + there.index(axis) for axis in range(3)]
        return self._turned(kind.permuted(array, [*range(before), *axes]), kind, before)

    def to_theirs(self, array: Any, kind: Any, batch: Sequence[int]) -> Any:
        """The array in their order of axes, in its own memory."""
        before = len(batch)
        turned = self._turned(array, kind, before)
        array = kind.permuted(turned, [*range(before), *(before + axis for axis in self._all())])
        return kind.in_order(array.reshape(tuple(array.shape[:before + len(self.order)])))

    def _turned(self, array: Any, kind: Any, before: int) -> Any:
        return kind.flipped(array, [before + axis for axis in self.reversed]) if self.reversed else array


IMAGES = Layout((1, 2))
"""A slice (y, x)."""
SINOGRAM = Layout((0, 2))
"""A row (view, bin)."""
