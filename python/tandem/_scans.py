"""Scans in files, and the commands of the program as functions."""
from __future__ import annotations

import json
import math
import os
import re
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _arrays, _core, _mistakes
from ._core import ParallelBeam, VolumeGrid
from ._errors import Error, FileError, GeometryError, SpaceError, UsageError
from ._tomography import Scan
from ._look import Look, shown
from ._in_memory import InMemory, of_source, write_numbers, write_volumes
from ._options import with_options, words as _words
from . import _words as _pictures
from ._mistakes import path_of as _path_of

PathLike = Union[str, "os.PathLike[str]"]


class Frames:
    """Frames of a scan in a file (frame, row, bin), in the type of the file. They are read when they are asked for:
    ``frames[10:20, 3]``."""

    def __init__(self, file: _core.ScanFile, kind: str, shape: tuple[int, int, int]):
        self._file, self._kind, self.shape, self.dtype = file, kind, shape, np.dtype(file.dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key) -> np.ndarray:
        key = key if isinstance(key, tuple) else (key,)
        for part in key:
            if not isinstance(part, (int, np.integer, slice, type(Ellipsis))):
                raise IndexError(f"{self._kind}: {_mistakes.shown(part)} as an index; give numbers and slices, or "
                                 "index all frames, frames[:][...]")
        if Ellipsis in key:
            at = key.index(Ellipsis)
            key = key[:at] + (slice(None),) * (4 - len(key)) + key[at + 1:]
        if len(key) > 3:
            raise IndexError(f"{self._kind}: {len(key)} indices; frames have three axes")
        ranges, within = [], []
        for part, size in zip(key + (slice(None),) * (3 - len(key)), self.shape):
            numbers = range(size)[part]  # raises IndexError outside
            if isinstance(numbers, int):
                ranges.append((numbers, numbers + 1))
                within.append(0)
            else:
                first, last = (min(numbers), max(numbers)) if len(numbers) else (0, -1)
                ranges.append((first, last + 1))
                within.append(np.array(numbers, int) - first if numbers.step != 1 else slice(None))
        out = np.empty([end - first for first, end in ranges], self.dtype)
        if out.size:
            self._file.read(self._kind, *ranges, out.ctypes.data)
        for axis in (2, 1, 0):
            out = out[(slice(None),) * axis + (within[axis],)]
        return out

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return self[:] if dtype is None else self[:].astype(dtype)

    def __repr__(self) -> str:
        return f"<{self._kind} {self.shape} {self.dtype}>"


class ScanFile:
    """A scan in a file: what it says of itself, and its frames, which are read when they are asked for."""

    def __init__(self, file: _core.ScanFile, path: str):
        self._file, self.path = file, path
        self.format: str = file.format
        self.scan: Scan = file.scan
        """Its geometry. The pitch is 1 if it is not known, and the axis in the middle unless `axis_bin` is recorded."""
        self.pixel_size_mm: Optional[float] = file.pixel_size_mm
        self.axis_bin: Optional[float] = file.axis_bin
        self.energy_kev: Optional[float] = file.energy_kev
        self.notes: list[str] = list(map(_in_words_of_open_scan, file.notes))
        views, rows, bins = _core.projection_shape(self.scan)
        self.projections = Frames(file, "projections", (views, rows, bins))
        self.flats = Frames(file, "flats", (file.flats, rows, bins))
        self.darks = Frames(file, "darks", (file.darks, rows, bins))

    def line_integrals(self, rows: Optional[tuple[int, int]] = None) -> tuple[np.ndarray, Scan]:
        """(view, row, bin) of some rows, and the scan that has these rows: -log of counts by the means of flats and
        darks, and nothing else. `reconstruct` knows better ways (outliers, stripes, phase)."""
        if rows is not None and not (isinstance(rows, (tuple, list)) and len(rows) == 2):
            raise TypeError(f"line_integrals: rows is {_mistakes.shown(rows)}; give (first, end)")
        first, end = rows or (0, self.projections.shape[1])
        scan = _core.crop(self.scan, rows=(first, end))
        if not len(self.flats):
            raise GeometryError(f"{self.path}: no flats; take projections as they are, or reconstruct(minus_log=...)")
        dark = self.darks[:, first:end].mean(0, dtype=np.float64) if len(self.darks) else 0.0
        beam = self.flats[:, first:end].mean(0, dtype=np.float64) - dark
        transmission = (self.projections[:, first:end] - dark) / np.where(beam > 0, beam, 1)
        return -np.log(np.maximum(transmission, 1e-6)).astype(np.float32), scan

    def look(self, *, show: bool = True, **options: Any) -> Look:
        """Shows the scan on a page on which options of `reconstruct` are tried out, as ``tandem look`` does; `options`
        are where it begins. The page ends when the result is closed. show: False opens no browser."""
        return shown(Look(_core.look_at(["look", self.path, *_words("recon", options)])), show)

    def show(self) -> Any:
        """Shows its geometry: opens a page in a browser, or returns it to the notebook that it is called in."""
        return self.scan.show()

    def __repr__(self) -> str:
        return f"<ScanFile {self.path!r}, {self.format}, {type(self.scan).__name__}, {self.projections.shape}>"


