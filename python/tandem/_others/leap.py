"""LEAP: a tomographicModels, by its get_ functions. Its frame and its angles are ours, in degrees. Source:
convert_conebeam_to_modularbeam in parameters.cpp, LEAP 1.26."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._errors import GeometryError
from .._layouts import Layout
from .package import Package, circle_or_views


def _number(g: Any, name: str, otherwise: float = 0.0) -> float:
    get = getattr(g, "get_" + name, None)
    return float(get()) if get else otherwise


def _scan(g: Any, _: Any) -> Any:
    kind = g.get_geometry().upper()
    bins, rows = int(g.get_numCols()), int(g.get_numRows())
    across, up = float(g.get_pixelWidth()), float(g.get_pixelHeight())
    if _number(g, "helicalPitch") and kind != "MODULAR":
        raise GeometryError("LEAP: a helix; call convert_to_modularbeam() first")
    if kind == "MODULAR":
        vectors = np.hstack([g.get_sourcePositions(), g.get_moduleCenters(), across * _unit(g.get_colVectors()),
                             up * _unit(g.get_rowVectors())])
        return circle_or_views(bins, rows, vectors, False)
    if kind not in ("PARALLEL", "FAN", "CONE") or (kind == "FAN" and rows > 1):
        raise GeometryError(f"LEAP: the geometry {kind} of {rows} rows is not taken; parallel, cone, modular, and a "
                            "fan of one row are")
    parallel = kind == "PARALLEL"
    theta = np.radians(np.asarray(g.get_angles(), float))
    along = np.column_stack([np.cos(theta), np.sin(theta), np.zeros(len(theta))])
    back = np.column_stack([np.sin(theta), -np.cos(theta), np.zeros(len(theta))])  # towards the source
    tilt, z = np.radians(_number(g, "tiltAngle")), np.array([0, 0, 1.0])
    bin_step = across * (np.cos(tilt) * along + np.sin(tilt) * z)
    row_step = up * (np.cos(tilt) * z - np.sin(tilt) * along)
    middle = ((bins - 1) / 2 - float(g.get_centerCol())) * bin_step + ((rows - 1) / 2 - float(
        g.get_centerRow())) * row_step
    if parallel:
        return circle_or_views(bins, rows, np.hstack([back, middle, bin_step, row_step]), True)
    sod, sdd, tau = (_number(g, name) for name in ("sod", "sdd", "tau"))
    source = sod * back - tau * along
    middle = middle - (sdd - sod) * back - tau * along
    return circle_or_views(bins, rows, np.hstack([source, middle, bin_step, row_step]), False)


def _unit(vectors: Any) -> np.ndarray:
    """Directions of length 1, which float32 rounds."""
    given = np.asarray(vectors, float)
    return given / np.linalg.norm(given, axis=1, keepdims=True)


def _grid(g: Any) -> _core.VolumeGrid:
    size = tuple(int(getattr(g, f"get_num{axis}")()) for axis in "XYZ")
    width, height = float(g.get_voxelWidth()), float(g.get_voxelHeight())
    z = _number(g, "z0") + (size[2] - 1) / 2 * height if hasattr(g, "get_z0") else _number(g, "offsetZ")
    return _core.VolumeGrid(size, (width, width, height), (_number(g, "offsetX"), _number(g, "offsetY"), z))


def _volume(g: Any) -> Layout:
    return Layout((2, 1, 0)) if _number(g, "volumeDimensionOrder", 1) == 0 else Layout((0, 1, 2))


def _scan_back(scan: Any) -> str:
    """The text of a file for load_param."""
    return _core.geometry_text("geometry.cfg", scan)


PACKAGE = Package("leap", lambda g: hasattr(g, "get_geometry") and hasattr(g, "get_numCols"), _scan,
                  lambda g: hasattr(g, "get_voxelWidth"), _grid, lambda _: Layout((0, 1, 2)), _volume, _scan_back,
                  grid_of_scan=lambda g: g)
