"""ASTRA: dictionaries of create_proj_geom and create_vol_geom. Its frame is ours. Rows of a slice go down in two
dimensions and up in three; data of three dimensions are (row, view, bin)."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .. import _core
from .._errors import GeometryError
from .._layouts import Layout
from .package import Package, axis_is_centred, beyond_axis, circle_or_views, has_axis, upright


def _of(kind: str) -> Callable[[Any], bool]:
    return lambda g: isinstance(g, dict) and kind in g


def _is_flat(g: dict[str, Any]) -> bool:
    return "DetectorRowCount" not in g


def _parallel(g: dict[str, Any]) -> Any:
    pitch = g["DetectorWidth"]
    return _core.ParallelBeam(_core.Detector(g["DetectorCount"], bin_pitch=pitch), g["ProjectionAngles"])


def _parallel3d(g: dict[str, Any]) -> Any:
    return _core.ParallelBeam(_detector3d(g), g["ProjectionAngles"])


def _detector3d(g: dict[str, Any], far: float = 1) -> _core.Detector:
    return _core.Detector(g["DetectorColCount"], g["DetectorRowCount"], bin_pitch=far * g["DetectorSpacingX"],
                          row_pitch=far * g["DetectorSpacingY"])


def _distances(g: dict[str, Any]) -> tuple[float, float, float]:
    """(sod, sdd, factor of the detector)"""
    sod = g["DistanceOriginSource"]
    sdd = sod + g["DistanceOriginDetector"]
    far = beyond_axis(sod, sdd)
    return sod, far * sdd, far


def _fan(g: dict[str, Any]) -> Any:
    sod, sdd, far = _distances(g)
    return _core.FanBeam(_core.Detector(g["DetectorCount"], bin_pitch=far * g["DetectorWidth"]), g["ProjectionAngles"],
                         sod, sdd)


def _cone(g: dict[str, Any]) -> Any:
    sod, sdd, far = _distances(g)
    return _core.ConeBeam(_detector3d(g, far), g["ProjectionAngles"], sod, sdd)


low_row = 0.1
"""Height of the row of a scan in two dimensions, in bins. It is so low that rays do not see the ends of voxels that are
as high as wide."""


def _flat_vectors(parallel: bool) -> Callable[[dict[str, Any]], Any]:
    def scan(g: dict[str, Any]) -> Any:
        v = np.asarray(g["Vectors"], float)
        up = np.zeros((len(v), 3))
        up[:, 2] = np.linalg.norm(v[:, 4:], axis=1)
        flat = [upright(v[:, :2]), upright(v[:, 2:4]), upright(v[:, 4:])]
        circle = circle_or_views(g["DetectorCount"], 1, np.hstack([*flat, up]), parallel)
        if has_axis(circle):
            return circle
        return circle_or_views(g["DetectorCount"], 1, np.hstack([*flat, low_row * up]), parallel)
    return scan


def _vectors(parallel: bool) -> Callable[[dict[str, Any]], Any]:
    return lambda g: circle_or_views(g["DetectorColCount"], g["DetectorRowCount"], g["Vectors"], parallel)


_KINDS = {"parallel": _parallel, "parallel_vec": _flat_vectors(True), "fanflat": _fan,
          "fanflat_vec": _flat_vectors(False), "parallel3d": _parallel3d, "parallel3d_vec": _vectors(True),
          "cone": _cone, "cone_vec": _vectors(False)}


def _scan(g: dict[str, Any], _: Any) -> Any:
    if g.get("type") not in _KINDS:
        raise GeometryError(f"ASTRA: the type {g.get('type')!r} is not known; {', '.join(_KINDS)} are")
    if (g.get("option") or {}).get("ExtraDetectorOffset") is not None:
        raise GeometryError("ASTRA: ExtraDetectorOffset is not taken; give vectors (astra.geom_2vec, then shift them)")
    try:
        return _KINDS[g["type"]](g)
    except KeyError as error:
        raise GeometryError(f"ASTRA: the geometry {g['type']!r} has no {error.args[0]}; give one of "
                            "create_proj_geom") from None


def _grid(g: dict[str, Any]) -> _core.VolumeGrid:
    at = {key.lower(): float(value) for key, value in g.get("option", {}).items() if key.startswith("Window")}
    counts = {"x": g["GridColCount"], "y": g["GridRowCount"], "z": g.get("GridSliceCount", 1)}
    pitch, centre = {}, {}
    for axis in counts:
        low, high = (at.get(f"window{end}{axis}") for end in ("min", "max"))
        if low is None or high is None:
            pitch[axis], centre[axis] = pitch.get("x", 1.0), 0.0  # there is no z in two dimensions
        else:
            pitch[axis], centre[axis] = (high - low) / counts[axis], (low + high) / 2
    return _core.VolumeGrid(tuple(counts.values()), tuple(pitch.values()), tuple(centre.values()))


def _data(g: dict[str, Any]) -> Layout:
    return Layout((0, 2)) if _is_flat(g) else Layout((1, 0, 2))


def _volume(g: dict[str, Any]) -> Layout:
    return Layout((0, 1, 2)) if "GridSliceCount" in g else Layout((1, 2), reversed=(1,))


def vectors_of(scan: Any) -> dict[str, Any]:
    """The vectors of any scan in three dimensions, which give each view its geometry."""
    free = _core.as_free_views(scan)
    return {"type": "parallel3d_vec" if free.parallel else "cone_vec", "DetectorRowCount": free.rows,
            "DetectorColCount": free.bins, "Vectors": np.array(free.vectors)}


def _scan_back(scan: Any) -> dict[str, Any]:
    whole = vectors_of(scan)
    flat = scan.detector.rows == 1 and not whole["Vectors"][:, [2, 5, 8]].any()
    if not has_axis(scan) or not axis_is_centred(scan):
        if not flat:
            return whole
        plane = whole["Vectors"][:, [0, 1, 3, 4, 6, 7]]
        kind = whole["type"].replace("parallel3d", "parallel").replace("cone", "fanflat")
        return {"type": kind, "DetectorCount": scan.detector.bins, "Vectors": plane}
    d, angles = scan.detector, np.array(scan.angles_rad)
    cells = ({"DetectorCount": d.bins, "DetectorWidth": d.bin_pitch} if flat else
             {"DetectorRowCount": d.rows, "DetectorColCount": d.bins, "DetectorSpacingX": d.bin_pitch,
              "DetectorSpacingY": d.row_pitch})
    if isinstance(scan, _core.ParallelBeam):
        return {"type": "parallel" if flat else "parallel3d", **cells, "ProjectionAngles": angles}
    return {"type": "fanflat" if flat else "cone", **cells, "ProjectionAngles": angles,
            "DistanceOriginSource": scan.sod_mm, "DistanceOriginDetector": scan.sdd_mm - scan.sod_mm}


def _grid_back(grid: _core.VolumeGrid) -> dict[str, Any]:
    counts = dict(zip("XYZ", grid.size))
    if counts["Z"] == 1:
        del counts["Z"]
    window = {}
    for axis, pitch, centre in zip(counts, grid.pitch, grid.centre):
        half = counts[axis] * pitch / 2
        window[f"WindowMin{axis}"], window[f"WindowMax{axis}"] = centre - half, centre + half
    names = {"X": "GridColCount", "Y": "GridRowCount", "Z": "GridSliceCount"}
    return {**{names[axis]: count for axis, count in counts.items()}, "option": window}


PACKAGE = Package("astra", lambda g: _of("type")(g) and ("ProjectionAngles" in g or "Vectors" in g), _scan,
                  _of("GridColCount"), _grid, _data, _volume, _scan_back, _grid_back)
