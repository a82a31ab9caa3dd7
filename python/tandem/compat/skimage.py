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
from .._errors import SpaceError
from .._layouts import Layout
from .._operator import LinearOperator
from .._tomography import Filter, fbp, projector

IMAGE, SINOGRAM = Layout((1, 2), reversed=(1,)), Layout((2, 0))


def _degrees(theta: Optional[npt.ArrayLike], views: int) -> np.ndarray:
    """The angle of each view of a sinogram."""
    degrees = np.linspace(0, 180, views, endpoint=False) if theta is None else np.atleast_1d(np.asarray(theta, float))
    if len(degrees) != views:
        raise SpaceError(f"theta: {len(degrees)} angles; the sinogram (bin, view) has {views} views")
    return degrees


def _scan(bins: int, degrees: np.ndarray) -> _core.ParallelBeam:
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
    if image.ndim != 2:
        raise SpaceError(f"image: shape {image.shape}; (y, x) is needed")
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
    degrees = _degrees(theta, 180 if theta is None else np.size(theta))
    return _image(projector(_scan(bins, degrees), _grid(image.shape), "joseph")) @ np.ascontiguousarray(image)


def iradon(radon_image: Any, theta: Optional[npt.ArrayLike] = None, output_size: Optional[int] = None,
           filter_name: Optional[str] = "ramp", interpolation: str = "linear", circle: bool = True,
           preserve_range: bool = True) -> np.ndarray:
    """Filtered back-projection of a sinogram (bin, view). interpolation: linear, whatever is given."""
    y = np.require(radon_image, np.float32, "C")
    bins = y.shape[0]
    size = output_size or (bins if circle else int(math.floor(math.sqrt(bins ** 2 / 2.0))))
    window = "none" if filter_name is None else filter_name
    B = fbp(_scan(bins, _degrees(theta, y.shape[1])), _grid((size, size)), Filter(window))
    image = B._as_they_lie(SINOGRAM, IMAGE) @ y
    if filter_name is None:
        image = image / 2  # it scales sums over views as it scales what its ramp filtered
    return np.where(_in_circle(image.shape), image, np.float32(0)) if circle else image


_FINE = 8  # cells a pixel of rows that are widened afterwards


