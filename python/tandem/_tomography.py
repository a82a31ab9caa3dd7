"""Operators of scans: projectors, filters, FBP and FDK."""
from __future__ import annotations

import copyreg
from dataclasses import astuple, dataclass
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _arrays, _core, _errors, _mistakes
from ._core import ConeBeam, Detector, FanBeam, FlexibleBeam, ParallelBeam, Phantom, VolumeGrid
from ._operator import LinearOperator
from . import _others

Scan = Union[ParallelBeam, FanBeam, ConeBeam, FlexibleBeam]
ScanLike = Any
"""A scan, or a geometry of another package (`scan_from`)."""
GridLike = Any
"""A VolumeGrid, or a volume geometry of another package (`grid_from`)."""


@dataclass(frozen=True)
class Filter:
    """How the ramp filter treats rows."""
    window: str = "ramp"
    """ramp, shepp, cosine, hamming, hann, parzen, blackman, butterworth; sharp, the ramp with all the noise of its
    band; or none, which leaves out the ramp, too."""
    cutoff: Optional[float] = None
    """A fraction of the Nyquist frequency, in (0, 1]; default: 1, for butterworth 0.5."""
    padding: str = "none"
    """How rows go on beyond their ends: none, edge, cosine, or circle: where they do not come down to air, as a round
    body of this `attenuation` does; it depends on the data, so the filter has no transpose, and is for the CPU."""
    padding_bins: Optional[int] = None
    """Over how many bins; default: half of theirs; of a half acquisition, half of the whole detector's."""
    attenuation: Optional[float] = None
    """Of the body beyond the ends, 1/mm, for circle; half or twice as much hardly matters."""

    def __post_init__(self) -> None:
        _mistakes.require_fields(self)


def replaced(scan: Scan, changes: dict[str, Any]) -> Scan:
    """A scan with other values of its constructor and of its detector: `replace` of scans."""
    d, kind = scan.detector, type(scan)
    cells = {"bins": d.bins, "rows": d.rows, "bin_pitch": d.bin_pitch, "row_pitch": d.row_pitch, "axis_bin": d.axis_bin}
    if kind is FlexibleBeam:
        fields = {"bins": scan.bins, "rows": scan.rows, "vectors": scan.vectors, "parallel": scan.parallel}
        cells = {}
    elif kind is ParallelBeam:
        fields = {"angles_rad": scan.angles_rad, "row_axis_bins": scan.row_axis_bins,
                  "view_shift_bins": scan.view_shift_bins}
    else:
        fields = {name: getattr(scan, name) for name in ("angles_rad", "sod_mm", "sdd_mm", "midplane_row")}
    for name, value in changes.items():
        if name == "detector" and cells:
            cells = {word: getattr(value, word) for word in cells}
        elif name not in fields and name not in cells:
            raise TypeError(f"replace: a {kind.__name__} has no {name}; it has {', '.join([*fields, *cells])}")
        else:
            (fields if name in fields else cells)[name] = value
    return kind(_core.Detector(**cells), **fields) if cells else kind(**fields)


def _rebuilt(kind, arguments, keywords):
    return kind(*arguments, **keywords)


def _store(kind, arguments, keywords=()):
    """Lets values be copied and put into files: by the arguments that make them anew."""
    copyreg.pickle(kind, lambda v: (_rebuilt, (kind, [getattr(v, a) for a in arguments],
                                               {k: getattr(v, k) for k in keywords})))


_store(Detector, ["bins", "rows"], ["bin_pitch", "row_pitch", "axis_bin"])
_store(ParallelBeam, ["detector", "angles_rad"], ["row_axis_bins", "view_shift_bins"])
for _kind in (ConeBeam, FanBeam):
    _store(_kind, ["detector", "angles_rad", "sod_mm", "sdd_mm", "midplane_row"])
_store(FlexibleBeam, ["bins", "rows", "vectors", "parallel", "curved"])
_store(VolumeGrid, ["size", "pitch", "centre"])
_store(_core.Ellipsoid, ["attenuation", "semi_axes", "centre", "rotation_rad"])
_store(Phantom, ["ellipsoids"])
_store(_core.Bounds, ["lowest", "highest"])


def _space_of(stored):
    return _core.space_of(stored)


copyreg.pickle(_core.Space, lambda space: (_space_of, (_core.stored(space),)))


def _how(model=None, device="cpu", variant="automatic", precision="float32", accuracy=1e-4) -> _core.How:
    return _core.How(model, _arrays.checked_device(_core.device_name(str(device))), variant, precision, accuracy)


_OTHER_WINDOWS = {"ram-lak": "ramp", "ramlak": "ramp", "shepp-logan": "shepp"}


