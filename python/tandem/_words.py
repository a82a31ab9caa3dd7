"""The texts and pictures of public types: sizes and units in one line, equality, and pictures in notebooks."""
from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import Any, Callable

import numpy as np

from . import _core, _mistakes


def number(value: float) -> str:
    """A number as text, with as many digits as it needs, up to seven."""
    return f"{value:.7g}"


def triple(values: Any) -> str:
    return "(" + ", ".join(number(v) for v in values) + ")"


def _pitch(detector: _core.Detector) -> str:
    if (detector.bin_pitch, detector.row_pitch) == (1, 1):
        return ""
    both = "" if detector.row_pitch == detector.bin_pitch else f", row_pitch={number(detector.row_pitch)}"
    return f", bin_pitch={number(detector.bin_pitch)}{both}"


def of_detector(d: _core.Detector) -> str:
    rows = "" if d.rows == 1 else f", {d.rows}"
    axis = "" if d.axis_bin == (d.bins - 1) / 2 else f", axis_bin={number(d.axis_bin)}"
    return f"Detector({d.bins}{rows}{_pitch(d)}{axis})"


def of_angles(angles_rad: Any) -> str:
    """Angles in words: their number, and the first and the last one in degrees."""
    degrees = np.degrees(angles_rad)
    return f"{len(degrees)} views from {number(degrees[0])} to {number(degrees[-1])} degrees"


def _of_parallel(scan: _core.ParallelBeam) -> str:
    more = (", with an axis for each row" if len(scan.row_axis_bins) else "") + (
        ", with shifted views" if len(scan.view_shift_bins) else "")
    return f"<ParallelBeam {of_detector(scan.detector)}, {of_angles(scan.angles_rad)}{more}>"


def _of_cone(scan: _core.ConeBeam) -> str:
    middle = (scan.detector.rows - 1) / 2
    midplane = "" if scan.midplane_row == middle else f", midplane_row {number(scan.midplane_row)}"
    return (f"<{type(scan).__name__} {of_detector(scan.detector)}, {of_angles(scan.angles_rad)}, "
            f"sod {number(scan.sod_mm)} mm, sdd {number(scan.sdd_mm)} mm{midplane}>")


def _of_flexible(scan: _core.FlexibleBeam) -> str:
    rays = "parallel rays" if scan.parallel else "rays from a source"
    rays += ", curved detector" if scan.curved else ""
    return (f"<FlexibleBeam {_core.projection_shape(scan)[0]} views of {scan.rows} x {scan.bins} cells (rows x bins), "
            f"each with its place, {rays}>")


def _of_grid(g: _core.VolumeGrid) -> str:
    centre = "" if tuple(g.centre) == (0, 0, 0) else f", centre={triple(g.centre)}"
    return f"VolumeGrid(size={tuple(g.size)}, pitch={triple(g.pitch)}{centre})"


def _of_space(space: _core.Space) -> str:
    shapes = " + ".join(map(str, space.shapes))
    blocks = "" if space.block_count == 1 else f", {space.block_count} blocks"
    return f"<Space {shapes}{blocks} on {space.device}>"


def _of_ellipsoid(e: _core.Ellipsoid) -> str:
    turned = "" if e.rotation_rad == 0 else f", rotation_rad={number(e.rotation_rad)}"
    return f"Ellipsoid({number(e.attenuation)}, {triple(e.semi_axes)}, {triple(e.centre)}{turned})"


def _of_phantom(p: _core.Phantom) -> str:
    count = len(p.ellipsoids)
    return f"<Phantom of {count} ellipsoid{'' if count == 1 else 's'}>"


def _of_report(r: _core.Report) -> str:
    first, last = (number(r.residuals[k]) for k in (0, -1)) if len(r.residuals) else ("?", "?")
    rules = ", ".join(sorted(set(r.stopped_by)))
    return f"<Report {r.iterations} iterations, |b - Ax| from {first} to {last}, stopped by {rules}>"


def _name_of(regulariser: _core.Regulariser) -> str:
    make, *arguments = regulariser.made  # type: ignore[attr-defined]
    return type(arguments[0]).__name__ if make.__name__ == "as_regulariser" else make.__name__


def _of_bounds(b: _core.Bounds) -> str:
    return f"Bounds({number(b.lowest)}, {number(b.highest)})"


def _of_adjointness(a: _core.Adjointness) -> str:
    return f"<Adjointness coupling {number(a.coupling)}, mismatch {a.mismatch:.2g}>"


