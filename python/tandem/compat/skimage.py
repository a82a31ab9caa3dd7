"""radon, iradon and iradon_sart of scikit-image (skimage.transform): the same arguments, shapes and units.

    from tandem.compat.skimage import iradon, iradon_sart, radon

Angles are in degrees, sinograms are (bin, view), and the axis is pixel n // 2. Values are in float32. Views weigh by
the gaps between their angles, so that views at 0 and at 180 degrees count half each. The windows cosine, hamming and hann
make up for the interpolation, and give sharper images.
"""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence

import numpy as np
import numpy.typing as npt

from .. import _core
from .._layouts import Layout
from .._operator import LinearOperator
from .._solvers import Bounds, OsSirt, run, subsets
from .._tomography import Filter, fbp, projector

IMAGE, SINOGRAM = Layout((1, 2), reversed=(1,)), Layout((2, 0))


def _scan(bins: int, theta: Optional[npt.ArrayLike], views: int = 180) -> _core.ParallelBeam:
    degrees = np.linspace(0, 180, views, endpoint=False) if theta is None else np.atleast_1d(np.asarray(theta, float))
    return _core.ParallelBeam(_core.Detector(bins, axis_bin=bins // 2), np.radians(degrees))


def _grid(shape: Sequence[int]) -> _core.VolumeGrid:
    """Pixel n // 2 of both axes lies on the rotation axis, and lines go down."""
    y, x = ((n - 1) / 2 - n // 2 for n in shape)
    return _core.VolumeGrid((shape[1], shape[0], 1), centre=(x, -y, 0))


def _in_circle(shape: Sequence[int]) -> np.ndarray:
    y, x = np.ogrid[:shape[0], :shape[1]]
    return (y - shape[0] // 2) ** 2 + (x - shape[1] // 2) ** 2 <= (min(shape) // 2) ** 2


def _image(A: LinearOperator) -> LinearOperator:
    return A._as_they_lie(IMAGE, SINOGRAM)


def radon(image: Any, theta: Optional[npt.ArrayLike] = None, circle: bool = True, *,
          preserve_range: bool = False) -> np.ndarray:
    """The sinogram (bin, view) of an image. Without `circle`, the detector sees its diagonal."""
    image = np.asarray(image)
    if image.dtype.kind in "ui" and not preserve_range:
        image = image / np.iinfo(image.dtype).max  # as img_as_float does
    image = np.require(image, np.float32)
    if circle:
        if image.shape[0] != image.shape[1]:  # what is kept is a square about the axis
            side = min(image.shape)
            first = [n // 2 - side // 2 for n in image.shape]
            image = image[first[0]:first[0] + side, first[1]:first[1] + side]
        bins = image.shape[0]
    else:
        bins = max(n + math.ceil(math.sqrt(2) * max(image.shape) - n) for n in image.shape)
    return _image(projector(_scan(bins, theta), _grid(image.shape), "joseph")) @ np.ascontiguousarray(image)


def iradon(radon_image: Any, theta: Optional[npt.ArrayLike] = None, output_size: Optional[int] = None,
           filter_name: Optional[str] = "ramp", interpolation: str = "linear", circle: bool = True,
           preserve_range: bool = True) -> np.ndarray:
    """Filtered back-projection of a sinogram (bin, view). interpolation: linear, whatever is given."""
    y = np.require(radon_image, np.float32, "C")
    bins = y.shape[0]
    size = output_size or (bins if circle else int(math.floor(math.sqrt(bins ** 2 / 2.0))))
    window = "none" if filter_name is None else filter_name
    B = fbp(_scan(bins, theta, y.shape[1]), _grid((size, size)), Filter(window))
    image = B._as_they_lie(SINOGRAM, IMAGE) @ y
    if filter_name is None:
        image = image / 2  # it scales sums over views as it scales what its ramp filtered
    return np.where(_in_circle(image.shape), image, np.float32(0)) if circle else image


longer_steps = 4.0
"""How many times longer steps of scikit-image are, since it divides by sums of squares; measured on three phantoms."""


def iradon_sart(radon_image: Any, theta: Optional[npt.ArrayLike] = None, image: Any = None,
                projection_shifts: Optional[Sequence[float]] = None, clip: Optional[Sequence[float]] = None,
                relaxation: float = 0.15, dtype: Any = None) -> np.ndarray:
    """One pass of SART over all views, from zeros or from `image`. Weights are those of `tandem.OsSirt`."""
    y = np.require(radon_image, np.float32, "C")
    bins, views = y.shape
    scan = _scan(bins, theta, views)
    if projection_shifts is not None:
        scan = _core.ParallelBeam(scan.detector, scan.angles_rad, view_shift_bins=-np.asarray(projection_shifts, float))
    parts = subsets(scan, _grid((bins, bins)), count=views, model="joseph")
    parts.whole = _image(parts.whole)
    within = Bounds() if clip is None else Bounds(*map(float, clip))
    solver = OsSirt(parts, y, None if image is None else np.require(image, np.float32, "C"),
                    relaxation=min(longer_steps * relaxation, 1.9), bounds=within)
    run(solver, 1)
    return solver.solution if dtype is None else solver.solution.astype(dtype)
