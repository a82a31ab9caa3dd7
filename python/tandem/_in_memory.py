"""Scans in arrays, in the place of files of which commands read."""
from __future__ import annotations

import os
from typing import Any, Callable, Optional

import numpy as np

from . import _arrays, _core, _mistakes
from ._core import ParallelBeam
from ._errors import SpaceError
from ._tomography import Scan

PIXELS = ("uint8", "uint16", "uint32", "float32")


def frames(name: str, array: Any, shape: tuple[int, int, int], is_data: bool) -> np.ndarray:
    """Frames (frame, row, bin) in a type that files have, too. Axes of length 1 may be left out."""
    found = _arrays.on_host(name, array)
    found = found.astype(found.dtype.newbyteorder("=") if found.dtype.name in PIXELS else np.float32, copy=False)
    if not is_data and found.shape in (shape[1:], shape[2:]):
        found = found.reshape(1, *shape[1:])
    elif shape[1] == 1 and found.ndim == 2:
        found = found[:, None]
    wanted = shape if is_data else (len(found), *shape[1:])
    if found.shape != wanted:
        raise SpaceError(f"{name}: shape {found.shape}; the scan needs {wanted}")
    return np.require(found, None, ["C", "A"])


class InMemory:
    """A scan in arrays, for commands. It keeps the arrays that they read. name: of the argument that has the data."""

    def __init__(self, name: str, data: Any, scan: Optional[Scan], flats: Any, darks: Any):
        if scan is None:
            raise TypeError("scan: the geometry of the array is missing; give scan=ParallelBeam(...) or another")
        _mistakes.require_scan("scan", scan, *_mistakes.SCANS)
        shape = _core.projection_shape(scan)
        self.arrays = {"projections": frames(name, data, shape, True)}
        for kind, array in (("flats", flats), ("darks", darks)):
            if array is not None:
                self.arrays[kind] = frames(kind, array, shape, False)
        d = scan.detector
        pitch_is_known = not isinstance(scan, ParallelBeam) or (d.bin_pitch, d.row_pitch) != (1, 1)
        self.given = _core.GivenScan(scan, pitch_is_known, [(n, a.dtype.name, a.ctypes.data, len(a))
                                                            for n, a in self.arrays.items()])


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def of_source(source: Any, scan: Optional[Scan], flats: Any, darks: Any,
               options: dict[str, Any]) -> tuple[list[str], Optional[InMemory]]:
    """The paths that commands get, "-" for arrays. Completes the options."""
    if hasattr(source, "line_integrals"):
        raise TypeError("source: a ScanFile; give its path, file.path, and what it was opened with as options")
    paths = list(source) if isinstance(source, (list, tuple)) and all(map(is_path, source)) else [source]
    if len(paths) > 1 and options.get("stitch") is None:
        raise TypeError(f"source: {len(paths)} scans; give stitch='z' or 'x' to join them, or reconstruct each alone")
    if not paths or not is_path(paths[0]):
        options.setdefault("minus_log", flats is not None)
        return ["-"], InMemory("source", source, scan, flats, darks)
    for name, value in (("flats", flats), ("darks", darks)):
        if value is not None and not (is_path(value) or isinstance(value, (list, tuple))):
            raise TypeError(f"{name}: {_mistakes.shown(value)} beside a file; give the path of a file or a folder")
    if scan is not None:
        raise TypeError("scan: the file says what its geometry is; leave scan out, or give arrays")
    options |= {"flats": flats, "darks": darks}
    return [_mistakes.path_of("source", path) for path in paths], None


def write_numbers(folder: str, options: dict[str, Any]) -> None:
    """Lists of numbers, for which the program takes files with a line for each."""
    for name in ("angles", "view_shifts", "view_row_shifts", "row_axes"):
        if options.get(name) is not None and not is_path(options[name]):
            path = os.path.join(folder, name + ".txt")
            np.savetxt(path, np.atleast_1d(np.asarray(options[name], float)), "%.17g")
            options[name] = path


def write_volumes(folder: str, options: dict[str, Any], plan_of: Callable[[], dict[str, Any]]) -> None:
    """Arrays of volumes, on the grid that is written. plan_of tells which that is."""
    arrays = {name: options.pop(name) for name in ("initial", "truth")
              if options.get(name) is not None and not is_path(options[name])}
    if not arrays:
        return
    place = plan_of()["volume"]
    grid = _core.VolumeGrid(place["shape"][::-1], place["pitch"][::-1], place["centre"][::-1])
    for name, array in arrays.items():
        found = _arrays.on_host(name, array)
        found = found[None] if grid.shape[0] == 1 and found.ndim == 2 else found
        if found.shape != grid.shape:
            raise SpaceError(f"{name}: shape {found.shape}; the volume that is made has {grid.shape}")
        options[name] = os.path.join(folder, name + ".h5")
        found = np.require(found, np.float32, ["C", "A"])
        _core.write_volume(options[name], found.ctypes.data, grid, place["pitch_mm"] is not None, False)
