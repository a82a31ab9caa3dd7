"""TIGRE: the geometry object, with the angles beside it or within. Its source is at (DSO, 0, 0) at angle 0, bins go
along y and rows along z; angles are those of rotations about z, y and z. rotDetector turns the detector about x, then
about y, then about z. Source: computeDeltas_Siddon, rollPitchYaw and eulerZYZ in Siddon_projection.cu, and _types.pxd,
TIGRE 2. Lists have the order (z, y, x) and (row, bin)."""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import _arrays, _core
from .._errors import GeometryError
from .._layouts import Layout
from .package import Package, circle_or_views, has_axis


def _about_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def _about_y(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def _about_x(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def _each(g: Any, name: str, views: int, width: int) -> np.ndarray:
    """A quantity for each view, (view, width); zeros if the geometry lacks it."""
    value = np.asarray(getattr(g, name, None) if getattr(g, name, None) is not None else 0.0, float)
    return np.broadcast_to(value.reshape(-1, width) if value.size % width == 0 else value, (views, width))


def _angles(g: Any, given: Any) -> np.ndarray:
    angles = getattr(g, "angles", None) if given is None else given
    if angles is None:
        raise GeometryError("TIGRE: the geometry has no angles; give scan_from(geo, angles), or (geo, angles)")
    angles = np.asarray(angles, float)
    if angles.size and np.abs(angles).max() > 4 * np.pi:
        _arrays.warn(f"TIGRE: angles up to {np.abs(angles).max():g} rad, which is more than two turns; if these are "
                     "degrees, give numpy.radians(angles)")
    return angles if angles.ndim == 2 else np.column_stack([angles, np.zeros((len(angles), 2))])


def _scan(g: Any, given: Any) -> Any:
    angles = _angles(g, given)
    count, parallel = len(angles), getattr(g, "mode", "cone") == "parallel"
    dso, dsd, cor = (_each(g, name, count, 1)[:, 0] for name in ("DSO", "DSD", "COR"))
    aside, turned = _each(g, "offDetector", count, 2), _each(g, "rotDetector", count, 3)
    moved = np.broadcast_to(_places(g)[1], (count, 3))
    rows, bins = (int(n) for n in g.nDetector)
    row_pitch, bin_pitch = (float(p) for p in g.dDetector)
    vectors = []
    for k, (alpha, theta, psi) in enumerate(angles):
        turn = _about_z(alpha) @ _about_y(theta) @ _about_z(psi)
        detector = _about_z(turned[k, 2]) @ _about_y(turned[k, 1]) @ _about_x(turned[k, 0])
        off = cor[k] * np.array([-np.sin(alpha), np.cos(alpha), 0]) - moved[k]
        source = turn @ [1.0, 0, 0] if parallel else turn @ [dso[k], 0, 0] + off
        middle = turn @ [dso[k] - dsd[k], aside[k, 1], aside[k, 0]] + off
        vectors.append(np.concatenate([source, middle, turn @ detector @ [0, bin_pitch, 0],
                                       turn @ detector @ [0, 0, row_pitch]]))
    return circle_or_views(bins, rows, vectors, parallel)


def _places(g: Any) -> tuple[np.ndarray, np.ndarray]:
    """(centre of the volume, how far it is from there in each view), (x, y, z). In a helix it moves: then the centre is
    0, and the scanner moves here."""
    off = np.atleast_2d(np.asarray(getattr(g, "offOrigin", (0, 0, 0)), float))
    off = off[:, ::-1] if off.shape[1] == 3 else np.zeros((1, 3))
    return (np.zeros(3), off) if np.ptp(off, axis=0).any() else (off[0], np.zeros((1, 3)))


def _grid(g: Any) -> _core.VolumeGrid:
    return _core.VolumeGrid(tuple(int(n) for n in g.nVoxel[::-1]), tuple(float(p) for p in g.dVoxel[::-1]),
                            tuple(_places(g)[0]))


def _scan_back(scan: Any) -> tuple[Any, np.ndarray]:
    if not has_axis(scan):
        raise GeometryError("TIGRE: views with places of their own are not given back; scan_to('astra', scan) gives "
                            "them")
    d, parallel = scan.detector, isinstance(scan, _core.ParallelBeam)
    midplane = (d.rows - 1) / 2 if parallel else scan.midplane_row
    off = np.array([((d.rows - 1) / 2 - midplane) * d.row_pitch, ((d.bins - 1) / 2 - d.axis_bin) * d.bin_pitch])
    cells, pitch = np.array([d.rows, d.bins]), np.array([d.row_pitch, d.bin_pitch])
    far = 2.0 * d.bins * d.bin_pitch
    g = SimpleNamespace(mode="parallel" if parallel else "cone", nDetector=cells, dDetector=pitch,
                        sDetector=cells * pitch, DSO=far if parallel else scan.sod_mm,
                        DSD=2 * far if parallel else scan.sdd_mm, offDetector=off, offOrigin=np.zeros(3),
                        rotDetector=np.zeros(3), COR=0, accuracy=0.5)
    return g, np.asarray(scan.angles_rad) - np.pi / 2


def _grid_back(grid: _core.VolumeGrid) -> Any:
    size, pitch = np.array(grid.shape), np.array(grid.pitch[::-1])
    return SimpleNamespace(nVoxel=size, dVoxel=pitch, sVoxel=size * pitch, offOrigin=np.array(grid.centre[::-1]))


PACKAGE = Package("tigre", lambda g: hasattr(g, "nDetector") and hasattr(g, "DSD"), _scan,
                  lambda g: hasattr(g, "nVoxel"), _grid, lambda _: Layout((0, 1, 2)), lambda _: Layout((0, 1, 2)),
                  _scan_back, _grid_back, lambda g: g if hasattr(g, "nVoxel") else None)
