"""The parts of ASTRA that scripts use most, by their names, over operators of tandem:

    import tandem.compat.astra as astra

Geometries are its dictionaries. Pairs are exact, on the CPU also where a name says CUDA. Objects have numbers.
"""
from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any, Optional

import numpy as np

from .. import _running, _kinds
from .._operator import LinearOperator
from .._tomography import fbp, fdk, projector as _projector
from .._others import grid_from, scan_from
from .._others.astra import PACKAGE

_objects: dict[int, Any] = {}
_numbers = itertools.count(1)


def _kept(value: Any) -> int:
    number = next(_numbers)
    _objects[number] = value
    return number


def _delete(numbers: Any) -> None:
    for number in np.atleast_1d(numbers):
        _objects.pop(int(number), None)


def create_vol_geom(*sizes: Any) -> dict[str, Any]:
    """A volume of (rows, columns[, slices]), then perhaps the ends of x, y and z; or of one size of a square."""
    numbers = [n for size in sizes for n in np.atleast_1d(size).tolist()]
    counts = [int(n) for n in (numbers if len(numbers) < 6 else numbers[:len(numbers) // 3])]
    counts = counts * 2 if len(counts) == 1 else counts
    ordered = [counts[1], counts[0], *counts[2:]]
    ends = numbers[len(counts):] if len(numbers) > 3 else [end for n in ordered for end in (-n / 2, n / 2)]
    window = {f"Window{which}{axis}": float(ends[2 * k + j]) for k, axis in enumerate("XYZ"[:len(ordered)])
              for j, which in enumerate(("Min", "Max"))}
    names = ("GridColCount", "GridRowCount", "GridSliceCount")
    return {**dict(zip(names, ordered)), "option": window}


_FIELDS = {"parallel": "DetectorWidth DetectorCount ProjectionAngles", "parallel_vec": "DetectorCount Vectors",
           "fanflat": "DetectorWidth DetectorCount ProjectionAngles DistanceOriginSource DistanceOriginDetector",
           "fanflat_vec": "DetectorCount Vectors", "parallel3d_vec": "DetectorRowCount DetectorColCount Vectors",
           "cone_vec": "DetectorRowCount DetectorColCount Vectors",
           "parallel3d": "DetectorSpacingX DetectorSpacingY DetectorRowCount DetectorColCount ProjectionAngles",
           "cone": "DetectorSpacingX DetectorSpacingY DetectorRowCount DetectorColCount ProjectionAngles "
                   "DistanceOriginSource DistanceOriginDetector"}


def create_proj_geom(kind: str, *values: Any) -> dict[str, Any]:
    """A projection geometry: its kind, and its numbers in the order of ASTRA."""
    if kind not in _FIELDS:
        raise ValueError(f"create_proj_geom: {kind!r} is not known; {', '.join(_FIELDS)} are")
    return {"type": kind, **dict(zip(_FIELDS[kind].split(), values))}


def geom_size(geometry: dict[str, Any], dim: Optional[int] = None) -> Any:
    """The shape of the arrays of a geometry."""
    if PACKAGE.is_grid(geometry):
        shape = PACKAGE.volume(geometry).shape(grid_from(geometry).shape)
    else:
        scan = scan_from(geometry)
        views = len(geometry.get("ProjectionAngles", geometry.get("Vectors")))
        shape = PACKAGE.data(geometry).shape((views, scan.detector.rows, scan.detector.bins))
    return shape if dim is None else shape[dim]


class _Projector:
    """The pair for a name of ASTRA: interpolated rays for parallel beams, footprints for the others."""

    def __init__(self, scan: dict[str, Any], grid: dict[str, Any]):
        self.scan, self.grid = scan, grid
        self.A = _projector(scan, grid, "joseph" if scan["type"] in ("parallel", "parallel3d") and
                            type(scan_from(scan)).__name__ == "ParallelBeam" and "GridSliceCount" not in grid else None)

    def filtered(self, window: str) -> LinearOperator:
        is_parallel = self.scan["type"].startswith("parallel")
        return (fbp if is_parallel else fdk)(self.scan, self.grid, window)


def create_projector(kind: str, proj_geom: dict[str, Any], vol_geom: dict[str, Any], options: Any = None) -> int:
    return _kept(_Projector(proj_geom, vol_geom))


def direct_FP(projector_id: int, vol: Any, out: Any = None) -> Any:
    return _objects[projector_id].A.apply(vol, out)


def direct_BP(projector_id: int, proj: Any, out: Any = None) -> Any:
    return _objects[projector_id].A.T.apply(proj, out)


def _solved(solver: Any, steps: int) -> np.ndarray:
    _running.run(solver, steps)
    return solver.solution


def reconstruct(P: _Projector, name: str, y: np.ndarray, x: Optional[np.ndarray] = None, iterations: int = 1,
                options: Optional[dict[str, Any]] = None) -> np.ndarray:
    """The result of an algorithm of this name for some data: FBP, FDK, BP, SIRT, SART, CGLS or EM, with any ending."""
    options = options or {}
    base = name.upper().replace("_CUDA", "").replace("3D", "")
    within = (options.get("MinConstraint"), options.get("MaxConstraint"))
    if base in ("FBP", "FDK"):
        return P.filtered(options.get("FilterType", "ram-lak")) @ y
    if base == "BP":
        return P.A.T @ y
    if base == "SIRT":
        return _solved(_kinds.Sirt(P.A, y, x, bounds=within, relaxation=options.get("Relaxation", 1.0)), iterations)
    if base == "CGLS":
        return _solved(_kinds.Cgls(P.A, y, x), iterations)
    if base == "EM":
        return _solved(_kinds.Mlem(P.A, y, None if x is None or not x.any() else x), iterations)
    raise ValueError(f"algorithm {name!r} is not known; FBP, FDK, BP, SIRT, CGLS and EM are, with _CUDA and 3D_CUDA")


class OpTomo:
    """A projector as a matrix of SciPy: W * x, W.T * y, FP, BP and reconstruct."""

    def __init__(self, proj_id: int):
        self.dtype = np.dtype(np.float32)
        self._projector = _objects[proj_id]
        self.vg, self.pg, A = self._projector.grid, self._projector.scan, self._projector.A
        self.vshape, self.sshape, self.shape = A._domain.inner, A._range.inner, A.shape
        self.matvec, self.rmatvec = A.matvec, A.rmatvec

    @property
    def T(self) -> LinearOperator:
        """Its transpose, for W.T * y as for W.T @ y."""
        return _Flat(self._projector.A.T)

    def FP(self, v: Any, out: Any = None) -> Any:
        return self._projector.A.apply(np.asarray(v, np.float32).reshape(self.vshape), out)

    def BP(self, s: Any, out: Any = None) -> Any:
        return self._projector.A.T.apply(np.asarray(s, np.float32).reshape(self.sshape), out)

    def __mul__(self, x: Any) -> Any:
        return self.matvec(np.asarray(x).ravel())

    dot = __matmul__ = __mul__

    def reconstruct(self, method: str, s: Any, iterations: int = 1, extraOptions: Optional[dict] = None) -> Any:
        return reconstruct(self._projector, method, np.asarray(s, np.float32).reshape(self.sshape), None, iterations,
                           extraOptions)


class _Flat:
    """An operator between vectors of one axis."""

    def __init__(self, A: LinearOperator):
        self.A, self.shape, self.dtype, self.matvec, self.rmatvec = A, A.shape, A.dtype, A.matvec, A.rmatvec

    def __mul__(self, x: Any) -> Any:
        return self.matvec(np.asarray(x).ravel())

    dot = __matmul__ = __mul__


def _create_data(kind: str, geometry: dict[str, Any], data: Any = 0.0) -> int:
    filled = np.empty(geom_size(geometry), np.float32)
    filled[...] = data
    return _kept(SimpleNamespace(geometry=geometry, array=filled))


def _link(kind: str, geometry: dict[str, Any], data: np.ndarray) -> int:
    return _kept(SimpleNamespace(geometry=geometry, array=data))


def _store(number: int, data: Any) -> None:
    _objects[number].array[...] = data


data2d = data3d = SimpleNamespace(
    create=_create_data, link=_link, store=_store, get=lambda n: _objects[n].array.copy(),
    get_shared=lambda n: _objects[n].array, get_geometry=lambda n: _objects[n].geometry, delete=_delete,
    clear=_objects.clear)
projector = projector3d = SimpleNamespace(create=create_projector, delete=_delete, clear=_objects.clear,
                                          volume_geometry=lambda n: _objects[n].grid,
                                          projection_geometry=lambda n: _objects[n].scan)


def astra_dict(name: str) -> dict[str, Any]:
    return {"type": name}


def _run(number: int, iterations: int = 1) -> None:
    config = _objects[number]
    name, data = config["type"], _objects[config["ProjectionDataId"]]
    volume = _objects[config["VolumeDataId" if name.startswith("FP") else "ReconstructionDataId"]]
    given = _objects.get(config.get("ProjectorId", 0))
    P = given or config.setdefault("projector", _Projector(data.geometry, volume.geometry))
    if name.startswith("FP"):
        data.array[...] = P.A @ volume.array
    else:
        options = {"FilterType": config["FilterType"]} if "FilterType" in config else {}
        volume.array[...] = reconstruct(P, name, data.array, volume.array, iterations,
                                        {**options, **config.get("option", {})})


algorithm = SimpleNamespace(create=lambda config: _kept(dict(config)), run=_run, delete=_delete, clear=_objects.clear)


def _forward(data: Any, P: _Projector) -> tuple[int, np.ndarray]:
    array = _objects[data].array if isinstance(data, int) else data
    y = P.A @ np.ascontiguousarray(array, np.float32)
    return _link("-sino", P.scan, y), y


def create_sino(data: Any, proj_id: int) -> tuple[int, np.ndarray]:
    return _forward(data, _objects[proj_id])


def create_sino3d_gpu(data: Any, proj_geom: dict[str, Any], vol_geom: dict[str, Any]) -> tuple[int, np.ndarray]:
    return _forward(data, _Projector(proj_geom, vol_geom))


def create_backprojection(data: Any, proj_id: int) -> tuple[int, np.ndarray]:
    P = _objects[proj_id]
    array = _objects[data].array if isinstance(data, int) else data
    x = P.A.T @ np.ascontiguousarray(array, np.float32)
    return _link("-vol", P.grid, x), x


def clear() -> None:
    _objects.clear()


experimental = SimpleNamespace(direct_FP=direct_FP, direct_BP=direct_BP)
