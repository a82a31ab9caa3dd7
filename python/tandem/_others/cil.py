"""CIL: AcquisitionGeometry and ImageGeometry. It turns the sample, so source and detector go the other way (CIL 26,
convert_geometry_to_astra_vec_3D). Its dimension labels say how arrays lie."""
from __future__ import annotations

import copy
from typing import Any

import numpy as np

from .. import _core
from .._errors import GeometryError
from .._layouts import Layout
from .package import Package, circle_or_views, has_axis


def _space(vector: Any) -> np.ndarray:
    """The three coordinates of a point; a point of a plane lacks the last one."""
    return np.resize(np.append(np.asarray(vector, float).ravel(), 0.0), 3)


def _aligned(system: Any) -> Any:
    """The system in a frame about its axis, as CIL itself aligns it."""
    system = copy.deepcopy(system)
    if hasattr(system, "align_reference_frame"):
        system.align_reference_frame("cil")
    elif hasattr(system, "update_reference_frame"):
        system.update_reference_frame()
    return system


def _scan(g: Any, _: Any) -> Any:
    config = g.config
    if getattr(g, "channels", 1) > 1:
        raise GeometryError(f"CIL: {g.channels} channels; give the geometry of one (get_slice(channel=0))")
    panel, angles, system = config.panel, config.angles, _aligned(config.system)
    bins, rows = (int(n) for n in panel.num_pixels)
    across, up = (float(p) for p in panel.pixel_size)
    flat = not hasattr(system.detector, "direction_y")
    origin = getattr(panel, "origin", "bottom-left")
    bin_step = across * (-1 if "right" in origin else 1) * _space(system.detector.direction_x)
    row_step = np.array([0, 0, across]) if flat else up * _space(system.detector.direction_y)
    if "top" in origin and not flat:
        row_step = -row_step
    parallel = g.geom_type == "parallel"
    start = _space(system.ray.direction if parallel else system.source.position)
    in_degrees = "degree" in str(angles.angle_unit).lower()
    turns = -(float(angles.initial_angle) + np.asarray(angles.angle_data, float))
    vectors = [_turned((start, _space(system.detector.position), bin_step, row_step), turn)
               for turn in (np.radians(turns) if in_degrees else turns)]
    return circle_or_views(bins, 1 if flat else rows, vectors, parallel)


def _turned(vectors: tuple[np.ndarray, ...], angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.concatenate([(c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]) for v in vectors])


def _grid(g: Any) -> _core.VolumeGrid:
    size = tuple(max(1, int(getattr(g, f"voxel_num_{axis}"))) for axis in "xyz")
    pitch = [float(getattr(g, f"voxel_size_{axis}")) for axis in "xyz"]
    if not getattr(g, "voxel_num_z", 0):
        pitch[2] = pitch[0]
    return _core.VolumeGrid(size, tuple(pitch), tuple(float(getattr(g, f"center_{axis}", 0)) for axis in "xyz"))


_AXES = {"angle": 0, "vertical": 1, "horizontal": 2}
_VOLUME_AXES = {"vertical": 0, "horizontal_y": 1, "horizontal_x": 2}


def _layout(labels: Any, axes: dict[str, int]) -> Layout:
    return Layout(tuple(axes[str(label)] for label in labels if str(label) != "channel"))


def _scan_back(scan: Any) -> Any:
    from cil.framework import AcquisitionGeometry
    if not has_axis(scan):
        raise GeometryError("CIL: views with places of their own are not given back; scan_to('astra', scan) gives them")
    d = scan.detector
    aside = ((d.bins - 1) / 2 - d.axis_bin) * d.bin_pitch
    if isinstance(scan, _core.ParallelBeam):
        made = AcquisitionGeometry.create_Parallel3D(detector_position=[aside, 0, 0])
    else:
        above = ((d.rows - 1) / 2 - scan.midplane_row) * d.row_pitch
        made = AcquisitionGeometry.create_Cone3D([0, -scan.sod_mm, 0], [aside, scan.sdd_mm - scan.sod_mm, above])
    return made.set_panel((d.bins, d.rows), (d.bin_pitch, d.row_pitch)).set_angles(
        -np.asarray(scan.angles_rad), angle_unit="radian").set_labels(["angle", "vertical", "horizontal"])


def _grid_back(grid: _core.VolumeGrid) -> Any:
    from cil.framework import ImageGeometry
    return ImageGeometry(*grid.size, *grid.pitch, *grid.centre)


PACKAGE = Package("cil", lambda g: hasattr(g, "config") and hasattr(g.config, "panel"), _scan,
                  lambda g: hasattr(g, "voxel_num_x"), _grid, lambda g: _layout(g.dimension_labels, _AXES),
                  lambda g: _layout(g.dimension_labels, _VOLUME_AXES), _scan_back, _grid_back,
                  lambda g: g.get_ImageGeometry() if hasattr(g, "get_ImageGeometry") else None)