class _Sart:
    """The steps of scikit-image's SART, whose rays are sums over points every half a pixel along them, interpolated
    between four pixels, within a circle. Pixels fall on a row of fine cells, which the shadow of that interpolation
    widens. A ray is divided by the sum of the squares of its weights, and a window falls off towards its ends."""

    def __init__(self, bins: int):
        self.bins, self.middle, self.radius = bins, bins // 2, bins // 2 - 1
        lines, columns = np.mgrid[:bins, :bins].astype(np.float32) - self.middle
        self.lines, self.columns = lines, columns
        self.detector = _core.Detector(_FINE * (bins + 2) + 1, bin_pitch=1 / _FINE, axis_bin=_FINE * (self.middle + 1))

    def update(self, image: np.ndarray, degrees: float, row: np.ndarray, shift: float) -> np.ndarray:
        """What a view adds to an image, before its relaxation."""
        angle = math.radians(degrees)
        fine = _image(projector(_core.ParallelBeam(self.detector, [angle]), _grid(image.shape), "pixel_driven"))
        shadow = _shadow(abs(math.cos(angle)), abs(math.sin(angle)))
        cells = (np.arange(fine.shape[0]) - self.detector.axis_bin) / _FINE
        rays = np.arange(self.bins) + shift - self.middle
        sums = np.interp(rays, cells, np.convolve((fine @ image)[:, 0], shadow, "same"))
        squares = self._squares(angle, rays)
        lacks = np.divide(row - sums, squares, out=np.zeros(self.bins), where=squares > 0)
        at = (rays[0] - cells[0]) * _FINE  # the cell of the first ray, and the share of the next one
        spread = np.zeros(len(cells) + 2 * _FINE)
        for cell, share in ((int(math.floor(at)), 1 - at % 1), (int(math.floor(at)) + 1, at % 1)):
            first, last = max(0, -(cell // _FINE)), min(self.bins, (len(cells) - 1 - cell) // _FINE + 1)
            spread[cell + first * _FINE:cell + (last - 1) * _FINE + 1:_FINE] += share * lacks[first:last]
        spread = np.convolve(spread[:len(cells)], shadow, "same")
        return (fine.T @ spread.astype(np.float32)[:, None]) * self._window(angle)

    def _squares(self, angle: float, rays: np.ndarray) -> np.ndarray:
        """The sum of the squares of all weights of each ray."""
        half = np.sqrt(np.maximum(self.radius ** 2 - rays ** 2, 0))[:, None]
        steps = 2 * np.ceil(2 * half)
        k = np.arange(steps.max() + 1)
        along = half * (1 - 2 * k / np.maximum(steps, 1))
        squares = (k <= steps).astype(float)
        for part in (along * math.cos(angle) - rays[:, None] * math.sin(angle),
                     along * math.sin(angle) + rays[:, None] * math.cos(angle)):
            beside = part - np.floor(part)
            squares *= 1 - 2 * beside * (1 - beside)
        length = np.divide(2 * half, steps, out=np.zeros_like(half), where=steps > 0)
        return squares.sum(1) * length[:, 0] ** 2

    def _window(self, angle: float) -> np.ndarray:
        """The window of Hamming along the rays through pixels, as far as these are within the circle."""
        c, s = np.float32(math.cos(angle)), np.float32(math.sin(angle))
        along = self.lines * c + self.columns * s
        half = np.sqrt(np.maximum(np.float32(self.radius ** 2) - (self.columns * c - self.lines * s) ** 2, 0))
        place = np.clip(np.divide(along, half, out=np.ones_like(half), where=half > 0), -1, 1)
        within = np.clip(half - np.abs(along), -1, 1)
        share = np.where(within < 0, (1 + within) ** 2 / 2, 1 - (1 - within) ** 2 / 2)
        return share * (0.53836 + 0.46164 * np.cos(np.pi * place))


def _shadow(c: float, s: float) -> np.ndarray:
    """That of a pixel with linear interpolation in both directions: two triangles, convolved, in fine cells."""
    wide, narrow = max(c, s), min(c, s)
    at = np.arange(-2 * _FINE, 2 * _FINE + 1) / _FINE
    beside = (np.arange(64) + 0.5) / 32 - 1
    shadow = np.maximum(0, 1 - np.abs(at[:, None] - narrow * beside) / wide) @ (1 - np.abs(beside))
    return shadow / shadow.sum()


def _golden_order(degrees: np.ndarray) -> list[int]:
    """Views one after another by the golden ratio of half a turn, each the nearest that is left (Kohler 2004)."""
    left = list(np.argsort(degrees, kind="stable"))
    order = [left.pop(0)]
    at = degrees[order[0]]
    while left:
        at = (at + 90 * (3 - math.sqrt(5))) % 180
        order.append(left.pop(int(np.argmin(np.abs(degrees[left] - at)))))
    return [int(view) for view in order]


def iradon_sart(radon_image: Any, theta: Optional[npt.ArrayLike] = None, image: Any = None,
                projection_shifts: Optional[Sequence[float]] = None, clip: Optional[Sequence[float]] = None,
                relaxation: float = 0.15, dtype: Any = None) -> np.ndarray:
    """One pass of SART over all views, from zeros or from `image`, which stays as it is. Views come in the order of the
    golden ratio."""
    y = np.require(radon_image, np.float32, "C")
    bins, views = y.shape
    degrees = _degrees(theta, views)
    shifts = np.zeros(views) if projection_shifts is None else np.asarray(projection_shifts, float)
    x = np.zeros((bins, bins), np.float32) if image is None else np.array(image, np.float32)
    sart = _Sart(bins)
    for view in _golden_order(degrees):
        x += np.float32(relaxation) * sart.update(x, degrees[view], y[:, view], shifts[view])
        if clip is not None:
            np.clip(x, *clip, out=x)
    return x if dtype is None else x.astype(dtype)
