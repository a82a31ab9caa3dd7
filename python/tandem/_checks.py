"""Does a denoiser, or a network, invent? Four tests, each of which a wrong one fails."""
from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _arrays, _core, _mistakes
from ._core import VolumeGrid
from ._errors import SpaceError, UsageError
from ._in_memory import frames
from ._tomography import ParallelBeam, Scan, fbp, fdk, project, projector

Sigma = Union[float, np.ndarray]
_BLOCK = 8000
"""Data whose mean square chance changes by 0.016."""


@dataclass(frozen=True, repr=False)
class Check:
    """What a test against invention has found. It is true if the test is passed."""
    name: str
    passed: bool
    numbers: dict[str, float]
    """What was measured, and what was allowed."""
    words: str
    """The same in a sentence, with what is wrong."""

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return f"<Check {self.name} {'passed' if self.passed else 'FAILED'}: {self.words}>"

    def __str__(self) -> str:
        return "\n    ".join([f"{self.name}: {'passed' if self.passed else 'FAILED'}", *self.words.split("; ")])


def check_residual(x: np.ndarray, data: np.ndarray, scan: Scan, sigma: Sigma, grid: Optional[VolumeGrid] = None, *,
                   model: Optional[str] = None) -> Check:
    """Does a volume explain its data, and no noise of them? (data - A x) / sigma has to be white, with a mean square of
    0.95 to 1.05 in each block of views and bins. Above, x has what the data have not, or lacks what they have; below,
    it fits noise. It fits some wherever it was not smoothed and voxels are not far fewer than data, as plain FBP of few
    views.

    x: (slice, y, x) of `grid`, which holds the whole object; corners that no view sees count as 0. data: line integrals
    (view, row, bin). sigma: the standard deviation of their noise, a number or an array of their shape; with N photons
    behind the object it is N^-1/2. Blocks have 8000 data or more; to the limits comes what chance does to one in 200
    scans. The noise of a detector that blurs is not white, and A, of the `model`, has to be right to a fraction of
    sigma.
    """
    grid = _core.fitting_grid(scan) if grid is None else grid
    A = projector(scan, grid, model)
    y = frames("data", data, A.range.shape, True)
    seen = _from_axis(grid) <= _core.half_width(_core.fitting_grid(scan))
    z = (y - A @ (_volume("check_residual: x", x, grid.shape) * seen)) / _positive("check_residual", sigma, y.shape)
    in_bins = int(np.clip(z.size // _BLOCK, 1, min(8, z.shape[2])))
    in_views = int(np.clip(z.size // (_BLOCK * in_bins), 1, len(z)))
    squares = np.array([np.mean(block ** 2, dtype=float) for part in np.array_split(z, in_views)
                        for block in np.array_split(part, in_bins, axis=2)])
    rare = NormalDist().inv_cdf(1 - 0.0025 / (squares.size + 3))
    allowed = 0.05 + rare * (2 * squares.size / z.size) ** 0.5
    along = {word: _neighbours(z, axis) for axis, word in enumerate(("views", "rows", "bins")) if z.shape[axis] > 1}
    word = max(along, key=lambda k: abs(along[k]), default="bins")
    correlation, allowed_correlation = along.get(word, 0.0), 0.05 + rare * z.size ** -0.5
    least, most = float(squares.min()), float(squares.max())
    wrong = ["it lacks what the data have, or has what they have not"] if most > 1 + allowed else []
    wrong += ["it fits noise"] if least < 1 - allowed else []
    wrong += [f"the residual has structure along {word}"] if abs(correlation) > allowed_correlation else []
    return _found("residual", wrong, {"least": least, "most": most, "allowed": allowed, "correlation": correlation,
                                      "allowed_correlation": allowed_correlation},
                  f"mean square of (data - A x) / sigma {least:.3f} to {most:.3f} in {squares.size} blocks, 1 +- "
                  f"{allowed:.3f} is allowed; neighbours along {word} correlate by {correlation:.3f}, "
                  f"{allowed_correlation:.3f} is allowed")


def check_halves(volumes: np.ndarray, denoise: Callable[[np.ndarray], np.ndarray],
                 other: Optional[Callable[[np.ndarray], np.ndarray]] = None) -> Check:
    """Does a denoiser make the same of both halves of the views? What it makes of the mean of every second volume of
    `split`, and of the rest, has to differ by less than 2 sigma in 95 % of the voxels, and of boxes of 4 x 4 and 16 x
    16 voxels of a slice, and nowhere by so many sigma that chance would do it in one scan of 200. sigma is the noise of
    the difference without a denoiser, as the volumes tell it. What differs by more was made from noise. What is drawn
    in both halves alike is not seen here.

    volumes: (count, slice, y, x), of 4 volumes at best. denoise: takes and gives (slice, y, x). other: a network that
    was trained with the second half alone, where `denoise` was with the first.
    """
    volumes = _arrays.on_host("check_halves: volumes", volumes)
    if volumes.ndim != 4 or len(volumes) < 2:
        raise SpaceError(f"check_halves: volumes has shape {volumes.shape}; (count, slice, y, x) is needed, with 2 "
                         "volumes or more")
    shape = volumes.shape[1:]
    first, second = (volumes[k::2].mean(0) for k in (0, 1))
    difference = (_made("check_halves: denoise", denoise, first, shape) -
                  _made("check_halves: " + ("other" if other else "denoise"), other or denoise, second, shape))
    numbers: dict[str, float] = {}
    wrong: list[str] = []
    said: list[str] = []
    for size in (1, 4, 16):
        boxes = _boxes(volumes, size)
        if boxes is None or (size > 1 and boxes[0].size < 100):
            break
        variance = boxes.var(0, ddof=1) * (1 / len(volumes[0::2]) + 1 / len(volumes[1::2]))
        apart = np.abs(_boxes(difference, size)) / np.sqrt(np.maximum(_around(variance, 9), 1e-30))
        share, largest = float((apart <= 2).mean()), float(apart.max())
        least = 0.95 - 4 * (0.0475 / apart.size) ** 0.5  # neighbours correlate
        most = 1.5 * NormalDist().inv_cdf(1 - 0.0025 / apart.size)  # sigma is not exact
        wrong += [f"halves differ in {_called(size)}"] if share < least or largest > most else []
        numbers |= {f"share_{size}": share, f"least_{size}": least, f"largest_{size}": largest, f"most_{size}": most}
        said.append(f"{100 * share:.1f} % of {_called(size)} (at least {100 * least:.1f} %), none is apart by more than "
                    f"{largest:.1f} sigma (at most {most:.1f})")
    return _found("halves", wrong, numbers, f"within 2 sigma are {'; '.join(said)}")


def check_detail(reconstruct: Callable[[np.ndarray], np.ndarray], data: np.ndarray, scan: Scan, sigma: Sigma,
                 grid: Optional[VolumeGrid] = None, *, radius: float = 4.0,
                 places: Optional[Sequence[Sequence[float]]] = None) -> Check:
    """Does a detail that is in the data come back? Balls with a contrast of three times the noise of a voxel of FBP or
    FDK are added to the data. Each has to come back with 80 % of its contrast at least, the mean inside less that
    around it.

    reconstruct: the whole way from data (view, row, bin) to a volume (slice, y, x), such as ``lambda y: denoise(F @
    y)``. sigma: as in `check_residual`. radius: of the balls, in voxels: take that of the details that you look for.
    places: of their centres, (slice, y, x) in voxels; default: the middle, and four at a quarter of the width about it.
    """
    A, F = projector(scan, grid), _filtered(scan, grid)
    y, shape = frames("data", data, A.range.shape, True), A.domain.shape
    if not radius > 0:
        raise UsageError(f"check_detail: radius {radius}; a number of voxels above 0 is needed")
    noise = F @ _draw(np.random.default_rng(1), _positive("check_detail", sigma, y.shape))
    level = np.sqrt(_around(noise ** 2, 9))
    middle = [0.5 * (n - 1) for n in shape]
    if places is None:
        places = [middle] + [[middle[0], middle[1] + v * shape[1] / 4, middle[2] + u * shape[2] / 4]
                             for v, u in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    indices = np.indices(shape, np.float32)
    detail, parts = np.zeros(shape, np.float32), []
    for place in places:
        distance = np.sqrt(sum((index - p) ** 2 for index, p in zip(indices, place)))
        ball, around = distance <= radius, (distance > radius + 2) & (distance <= radius + 5)
        if not (ball.any() and around.any()):
            raise UsageError(f"check_detail: places has {_mistakes.shown(tuple(place))}; give (slice, y, x) within "
                             f"{tuple(shape)} voxels, with room for a radius of {radius:g} and 5 more")
        detail[ball] += 3 * level[ball].mean()
        parts.append((ball, around))
    change = (_made("check_detail: reconstruct", reconstruct, y + A @ detail, shape) -
              _made("check_detail: reconstruct", reconstruct, y, shape))
    shares = [float((change[ball].mean() - change[around].mean()) / (detail[ball].mean() - detail[around].mean()))
              for ball, around in parts]
    wrong = ["details are lost"] if min(shares) < 0.8 else ["details are exaggerated"] if max(shares) > 1.5 else []
    return _found("detail", wrong, {"least": min(shares), "most": max(shares), "mean": float(np.mean(shares))},
                  f"of the contrast of {len(shares)} balls of radius {radius:g} voxels and 3 sigma come back "
                  f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %; 80 to 150 % are needed")


def check_null(reconstruct: Callable[[np.ndarray], np.ndarray], scan: Scan, sigma: Sigma, attenuation: float,
               grid: Optional[VolumeGrid] = None, *, draws: int = 4) -> Check:
    """Is a scan without structure shown without structure? Data of a round flat body with noise, drawn `draws` times,
    are reconstructed. Inside the body, away from its edge, voxels and means over boxes of 4 x 4 and 16 x 16 must not
    vary more than 1.5 times as much as those of plain FBP or FDK, in their rms and in their largest one; nor may the
    mean over draws, in which what is always drawn remains.

    reconstruct: as in `check_detail`. sigma: as in `check_residual`. attenuation: of the body, 1/mm or 1/pixel: that of
    your sample. It has 0.8 of the width of the volume.
    """
    if not (_mistakes._is_whole(draws) and draws > 0):
        raise UsageError(f"check_null: draws is {_mistakes.shown(draws)}; give a whole number from 1 on")
    if not (_mistakes._is_number(attenuation) and np.isfinite(attenuation)):
        raise TypeError(f"check_null: attenuation is {_mistakes.shown(attenuation)}; give a number, in 1/mm")
    grid = _core.fitting_grid(scan) if grid is None else grid
    F, random = _filtered(scan, grid), np.random.default_rng(1)
    radius = 0.8 * _core.half_width(grid)
    flat = project(_core.Phantom([_core.Ellipsoid(attenuation, (radius, radius, np.inf))]), scan)
    std = _positive("check_null", sigma, flat.shape)
    inside = _from_axis(grid) < 0.75 * radius
    plain, noises, errors = F @ flat, [], []
    for _ in range(int(draws)):
        noise = _draw(random, std)
        noises.append(F @ noise)
        errors.append(_made("check_null: reconstruct", reconstruct, flat + noise, grid.shape) - plain)
    numbers: dict[str, float] = {}
    for size in (1, 4, 16):
        whole = _boxes(inside.astype(np.float32), size)
        if whole is None or np.count_nonzero(whole == 1) < 4:
            break
        rows = [[_variation(_boxes(v, size)[..., whole == 1]) for v in (*made, np.mean(made, 0))]
                for made in (errors, noises)]
        numbers[f"rms_{size}"], numbers[f"peak_{size}"] = (float(v) for v in (np.array(rows[0]) / rows[1]).max(0))
    numbers["level"] = float(np.mean(errors, 0)[..., inside].mean() / attenuation) if attenuation else 0.0
    wrong = [f"structure in {_called(size)}" for size in (1, 4, 16)
             if max(numbers.get(f"rms_{size}", 0), numbers.get(f"peak_{size}", 0)) > 1.5]
    return _found("null", wrong, numbers, "a flat body varies, as shares of FBP without a denoiser, by " + "; ".join(
        f"{numbers[f'rms_{size}']:.2f} in {_called(size)} (largest "
        f"{numbers[f'peak_{size}']:.2f})" for size in (1, 4, 16) if f"rms_{size}" in numbers) +
        f"; 1.5 is allowed; its level is off by {100 * numbers['level']:.1f} %, which is not judged")


def _found(name: str, wrong: list[str], numbers: dict[str, float], words: str) -> Check:
    return Check(name, not wrong, numbers, "; ".join([", ".join(wrong), words]) if wrong else words)


def _called(size: int) -> str:
    return "voxels" if size == 1 else f"boxes of {size} x {size}"


def _filtered(scan: Scan, grid: Optional[VolumeGrid]) -> Any:
    is_parallel = isinstance(scan, ParallelBeam) or isinstance(scan, _core.FlexibleBeam) and scan.parallel
    return (fbp if is_parallel else fdk)(scan, grid)


def _from_axis(grid: VolumeGrid) -> np.ndarray:
    """How far each pixel of a slice is from the axis, mm."""
    x, y = (first + pitch * np.arange(n) for first, pitch, n in zip((grid.x(0), grid.y(0)), grid.pitch, grid.size))
    return np.hypot(y[:, None], x)


def _draw(random: np.random.Generator, std: np.ndarray) -> np.ndarray:
    return std * random.standard_normal(std.shape, np.float32)


def _positive(name: str, sigma: Any, shape: tuple) -> np.ndarray:
    found = _arrays.on_host(name + ": sigma", np.asarray(sigma) if np.ndim(sigma) == 0 else sigma)
    found = found[:, None] if found.ndim == 2 and shape[1] == 1 else found
    if found.ndim and found.shape != tuple(shape):
        raise SpaceError(f"{name}: sigma has shape {found.shape}; a number or {tuple(shape)} is needed")
    if not (np.isfinite(found) & (found > 0)).all():
        raise UsageError(f"{name}: sigma is {float(found.min()):g} somewhere; numbers above 0 are needed")
    return np.broadcast_to(found.astype(np.float32), shape)


def _volume(name: str, x: Any, shape: tuple) -> np.ndarray:
    found = _arrays.on_host(name, x)
    found = found[None] if found.ndim == 2 and shape[0] == 1 else found
    if found.shape != tuple(shape):
        raise SpaceError(f"{name}: shape {found.shape}; the volume has {tuple(shape)}")
    if not np.isfinite(found).all():
        raise UsageError(f"{name}: {np.count_nonzero(~np.isfinite(found))} voxels are nan or inf; all have to be "
                         "finite")
    return np.require(found, np.float32, ["C", "A"])


def _made(name: str, make: Callable, given: np.ndarray, shape: tuple) -> np.ndarray:
    return _volume(name, make(given.astype(np.float32)), shape)


def _neighbours(z: np.ndarray, axis: int) -> float:
    """How neighbours along an axis correlate."""
    rest = np.moveaxis(z, axis, 0)
    return float(np.mean(rest[1:] * rest[:-1], dtype=float) / np.mean(z ** 2, dtype=float))


def _boxes(v: np.ndarray, size: int) -> Optional[np.ndarray]:
    """Means over boxes of size x size voxels of slices; none if there is not a whole one."""
    if size == 1:
        return v
    ny, nx = (n // size for n in v.shape[-2:])
    if not (ny and nx):
        return None
    return v[..., :ny * size, :nx * size].reshape(*v.shape[:-2], ny, size, nx, size).mean((-3, -1), dtype=np.float32)


def _around(v: np.ndarray, size: int) -> np.ndarray:
    """Means over the size x size neighbours of each pixel of slices, or those that are there."""
    def along(v: np.ndarray, axis: int) -> np.ndarray:
        sums = np.insert(np.cumsum(v, axis, dtype=float), 0, 0, axis)
        n = v.shape[axis]
        first, end = (np.clip(np.arange(n) + d, 0, n) for d in (-(size // 2), size - size // 2))
        width = np.expand_dims(end - first, tuple(range(1, -axis)))
        return (np.take(sums, end, axis) - np.take(sums, first, axis)) / width
    return along(along(v, -1), -2)


def _variation(v: np.ndarray) -> tuple[float, float]:
    """Its rms and its largest deviation from the mean."""
    rest = v - v.mean()
    return float(np.sqrt(np.mean(rest ** 2))), float(np.abs(rest).max())
