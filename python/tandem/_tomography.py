"""Operators of scans: projectors, filters, FBP and FDK."""
from __future__ import annotations

import copyreg
from dataclasses import astuple, dataclass
from typing import Optional, Union

import numpy as np

from . import _arrays, _core
from ._core import ConeBeam, Detector, FanBeam, FlexibleBeam, ParallelBeam, Phantom, VolumeGrid
from ._operator import LinearOperator

Scan = Union[ParallelBeam, FanBeam, ConeBeam, FlexibleBeam]


@dataclass(frozen=True)
class Filter:
    """How the ramp filter treats rows."""
    window: str = "ramp"
    """ramp, shepp, cosine, hamming, hann, parzen, blackman, butterworth; sharp, the ramp with all the noise of its
    band; or none, which leaves out the ramp, too."""
    cutoff: Optional[float] = None
    """A fraction of the Nyquist frequency, in (0, 1]; default: 1, for butterworth 0.5."""
    padding: str = "none"
    """How rows go on beyond their ends: none, edge or cosine."""
    padding_bins: Optional[int] = None
    """Over how many bins; default: half of theirs; of a half acquisition, half of the whole detector's."""


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
_store(FlexibleBeam, ["bins", "rows", "vectors", "parallel"])
_store(VolumeGrid, ["size", "pitch", "centre"])


def _grid(scan: Scan, grid: Optional[VolumeGrid]) -> VolumeGrid:
    return _core.fitting_grid(scan) if grid is None else grid


def _how(model=None, device="cpu", variant="automatic", precision="float32", accuracy=1e-4) -> _core.How:
    return _core.How(model, _arrays.checked_device(_core.device_name(device)), variant, precision, accuracy)


def _filter(filter: Union[Filter, str]) -> _core.Filter:
    return _core.Filter(*astuple(Filter(filter) if isinstance(filter, str) else filter))


def with_views(scan: Scan, views) -> Scan:
    """The scan with these of its views, in this order: numbers, also negative ones, a slice or a mask, as NumPy
    indexes an axis. Raises IndexError."""
    count = _core.projection_shape(scan)[0]
    return _core.with_views(scan, np.atleast_1d(np.arange(count)[views if isinstance(views, slice) else
                                                                 np.asarray(views)]).tolist())


def projector(scan: Scan, grid: Optional[VolumeGrid] = None, model: Optional[str] = None, device: str = "cpu", *,
              variant: str = "automatic", precision: str = "float32", accuracy: float = 1e-4) -> LinearOperator:
    """The system matrix A: volume (slice, y, x) in 1/mm -> line integrals (view, row, bin). ``A.T`` is the transpose
    of the same coefficients, in mm.

    grid: default ``fitting_grid(scan)``. model: of a parallel beam 'pixel_driven' (default), 'joseph' or 'fourier'; of
    a cone beam 'separable_footprint' (default), 'joseph', 'pixel_driven' or 'hierarchical'. device: 'cpu' or 'cuda:N'.
    accuracy: relative error of what is back-projected: 'fourier' has 1e-3, 1e-4 and 1e-5, 'hierarchical' 3e-3 and 1e-3,
    and 1e-2 unless one of these is given.
    """
    how = _how(model, device, variant, precision, accuracy)
    return LinearOperator(_core.projector(scan, _grid(scan, grid), how))


def ramp_filter(scan: Scan, filter: Union[Filter, str] = "ramp", device: str = "cpu", *, model: Optional[str] = None,
                grid: Optional[VolumeGrid] = None) -> LinearOperator:
    """The operator F, which filters (view, row, bin) along the bins and weighs views, so that ``B @ (F @ y)`` is an
    image. Rows come out on the detector of ``symmetric(scan)``; those of a FlexibleBeam on one whose rows are level,
    which may have more of them.

    model, grid: those of B, for whose interpolation F makes up; defaults as in ``backprojector``.
    """
    return LinearOperator(_core.ramp_filter(scan, _grid(scan, grid), _filter(filter), _how(model, device)))


def backprojector(scan: Scan, grid: Optional[VolumeGrid] = None, model: Optional[str] = None,
                  device: str = "cpu") -> LinearOperator:
    """The operator B: the transpose of a projector, scaled so that ``B @ (F @ y)`` is an image in 1/mm."""
    return LinearOperator(_core.backprojector(scan, _grid(scan, grid), _how(model, device)))


def fbp(scan: Union[ParallelBeam, FlexibleBeam], grid: Optional[VolumeGrid] = None, filter: Union[Filter, str] = "ramp",
        model: Optional[str] = None, device: str = "cpu", *, variant: str = "automatic",
        precision: str = "float32", accuracy: float = 1e-4) -> LinearOperator:
    """Filtered back-projection of a parallel beam, B F, as an operator: ``fbp(scan) @ y`` is the image in 1/mm. Views
    of any geometry go along a circle or a helix, nearly; rays of laminography give edges, and values that are too low.
    """
    how = _how(model, device, variant, precision, accuracy)
    return LinearOperator(_core.fbp(scan, _grid(scan, grid), _filter(filter), how))


def fdk(scan: Union[ConeBeam, FanBeam, FlexibleBeam], grid: Optional[VolumeGrid] = None,
        filter: Union[Filter, str] = "ramp", model: Optional[str] = None, device: str = "cpu") -> LinearOperator:
    """The same for a cone beam or a fan beam, on a circle or an arc (Feldkamp, Davis, Kress), and for views of any
    geometry: of a helix, one turn makes a slice."""
    return LinearOperator(_core.fdk(scan, _grid(scan, grid), _filter(filter), _how(model, device)))


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