def open_scan(path: PathLike, *, pixel_size_mm: Optional[float] = None, sod_mm: Optional[float] = None,
              sdd_mm: Optional[float] = None, midplane_row: Optional[float] = None, arc_rad: Optional[float] = None,
              time: Optional[int] = None, allow_external_files: bool = False) -> ScanFile:
    """Opens a file, a data set in a file (FILE:/NAME) or a folder of images, whose layout is recognised. What is given
    stands in the place of what the file says; sod_mm and sdd_mm make it a cone beam; arc_rad spreads the views evenly;
    time chooses one of the scans in a file of four axes."""
    arc = None if arc_rad is None else math.degrees(arc_rad)
    path = _path_of("path", path)
    try:
        return ScanFile(_core.open_file(path, pixel_size_mm, sod_mm, sdd_mm, midplane_row, arc, time,
                                        allow_external_files), path)
    except Error as error:
        raise type(error)(_in_words_of_open_scan(str(error))) from None


def _in_words_of_open_scan(text: str) -> str:
    """A message with the arguments of `open_scan` in the place of the options of commands."""
    text = re.sub(r"\b(sod|sdd|pixel_size)( MM)?(?=$|[ ,;:])", r"\1_mm", text)
    text = re.sub(r"\b(angles FILE(\[A:B\])? or )?arc( DEG)?(?=$|[ ,;:])", "arc_rad", text)
    return re.sub(r" angles \S+$", " with arc_rad", text)


class Stage(NamedTuple):
    """The progress of a command."""
    name: str
    done: float
    total: float
    unit: str
    detail: str


OnProgress = Union[bool, Callable[[Stage], None]]


@dataclass(repr=False)
class Reconstruction:
    """A volume, and how it came to be."""
    volume: Optional[np.ndarray]
    """(slice, y, x), 1/mm or 1/pixel; None if it was written to `path`."""
    path: Optional[str]
    report: dict[str, Any]
    """What `tandem recon --json` writes."""
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        shape = tuple(self.report["volume"]["shape"])
        where = f"written to {self.path}" if self.volume is None else self.report["volume"]["unit"]
        return f"<Reconstruction {shape} by {self.report['algorithm']}, {where}>"

    def _repr_html_(self) -> str:
        residuals = self.report.get("residuals") or []
        picture = "" if self.volume is None else _pictures.picture(self.volume)
        return _pictures.said(self) + picture + _pictures.curve(residuals, "|b - Ax|")

    @property
    def plan(self) -> dict[str, Any]:
        """What was decided before the first pixel was read."""
        later = {"seconds", "residuals", "iterations", "stopped_by", "updates", "gups", "stations", "curves", "quality",
                 "begun", "command_line"}
        return {key: value for key, value in self.report.items() if key not in later}


class _Bar:
    """A bar of tqdm in a terminal or a notebook; nothing where neither is, or without tqdm."""

    def __init__(self):
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._bar = None
            return
        notebook = "ipykernel" in sys.modules
        self._bar = tqdm(disable=not notebook and not sys.stderr.isatty(), leave=False)

    def show(self, at: Stage) -> None:
        if self._bar is None:
            return
        self._bar.set_description_str(f"{at.name} {at.detail}".strip(), refresh=False)
        self._bar.unit, self._bar.total, self._bar.n = f" {at.unit}", at.total, at.done
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class _Cancelled(Exception):
    pass


