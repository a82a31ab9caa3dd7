"""The description of a package. Each package has one file here, and one line in the table of `__init__.py`."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Optional

import numpy as np

from .. import _core
from .._layouts import Layout


@dataclass(frozen=True)
class Package:
    """A package whose geometries are read by their attributes, without importing it."""
    name: str
    is_scan: Callable[[Any], bool]
    scan: Callable[[Any, Any], Any]
    """(geometry, what it lacks) -> a scan of ours. What is lacking: the angles of TIGRE, the detector of RTK."""
    is_grid: Callable[[Any], bool]
    grid: Callable[[Any], _core.VolumeGrid]
    data: Callable[[Any], Layout]
    """How data lie, by the geometry of the scan."""
    volume: Callable[[Any], Layout]
    """How volumes lie, by the geometry of the grid."""
    scan_back: Optional[Callable[[Any], Any]] = None
    grid_back: Optional[Callable[[_core.VolumeGrid], Any]] = None
    grid_of_scan: Callable[[Any], Any] = lambda _: None
    """The geometry of the volume that belongs to that of a scan, if there is one."""


def circle_or_views(bins: int, rows: int, vectors: Any, parallel: bool) -> Any:
    """The scan of 12 numbers per view: source or direction, middle of the detector, steps along bins and rows."""
    v = np.asarray(vectors, float)
    views = _core.FlexibleBeam(bins, rows, v.tolist(), parallel)
    far = 1.0 if parallel else beyond_axis(np.linalg.norm(v[:, :2], axis=1).mean(),
                                           np.linalg.norm(v[:, 3:6] - v[:, :3], axis=1).mean())
    if far == 1:
        return _core.as_circle(views) or views
    moved = np.hstack([v[:, :3], v[:, :3] + far * (v[:, 3:6] - v[:, :3]), far * v[:, 6:]])
    return _core.as_circle(_core.FlexibleBeam(bins, rows, moved.tolist(), False)) or views


def beyond_axis(sod: float, sdd: float) -> float:
    """By which factor a detector is moved away from its source and made larger, so that it is behind the axis, where
    those of circles are. The rays stay the same. Other packages also have detectors at the axis."""
    return 1.0 if sdd > sod or sdd <= 0 else 2 * sod / sdd


def has_axis(scan: Any) -> bool:
    """Whether the views go round an axis; views with places of their own need not."""
    return not isinstance(scan, _core.FlexibleBeam)


def upright(directions: Any, heights: float = 0) -> np.ndarray:
    """Vectors of a plane, (view, 2), as vectors of space."""
    plane = np.asarray(directions, float)
    return np.column_stack([plane, np.full(len(plane), heights)])


def axis_is_centred(scan: Any) -> bool:
    """Whether axis and midplane fall on the middle of the detector, in all views and rows."""
    d = scan.detector
    centred = d.axis_bin == (d.bins - 1) / 2
    if isinstance(scan, _core.ConeBeam):
        return centred and scan.midplane_row == (d.rows - 1) / 2
    return centred and not len(scan.row_axis_bins) and not len(scan.view_shift_bins)