REPRS: dict[type, Callable[[Any], str]] = {
    _core.Detector: of_detector, _core.ParallelBeam: _of_parallel, _core.ConeBeam: _of_cone,
    _core.FanBeam: _of_cone, _core.FlexibleBeam: _of_flexible, _core.VolumeGrid: _of_grid, _core.Space: _of_space,
    _core.Ellipsoid: _of_ellipsoid, _core.Phantom: _of_phantom, _core.Report: _of_report, _core.Bounds: _of_bounds,
    _core.Adjointness: _of_adjointness, _core.StopRule: lambda rule: f"<StopRule {rule.name}>",
    _core.Regulariser: lambda g: f"<Regulariser {_name_of(g)} for Pdhg and Fista>",
    _core.WeightTrial: lambda t: f"<WeightTrial weight {number(t.weight)}, error {number(t.error)}>",
    _core.WeightFound: lambda w: f"<WeightFound weight {number(w.weight)} after {len(w.trials)} trials>"}

# Values are equal if these are.
_KEYS: dict[type, Callable[[Any], tuple]] = {
    _core.Detector: lambda d: (d.bins, d.rows, d.bin_pitch, d.row_pitch, d.axis_bin),
    _core.VolumeGrid: lambda g: (tuple(g.size), tuple(g.pitch), tuple(g.centre)),
    _core.Ellipsoid: lambda e: (e.attenuation, tuple(e.semi_axes), tuple(e.centre), e.rotation_rad),
    _core.Phantom: lambda p: tuple(_KEYS[_core.Ellipsoid](e) for e in p.ellipsoids),
    _core.Bounds: lambda b: (b.lowest, b.highest)}


def _equal_by(kind: type, key: Callable[[Any], tuple]) -> Callable[[Any, Any], Any]:
    return lambda self, other: key(self) == key(other) if isinstance(other, kind) else NotImplemented


def png(image: np.ndarray) -> bytes:
    """A picture of grey values, from the lowest to the highest."""
    finite = np.nan_to_num(np.asarray(image, float))
    low, high = float(finite.min()), float(finite.max())
    grey = np.uint8(255 * (finite - low) / (high - low if high > low else 1))
    lines = b"".join(b"\0" + line.tobytes() for line in grey)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", grey.shape[1], grey.shape[0], 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def picture(volume: np.ndarray) -> str:
    """The middle slice of a volume, for a page."""
    slices = np.asarray(volume).reshape(-1, *volume.shape[-2:])
    data = base64.b64encode(png(slices[len(slices) // 2])).decode()
    return f'<img style="max-width:400px;image-rendering:pixelated" src="data:image/png;base64,{data}">'


def curve(values: Any, name: str) -> str:
    """A picture of numbers as a line over their index, on a logarithmic axis."""
    y = np.log10(np.maximum(np.asarray(values, float), 1e-300))
    if len(y) < 2:
        return ""
    height = (y - y.min()) / (np.ptp(y) or 1)
    points = " ".join(f"{300 * k / (len(y) - 1):.1f},{100 - 96 * h:.1f}" for k, h in enumerate(height))
    return (f'<svg width="320" height="120" viewBox="-5 -5 320 120"><polyline fill="none" stroke="currentColor" '
            f'points="{points}"/><text x="0" y="113" font-size="10">{html.escape(name)}: '
            f"{number(values[0])} to {number(values[-1])}, logarithmic</text></svg>")


def said(value: Any) -> str:
    return f"<pre>{html.escape(repr(value))}</pre>"


def _html_of_grid(g: _core.VolumeGrid) -> str:
    rows = "".join(f"<tr><td>{axis}</td><td>{n}</td><td>{number(p)}</td><td>{number(c)}</td></tr>"
                   for axis, n, p, c in zip("xyz", g.size, g.pitch, g.centre))
    return ("<table><tr><th>axis</th><th>voxels</th><th>pitch, mm</th><th>centre, mm</th></tr>" + rows + "</table>")


def _html_of_report(r: _core.Report) -> str:
    return said(r) + curve(r.residuals, "|b - Ax|")


def tell() -> None:
    """Gives these words to the classes of the bindings."""
    for kind, words in REPRS.items():
        kind.__repr__ = words  # type: ignore[method-assign, assignment]
        make = getattr(_core, "make_" + kind.__name__, None)
        if make is not None:
            kind.__signature__ = _mistakes.signature_of(make)  # type: ignore[attr-defined]
    for kind, key in _KEYS.items():
        kind.__eq__ = _equal_by(kind, key)  # type: ignore[method-assign, assignment]
        kind.__hash__ = (lambda self, key=key: hash(key(self)))  # type: ignore[method-assign, assignment, misc]
    _core.VolumeGrid._repr_html_ = _html_of_grid  # type: ignore[attr-defined]
    _core.Report._repr_html_ = _html_of_report  # type: ignore[attr-defined]
