"""RTK: the name of an XML file, or a ThreeDCircularProjectionGeometry, with the detector beside it; images of ITK for
grids. Its volumes turn about their y: an array of one is (-y, z, x) of ours."""
from __future__ import annotations

import os
import tempfile
from typing import Any, Optional

import numpy as np

from .. import _core
from .._errors import GeometryError
from .._layouts import Layout
from .._mistakes import path_of
from .package import Package

_ELEMENTS = {"GantryAngle": "GantryAngles", "OutOfPlaneAngle": "OutOfPlaneAngles", "InPlaneAngle": "InPlaneAngles",
             "SourceToIsocenterDistance": "SourceToIsocenterDistances",
             "SourceToDetectorDistance": "SourceToDetectorDistances", "SourceOffsetX": "SourceOffsetsX",
             "SourceOffsetY": "SourceOffsetsY", "ProjectionOffsetX": "ProjectionOffsetsX",
             "ProjectionOffsetY": "ProjectionOffsetsY"}
_ANGLES = ("GantryAngle", "OutOfPlaneAngle", "InPlaneAngle")


def _is_image(g: Any) -> bool:
    return hasattr(g, "GetSpacing") and hasattr(g, "GetLargestPossibleRegion")


def _is_scan(g: Any) -> bool:
    return hasattr(g, "GetGantryAngles") or (isinstance(g, (str, os.PathLike)) and os.fspath(g).endswith(".xml"))


def _detector(given: Any) -> Optional[_core.Detector]:
    if not _is_image(given):
        return given
    bins, rows = (int(given.GetLargestPossibleRegion().GetSize()[k]) for k in (0, 1))
    pitch, first = given.GetSpacing(), given.GetOrigin()
    for k, count in enumerate((bins, rows)):
        if abs(first[k] + pitch[k] * (count - 1) / 2) > 1e-3 * pitch[k]:
            raise GeometryError(f"RTK: projections begin at {first[k]:g} mm along axis {k}; centred ones are taken, "
                                "with offsets in the geometry")
    return _core.Detector(bins, rows, bin_pitch=pitch[0], row_pitch=pitch[1])


def _text(g: Any) -> str:
    """The text of the XML file of a geometry. The object has angles in rad."""
    columns = {name: np.asarray(getattr(g, "Get" + getter)(), float) for name, getter in _ELEMENTS.items()}
    lines = ["<?xml version=\"1.0\"?>", "<!DOCTYPE RTKGEOMETRY>", "<RTKThreeDCircularGeometry version=\"3\">"]
    for k in range(len(columns["GantryAngle"])):
        numbers = {n: np.degrees(c[k]) if n in _ANGLES else c[k] for n, c in columns.items()}
        lines += ["<Projection>", *(f"<{n}>{v:.17g}</{n}>" for n, v in numbers.items()), "</Projection>"]
    return "\n".join([*lines, "</RTKThreeDCircularGeometry>\n"])


def _scan(g: Any, given: Any) -> Any:
    if isinstance(g, (str, os.PathLike)):
        return _core.scan_of_geometry(path_of("geometry", g), _detector(given))
    with tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        path = os.path.join(folder, "geometry.xml")
        with open(path, "w", encoding="utf-8") as out:
            out.write(_text(g))
        return _core.scan_of_geometry(path, _detector(given))


def _grid(g: Any) -> _core.VolumeGrid:
    size, pitch, first = ([float(v) for v in values] for values in (g.GetLargestPossibleRegion().GetSize(),
                                                                    g.GetSpacing(), g.GetOrigin()))
    middle = [a + p * (n - 1) / 2 for a, p, n in zip(first, pitch, size)]
    return _core.VolumeGrid((int(size[0]), int(size[2]), int(size[1])), (pitch[0], pitch[2], pitch[1]),
                            (middle[0], -middle[2], middle[1]))


def _scan_back(scan: Any) -> str:
    """The text of the XML file."""
    return _core.geometry_text("geometry.xml", scan)


PACKAGE = Package("rtk", _is_scan, _scan, _is_image, _grid, lambda _: Layout((0, 1, 2)),
                  lambda _: Layout((1, 0, 2), reversed=(1,)), _scan_back)
