"""Volumes of disjoint views, whose noise is independent."""
from __future__ import annotations

import os
import tempfile
from typing import Any, Optional

import numpy as np

from . import _arrays, _core, _mistakes
from ._errors import DeviceError, UsageError
from ._in_memory import frames, is_path
from ._options import _text, with_options
from ._scans import OnProgress, plan, reconstruct
from ._tomography import Scan, with_views

_FEW = 30
"""Below so many views, streaks are about as strong as noise."""
_OF_ALL_VIEWS = ("views", "angles", "arc", "view_shifts", "view_row_shifts", "flat_loc")
_NOT_HERE = ("output", "part_of", "follow", "resume", "checkpoint", "dry_run", "save_config", "serve")


@with_options("recon")
def split(source: Any, count: int, *, scan: Optional[Scan] = None, flats: Any = None, darks: Any = None,
          progress: OnProgress = True, **options: Any) -> np.ndarray:
    """Volumes (count, slice, y, x), each by FBP or FDK from every count-th view, so that their noise is independent:
    what networks are trained with (Hendriksen, Pelt, Batenburg, IEEE Trans. Computational Imaging 6, 2020). The mean of
    all is about the volume of all views. It takes about the time of one volume, or twice that with the models 'fourier'
    and 'hierarchical', and the memory of `count`: 4 bytes a voxel and volume.

    source, scan, flats, darks and options are those of `reconstruct`. Views of an array are dealt out by their angle
    (`view_subsets`), those of a file in their order. What is found in the scan (``rotation_axis="auto"``) is found
    once, in all views. The noise of flats and darks is in all volumes alike, and so are rings.
    """
    _require_count(count)
    for word in _NOT_HERE:
        if options.get(word) not in (None, False):
            raise UsageError(f"split: {word} has no sense here; volumes are an array, which write_volume writes")
    in_file = is_path(source) or isinstance(source, (list, tuple)) and all(map(is_path, source))
    if not in_file:
        _require_none_of_all_views(options)
    common = {"flats": flats, "darks": darks}
    with tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        recipe = os.path.join(folder, "found.toml")
        whole = plan(source, scan=scan, **common, **options, save_config=recipe)
        if whole["algorithm"] not in ("fbp", "fdk"):
            raise UsageError(f"split: method is {whole['algorithm']!r}; give fbp or fdk, which are linear")
        _require_views(count, whole["geometry"]["views"])
        _require_memory(count, whole["volume"]["shape"])
        volumes = np.empty((count, *whole["volume"]["shape"]), np.float32)
        known = {"model": whole["model"], **{w: v for w, v in options.items() if not (v is None or _is_found(w, v))}}
        known |= {**common, "scan": scan, "progress": progress, "config": recipe}
        for k, part in enumerate(_by_stride(source, count, options.get("views")) if in_file else
                                 _by_angle(source, count, scan)):
            volumes[k] = reconstruct(**{**known, **part}).volume
    return volumes


def _is_found(word: str, value: Any) -> bool:
    """Whether the recipe has what an option became."""
    return word in ("config", "like", "physics") or isinstance(value, str) and value.startswith("auto")


def _by_stride(source: Any, count: int, views: Any) -> list[dict[str, Any]]:
    """What takes every count-th view of a file, after the choice of the caller."""
    first, end, step = (*("" if views is None else _text(views, ":")).split(":"), "", "", "")[:3]
    begin, step = int(first or 0), int(step or 1)
    return [{"source": source, "views": f"{begin + k * step}:{end}:{count * step}"} for k in range(count)]


def _by_angle(source: Any, count: int, scan: Any) -> list[dict[str, Any]]:
    data = frames("source", source, _core.projection_shape(scan), True)
    return [{"source": data[views], "scan": with_views(scan, views)}
            for views in map(sorted, _core.view_subsets(scan, count))]


def _require_count(count: Any) -> None:
    if not _mistakes._is_whole(count):
        raise TypeError(f"split: count is {_mistakes.shown(count)}; give a whole number of volumes, from 2 on")
    if count < 2:
        raise UsageError(f"split: count is {count}; give 2 volumes or more")


def _require_none_of_all_views(options: dict[str, Any]) -> None:
    for word in _OF_ALL_VIEWS:
        if options.get(word) is not None:
            raise UsageError(f"split: {word} counts the views of a file; of an array, say it by scan, or take "
                             "data[views] and with_views(scan, views)")


def _require_views(count: int, views: int) -> None:
    if count > views:
        raise UsageError(f"split: count is {count} and the scan has {views} views; each volume needs some")
    if views < _FEW * count:
        _arrays.warn(f"split: {views // count} views for each of {count} volumes: streaks of so few views are as "
                     "strong as noise; give fewer volumes")


def _require_memory(count: int, shape: Any) -> None:
    """Raises DeviceError if the machine has not the memory for all volumes."""
    needed = 4 * count * _arrays.count(shape)
    has = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > has:
        size = " x ".join(map(str, shape[::-1]))
        raise DeviceError(f"split: {count} volumes of {size} voxels need {needed / 2**30:.3g} GiB of memory, and this "
                          f"machine has {has / 2**30:.3g} GiB; give some slices, such as slices=(0, 10)")