def _filter(filter: Union[Filter, str]) -> _core.Filter:
    if not isinstance(filter, (Filter, str)):
        raise TypeError(f"filter: {_mistakes.shown(filter)}; give the name of a window, such as 'hann', or Filter(...)")
    window, *others = astuple(Filter(filter) if isinstance(filter, str) else filter)
    window = window.lower()
    return _core.Filter(_OTHER_WINDOWS.get(window, window), *others)


class _Ours:
    """Geometries of ours, for arrays of ours."""

    @staticmethod
    def on(A: LinearOperator, _domain: str, _range: str) -> LinearOperator:
        return A


def _given(make: Callable, scan: Any, grid: Any) -> tuple[Any, VolumeGrid, Any]:
    """Scan, grid and how arrays lie."""
    if isinstance(scan, _mistakes.SCANS):
        grid = _core.fitting_grid(scan) if grid is None else grid
        if not isinstance(grid, VolumeGrid):
            return (scan, *_others.grid_and_layouts(make.__name__, grid))
        return scan, grid, _Ours
    return _others.scan_grid_and_layouts(make.__name__, scan, grid)


def with_views(scan: Scan, views: Any) -> Scan:
    """The scan with these of its views, in this order: numbers, also negative ones, a slice or a mask, as NumPy
    indexes an axis. Raises IndexError."""
    count = _core.projection_shape(scan)[0]
    if not isinstance(views, slice):
        given = views
        views = np.asarray(given, None if np.size(given) else int)
        if views.ndim > 1 or views.dtype.kind not in "iub":
            raise IndexError(f"with_views: views is {_mistakes.shown(given)}; give numbers of views, a slice or a mask")
    return _core.with_views(scan, np.atleast_1d(np.arange(count)[views]).tolist())


def projector(scan: ScanLike, grid: GridLike = None, model: Optional[str] = None, device: str = "cpu", *,
              variant: str = "automatic", precision: str = "float32", accuracy: float = 1e-4) -> LinearOperator:
    """The system matrix A: volume (slice, y, x) in 1/mm -> line integrals (view, row, bin). ``A.T`` is the transpose
    of the same coefficients, in mm.

    grid: default ``fitting_grid(scan)``. model: of a parallel beam 'pixel_driven' (default), 'joseph' or 'fourier'; of
    a cone beam 'separable_footprint' (default), 'joseph', 'pixel_driven' or 'hierarchical'. device: 'cpu' or 'cuda:N'.
    accuracy: relative error of what is back-projected: 'fourier' has 1e-3, 1e-4 and 1e-5, 'hierarchical' 3e-3 and 1e-3,
    and 1e-2 unless one of these is given.
    """
    how = _how(model, device, variant, precision, accuracy)
    scan, grid, layouts = _given(projector, scan, grid)
    A = LinearOperator(_core.projector(scan, grid, how), is_matched=_core.pair_is_matched(scan, grid, how),
                       made=(projector, (scan, grid, model, device),
                             {"variant": variant, "precision": precision, "accuracy": accuracy}))
    return layouts.on(A, "volume", "data")


def ramp_filter(scan: ScanLike, filter: Union[Filter, str] = "ramp", device: str = "cpu", *,
                model: Optional[str] = None, grid: GridLike = None) -> LinearOperator:
    """The operator F, which filters (view, row, bin) along the bins and weighs views, so that ``B @ (F @ y)`` is an
    image. The result is on the detector of ``symmetric(scan)``. For a ConeBeam it has more rows, beyond the detector,
    where the sample is taken to go on. For a FlexibleBeam it is on a detector with level rows, and with such rows.

    model, grid: those of B, because F compensates for the interpolation of B; defaults as in ``backprojector``.
    """
    scan, grid, layouts = _given(ramp_filter, scan, grid)
    F = LinearOperator(_core.ramp_filter(scan, grid, _filter(filter), _how(model, device)),
                       made=(ramp_filter, (scan, filter, device), {"model": model, "grid": grid}))
    return layouts.on(F, "data", "data")


def backprojector(scan: ScanLike, grid: GridLike = None, model: Optional[str] = None,
                  device: str = "cpu") -> LinearOperator:
    """The operator B: the transpose of a projector, scaled so that ``B @ (F @ y)`` is an image in 1/mm."""
    scan, grid, layouts = _given(backprojector, scan, grid)
    B = LinearOperator(_core.backprojector(scan, grid, _how(model, device)),
                       made=(backprojector, (scan, grid, model, device), {}))
    return layouts.on(B, "data", "volume")