def _run(words: Sequence[str], progress: OnProgress, given: Any = None) -> tuple[dict[str, Any], list[str]]:
    """Runs a command in a thread of its own, so that this one shows progress and hears Ctrl-C. given: the scan that
    stands in the place of "-"."""
    report: dict[str, Any] = {}
    notes: list[str] = []
    failure: list[BaseException] = []
    latest: list[Stage] = []
    cancelled = threading.Event()

    def stage(*at):
        if cancelled.is_set():
            raise _Cancelled
        latest[:] = [Stage(*at)]

    def work():
        try:
            _core.run_command(list(words), stage, lambda note: notes.append(_as_keywords(note)),
                              lambda text: report.update(json.loads(text)), given)
        except BaseException as error:  # handed to the caller below
            failure.append(error)

    bar = _Bar() if progress is True else None
    show = progress if callable(progress) else bar.show if bar else None
    thread = threading.Thread(target=work, name="tandem", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)
            if show and latest:
                show(latest.pop())
    finally:  # also where `show` raises, or Ctrl-C comes
        cancelled.set()
        thread.join()
        if bar:
            bar.close()
    if failure:
        raise _as_python_says(failure[0])
    for note in notes:
        if note.startswith(("warning: ", "note: --config", "note: --like")):
            _arrays.warn(note.partition(": ")[2])
    return report, [note for note in notes if not note.startswith("warning: ")]


def _as_keywords(text: str) -> str:
    return re.sub(r"\breconstruction_algorithm\b", "method", text)


def _as_python_says(error: BaseException) -> BaseException:
    """An error of a command, whose options are keywords here."""
    if isinstance(error, UsageError):
        text = re.sub(r"--([a-z][a-z-]*[a-z])", lambda found: found[1].replace("-", "_"), str(error))
        text = re.sub(r"(^|(?<= ))-o ", "output ", _as_keywords(text))
        return UsageError(re.sub(r"^command line: (option )?|;? see tandem \w+ help$", "", text))
    if isinstance(error, Error):  # arrays that the program read as files
        return type(error)(re.sub(r"\S*/tandem-\w{8}/(\w+)\.(txt|h5)\b", r"\1", str(error)))
    return error


@with_options("recon")
def reconstruct(source: Any, output: Optional[PathLike] = None, *, method: Optional[str] = None,
                scan: Optional[Scan] = None, flats: Any = None, darks: Any = None, progress: OnProgress = True,
                **options: Any) -> Reconstruction:
    """A volume from a scan: what ``tandem recon`` does, with all of its options as keywords.

    source: a path, or line integrals (view, row, bin) with `scan`; with `flats`, counts. Arrays stay in memory. Paths
    of scans that see neighbouring parts of a sample are joined by ``stitch="z"`` or "x".
    output: a file (.h5, .tif, ...); without it the volume is an array. method: fbp, fdk, cgls, tv, ...
    progress: True for a bar, or a function of a `Stage`. options: for example ``iterations=20``,
    ``nonnegative=True``, ``fbp_filter="hann"``, ``slices=(1, 3)``. Angles of options are in degrees, as the program
    has them. ``filter``, ``bounds``, ``sod_mm`` and ``sdd_mm`` are what they are for operators and solvers;
    ``angles``, ``view_shifts``, ``view_row_shifts``, ``row_axes``, ``initial`` and ``truth`` may be arrays. `options`
    of this package says what each is. Unlike `fbp`, it pads rows unless ``padding="none"``.
    """
    with tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        paths, arrays = of_source(source, scan, flats, darks, options)
        given = arrays.given if arrays else None
        write_numbers(folder, options)
        target = os.path.join(folder, "volume.h5") if output is None else _path_of("output", output)

        def words() -> list[str]:
            return ["recon", *paths, "-o", target, *_words("recon", {"reconstruction_algorithm": method, **options}),
                    "--json=-"]
        write_volumes(folder, options, lambda: _run([*words(), "--dry-run"], False, given)[0])
        report, notes = _run(words(), progress, given)
        volume = read_volume(target) if output is None and os.path.exists(target) else None
    return Reconstruction(volume, None if output is None else target, report, notes)


@with_options("recon")
def plan(source: Any, *, method: Optional[str] = None, **options: Any) -> dict[str, Any]:
    """Says what `reconstruct` would do, and which memory and time it would take, without reading pixels."""
    return reconstruct(source, method=method, progress=False, dry_run=True, **options).report


