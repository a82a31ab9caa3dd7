"""tomosipo: geometries whose coordinates are in the order (z, y, x), and arrays as ASTRA's of three dimensions."""
from __future__ import annotations

from typing import Any

from .. import _core
from .._layouts import Layout
from . import astra
from .package import Package


def _is_scan(g: Any) -> bool:
    return hasattr(g, "to_vec") and hasattr(g, "det_shape")


def _scan(g: Any, _: Any) -> Any:
    return astra.PACKAGE.scan(g.to_vec().to_astra(), None)


def _grid(g: Any) -> _core.VolumeGrid:
    low, high = ([end[k] for end in reversed(g.extent)] for k in (0, 1))
    size = tuple(int(n) for n in reversed(g.shape))
    return _core.VolumeGrid(size, tuple((b - a) / n for a, b, n in zip(low, high, size)),
                            tuple((a + b) / 2 for a, b in zip(low, high)))


def _scan_back(scan: Any) -> Any:
    import tomosipo
    return tomosipo.from_astra(astra.vectors_of(scan))


def _grid_back(grid: _core.VolumeGrid) -> Any:
    import tomosipo
    return tomosipo.volume(shape=grid.shape, pos=tuple(reversed(grid.centre)),
                           size=tuple(n * p for n, p in zip(grid.shape, reversed(grid.pitch))))


PACKAGE = Package("tomosipo", _is_scan, _scan, lambda g: hasattr(g, "extent") and hasattr(g, "shape"), _grid,
                  lambda _: Layout((1, 0, 2)), lambda _: Layout((0, 1, 2)), _scan_back, _grid_back)