def fbp(scan: ScanLike, grid: GridLike = None, filter: Union[Filter, str] = "ramp",
        model: Optional[str] = None, device: str = "cpu", *, variant: str = "automatic",
        precision: str = "float32", accuracy: float = 1e-4) -> LinearOperator:
    """Filtered back-projection of a parallel beam, B F, as an operator: ``fbp(scan) @ y`` is the image in 1/mm. Views
    of any geometry go along a circle or a helix, nearly; rays of laminography give edges, and values that are too low.
    """
    how = _how(model, device, variant, precision, accuracy)
    scan, grid, layouts = _given(fbp, scan, grid)
    _mistakes.require_scan("fbp", scan, ParallelBeam, FlexibleBeam, instead="it to fdk(scan, grid)")
    A = LinearOperator(_core.fbp(scan, grid, _filter(filter), how),
                       made=(fbp, (scan, grid, filter, model, device),
                             {"variant": variant, "precision": precision, "accuracy": accuracy}))
    return layouts.on(A, "data", "volume")


def fdk(scan: ScanLike, grid: GridLike = None, filter: Union[Filter, str] = "ramp", model: Optional[str] = None,
        device: str = "cpu") -> LinearOperator:
    """The same for a cone beam or a fan beam, on a circle or an arc (Feldkamp, Davis, Kress), and for views of any
    geometry: of a helix, all half turns that see a voxel make it."""
    scan, grid, layouts = _given(fdk, scan, grid)
    _mistakes.require_scan("fdk", scan, ConeBeam, FanBeam, FlexibleBeam, instead="it to fbp(scan, grid)")
    A = LinearOperator(_core.fbp(scan, grid, _filter(filter), _how(model, device)),
                       made=(fdk, (scan, grid, filter, model, device), {}))
    return layouts.on(A, "data", "volume")


def view_derivative(scan: FlexibleBeam, x: np.ndarray, grid: Optional[VolumeGrid] = None) -> LinearOperator:
    """J, the derivative of A x by the views: changes of their vectors, (view, 4, 3), in mm -> the change of the line
    integrals (view, row, bin), to first order. The four vectors are source, detector, bin step and row step, as in
    ``scan.vectors``. ``J.T @ y`` is the gradient of the product of y and A x. Derivatives are those of the very
    coefficients of A, the pair of views that lean, in double; on the CPU, of flat detectors.

    x: (slice, y, x); it is copied. ``tandem.torch.project_views`` is the same for PyTorch.
    """
    _mistakes.require_scan("view_derivative", scan, FlexibleBeam, instead="as_free_views(scan)")
    grid = _core.fitting_grid(scan) if grid is None else grid
    x = _in_double("x", x, grid.shape).astype(np.float32)
    return LinearOperator(_core.view_derivative(scan, grid, x.ctypes.data))


def _in_double(name: str, array: Any, shape: tuple) -> np.ndarray:
    array = np.ascontiguousarray(array, np.float64)
    if array.shape != tuple(shape):
        raise _errors.SpaceError(f"{name}: shape {array.shape}; {tuple(shape)} is needed")
    return array


class ViewsInDouble:
    """The pair of views that lean, in double: what it makes of arrays, and its gradient by the views."""

    def __init__(self, scan: FlexibleBeam, grid: VolumeGrid):
        self.scan, self.grid, self.shape = scan, grid, _core.projection_shape(scan)

    def project(self, x: np.ndarray) -> np.ndarray:
        x, y = _in_double("x", x, self.grid.shape), np.empty(self.shape)
        _core.project_doubles(self.scan, self.grid, x.ctypes.data, y.ctypes.data)
        return y

    def back_project(self, y: np.ndarray) -> np.ndarray:
        y, x = _in_double("y", y, self.shape), np.empty(self.grid.shape)
        _core.back_project_doubles(self.scan, self.grid, y.ctypes.data, x.ctypes.data)
        return x

    def gradient_by_views(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        x, y = _in_double("x", x, self.grid.shape), _in_double("y", y, self.shape)
        gradient = np.empty((self.shape[0], 12))
        _core.view_gradient(self.scan, self.grid, x.ctypes.data, y.ctypes.data, gradient.ctypes.data)
        return gradient


def project(phantom: Phantom, scan: Scan, samples: int = 1) -> np.ndarray:
    """The exact line integrals (view, row, bin) of a phantom. Of a cone beam: means over samples x samples rays."""
    out = np.empty(_core.projection_shape(scan), np.float32)
    _core.project_to(phantom, scan, out.ctypes.data, samples)
    return out


def voxelise(phantom: Phantom, grid: VolumeGrid, samples: int = 16) -> np.ndarray:
    """The volume (slice, y, x) of a phantom: means over samples x samples points of each pixel."""
    out = np.empty(grid.shape, np.float32)
    _core.voxelise_to(phantom, grid, out.ctypes.data, samples)
    return out