@with_options("simulate")
def simulate(output: PathLike, *, progress: OnProgress = True, **options) -> ScanFile:
    """Makes a scan with known truth, as ``tandem simulate`` does: ``phantom="foam"``, ``views=360``, ``photons=1e4``.
    It is opened."""
    _run(["simulate", "-o", _path_of("output", output), *_words("simulate", options), "--json=-"], progress)
    return open_scan(output)


@with_options("center")
def center(source: Any, scan: Optional[Scan] = None, *, flats: Any = None, darks: Any = None,
           progress: OnProgress = True, **options: Any) -> dict[str, Any]:
    """Finds the rotation axis, as ``tandem center`` does: the report, with ``["axis_bin"]``. source: a path, or an
    array with its `scan`, as `reconstruct` takes it."""
    with tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        paths, arrays = of_source(source, scan, flats, darks, options)
        write_numbers(folder, options)
        return _run(["center", *paths, *_words("center", options), "--json=-"], progress,
                    arrays.given if arrays else None)[0]


def calibrate(source: PathLike, output: PathLike, *, progress: OnProgress = True, **options) -> dict[str, Any]:
    """Finds where source and detector were in each view, as ``tandem calibrate`` does. Writes the geometry to `output`,
    which `reconstruct` takes as ``geometry``. Returns the report, in which each number has a ``["value"]`` and an
    ``["uncertainty"]``."""
    words = ["calibrate", _path_of("source", source), "-o", _path_of("output", output),
             *_words("calibrate", options), "--json=-"]
    return _run(words, progress)[0]


def read_volume(path: PathLike) -> np.ndarray:
    """A volume (slice, y, x) that tandem wrote, in any of its formats, as float32; `grid_of` tells where it lies.
    Raises FileError unless it is complete."""
    path = _path_of("path", path)
    volume = np.empty(_core.shape_of_volume(path), np.float32)
    _core.read_volume(path, volume.ctypes.data)
    return volume


def grid_of(path: PathLike) -> VolumeGrid:
    """Where the voxels of a volume in a file lie, in mm; in bins if no pitch is known. Raises FileError if it does not
    say so."""
    path = _path_of("path", path)
    place = _core.place_of_volume(path)
    if place is None:
        raise FileError(f"{path}: does not say where its voxels lie; make a VolumeGrid(size, pitch)")
    return place[0]


def write_volume(path: PathLike, volume: Any, grid: Optional[VolumeGrid] = None, *, in_mm: bool = True,
                 overwrite: bool = False) -> None:
    """Writes a volume (slice, y, x) as float32, in the format of the name: .h5, .tif, .nrrd, .mha, .zarr, ... grid:
    where it lies; default: voxels of 1 about the origin, of an unknown pitch. overwrite: also files that tandem did not
    write."""
    array = _arrays.on_host("volume", volume)
    array = array[None] if array.ndim == 2 else array
    if array.ndim != 3:
        raise SpaceError(f"volume: shape {array.shape}; (slice, y, x) is needed")
    in_mm = in_mm and grid is not None
    grid = VolumeGrid(array.shape[::-1]) if grid is None else grid
    if array.shape != tuple(grid.shape):
        raise SpaceError(f"volume: shape {array.shape}; the grid has {tuple(grid.shape)}")
    array = np.require(array, np.float32, ["C", "A"])
    _core.write_volume(_path_of("path", path), array.ctypes.data, grid, in_mm, overwrite)


def write_scan(path: PathLike, data: Any, scan: Scan, *, flats: Any = None, darks: Any = None) -> None:
    """Writes a scan in HDF5 (DXchange), which says its geometry: counts with flats and perhaps darks, or line integrals
    (view, row, bin), which become transmissions."""
    given = InMemory("data", data, scan, flats, darks)
    frames = {name: array.astype(np.float32, copy=False) for name, array in given.arrays.items()}
    if flats is None:  # flats of 1 say that these are transmissions
        frames["projections"], frames["flats"] = np.exp(-frames["projections"]), np.ones_like(frames["projections"][:1])
    d = scan.detector
    known = not isinstance(scan, ParallelBeam) or (d.bin_pitch, d.row_pitch) != (1, 1)
    frames = {name: np.require(array, np.float32, ["C", "A"]) for name, array in frames.items()}
    _core.write_scan(_path_of("path", path), scan, d.bin_pitch if known else None,
                     [(name, array.ctypes.data, len(array)) for name, array in frames.items()])
