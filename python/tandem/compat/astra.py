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
from .._arrays import NumpyKind
from .._core import shepp_logan
from .._errors import UsageError
from .._operator import LinearOperator, diagonal
from .._tomography import fbp, fdk, projector as _projector, voxelise
from .._others import grid_from, scan_from
from .._others.astra import PACKAGE

_objects: dict[int, Any] = {}
_numbers = itertools.count(1)


def _kept(value: Any) -> int:
    number = next(_numbers)
    _objects[number] = value
    return number


def _object(number: Any) -> Any:
    if number not in _objects:
        raise UsageError(f"{number!r} is no number of an object that is there; give what `create` returned")
    return _objects[number]


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
        raise UsageError(f"create_proj_geom: {kind!r} is not known; {', '.join(_FIELDS)} are")
    names = _FIELDS[kind].split()
    if len(values) != len(names):
        raise UsageError(f"create_proj_geom: {kind!r} with {len(values)} values; give {', '.join(names)}")
    return {"type": kind, **dict(zip(names, values))}


def geom_2vec(proj_geom: dict[str, Any]) -> dict[str, Any]:
    """The same views as vectors."""
    if "Vectors" in proj_geom:
        return proj_geom
    angles = np.asarray(proj_geom["ProjectionAngles"], float)
    c, s, zero = np.cos(angles), np.sin(angles), 0 * angles
    back, along, up = (np.stack(axes, 1) for axes in ((s, -c, zero), (c, s, zero), (zero, zero, 1 + zero)))
    flat = "DetectorCount" in proj_geom
    width = proj_geom["DetectorWidth" if flat else "DetectorSpacingX"]
    v = np.hstack([proj_geom.get("DistanceOriginSource", 1) * back, -proj_geom.get("DistanceOriginDetector", 0) * back,
                   width * along, proj_geom.get("DetectorSpacingY", 1) * up])
    counts = {key: value for key, value in proj_geom.items() if key.endswith("Count")}
    return {"type": proj_geom["type"] + "_vec", **counts, "Vectors": v[:, [0, 1, 3, 4, 6, 7]] if flat else v}


def geom_postalignment(proj_geom: dict[str, Any], factor: Any) -> dict[str, Any]:
    """Detectors that are shifted along their bins by a number of these; or along bins and rows, by a pair."""
    made = geom_2vec(proj_geom)
    v, flat = np.array(made["Vectors"], float), "DetectorCount" in made
    centre, steps = (slice(2, 4), (slice(4, 6),)) if flat else (slice(3, 6), (slice(6, 9), slice(9, 12)))
    for step, shift in zip(steps, np.atleast_1d(factor)):
        v[:, centre] += shift * v[:, step]
    return {**made, "Vectors": v}


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
        self.A = _projector(scan, grid, "joseph" if type(scan_from(scan)).__name__ == "ParallelBeam" and
                            "GridSliceCount" not in grid else None)

    def filtered(self, window: str) -> LinearOperator:
        is_parallel = self.scan["type"].startswith("parallel")
        return (fbp if is_parallel else fdk)(self.scan, self.grid, window)


def create_projector(kind: str, proj_geom: dict[str, Any], vol_geom: dict[str, Any], options: Any = None) -> int:
    return _kept(_Projector(proj_geom, vol_geom))


def direct_FP(projector_id: int, vol: Any, out: Any = None) -> Any:
    return _object(projector_id).A.apply(vol, out)


def direct_BP(projector_id: int, proj: Any, out: Any = None) -> Any:
    return _object(projector_id).A.T.apply(proj, out)


def _solved(solver: Any, steps: int) -> np.ndarray:
    _running.run(solver, steps)
    return solver.solution


_MASKS = {"ReconstructionMaskId", "SinogramMaskId"}
_OPTIONS: dict[str, set[str]] = {"FBP": {"FilterType"}, "FDK": {"FilterType", "ShortScan"}, "BP": set(),
                                 "SIRT": {"MinConstraint", "MaxConstraint", "Relaxation"} | _MASKS, "CGLS": _MASKS,
                                 "EM": _MASKS}
_OF_THE_GPU = {"GPUindex", "GPUIndex", "PixelSuperSampling", "DetectorSuperSampling", "VoxelSuperSampling"}


def _masked(A: LinearOperator, mask: np.ndarray) -> LinearOperator:
    """A, which sees no voxel beyond a mask."""
    kept = A._domain.taken("ReconstructionMaskId", np.ascontiguousarray(mask != 0, np.float32))[0]
    return (A._as_they_lie(None, None) * diagonal(kept, A.domain))._as_they_lie(A._domain.layout, A._range.layout)


def reconstruct(P: _Projector, name: str, y: np.ndarray, x: Optional[np.ndarray] = None, iterations: int = 1,
                options: Optional[dict[str, Any]] = None) -> np.ndarray:
    """The result of an algorithm of this name for some data: FBP, FDK, BP, SIRT, CGLS or EM, with any ending."""
    options = options or {}
    base = name.upper().replace("_CUDA", "").replace("3D", "")
    if base not in _OPTIONS:
        raise UsageError(f"algorithm {name!r} is not known; {', '.join(_OPTIONS)} are, with _CUDA and 3D_CUDA")
    for word in options.keys() - _OPTIONS[base] - _OF_THE_GPU:
        raise UsageError(f"{name}: the option {word} is not taken; {', '.join(sorted(_OPTIONS[base])) or 'none'} are")
    if base in ("FBP", "FDK"):
        return P.filtered(options.get("FilterType", "ram-lak")) @ y
    if base == "BP":
        return P.A.T @ y
    A: LinearOperator = P.A
    beside: dict[str, Any] = {}
    if "ReconstructionMaskId" in options:
        A = _masked(A, _object(options["ReconstructionMaskId"]).array)
    if "SinogramMaskId" in options:
        beside["data_weights"] = np.ascontiguousarray(_object(options["SinogramMaskId"]).array != 0, np.float32)
    if base == "SIRT":
        beside["bounds"] = options.get("MinConstraint"), options.get("MaxConstraint")
        return _solved(_kinds.Sirt(A, y, x, relaxation=options.get("Relaxation", 1.0), **beside), iterations)
    if base == "CGLS":
        return _solved(_kinds.Cgls(A, y, x, **beside), iterations)
    return _solved(_kinds.Mlem(A, y, None if x is None or not x.any() else x, **beside), iterations)


class OpTomo:
    """A projector as a matrix of SciPy: W * x, W.T * y, FP, BP and reconstruct."""

    def __init__(self, proj_id: int):
        self.dtype = np.dtype(np.float32)
        self._projector = _object(proj_id)
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
    number = _kept(SimpleNamespace(geometry=geometry, array=np.empty(geom_size(geometry), np.float32)))
    _store(number, data)
    return number


def _link(kind: str, geometry: dict[str, Any], data: np.ndarray) -> int:
    return _kept(SimpleNamespace(geometry=geometry, array=data))


def _store(number: int, data: Any) -> None:
    target = _object(number).array
    if np.ndim(data) and np.shape(data) != target.shape:
        raise UsageError(f"the data are {np.shape(data)}, the geometry has {target.shape}")
    target[...] = data


def _change_geometry(number: int, geometry: dict[str, Any]) -> None:
    data = _object(number)
    if geom_size(geometry) != data.array.shape:
        raise UsageError(f"change_geometry: the data are {data.array.shape}, the geometry has {geom_size(geometry)}")
    data.geometry = geometry


def _shepp_logan(geometry: dict[str, Any], modified: bool = True, returnData: bool = True) -> Any:
    """Shepp and Logan's head with Toft's contrast, as wide as the volume."""
    if not modified:
        raise UsageError("shepp_logan: modified=False is not there; give True")
    grid = grid_from(geometry)
    head = shepp_logan().scaled(min(n * p for n, p in zip(grid.size[:2], grid.pitch)) / 2)
    ours = voxelise(head, grid, 1)
    number = _create_data("-vol", geometry, PACKAGE.volume(geometry).to_theirs(ours, NumpyKind, ()))
    return (number, _objects[number].array.copy()) if returnData else number


data2d = data3d = SimpleNamespace(
    create=_create_data, link=_link, store=_store, get=lambda n: _object(n).array.copy(),
    get_shared=lambda n: _object(n).array, get_geometry=lambda n: _object(n).geometry, delete=_delete,
    change_geometry=_change_geometry, shepp_logan=_shepp_logan, clear=_objects.clear)
projector = projector3d = SimpleNamespace(create=create_projector, delete=_delete, clear=_objects.clear,
                                          volume_geometry=lambda n: _object(n).grid,
                                          projection_geometry=lambda n: _object(n).scan)


def astra_dict(name: str) -> dict[str, Any]:
    return {"type": name}


def _parts(number: int) -> tuple[str, _Projector, Any, Any]:
    """What an algorithm has: its name, its projector, its data and its volume."""
    config = _object(number)
    name = config["type"]
    words = ("ProjectionDataId", "VolumeDataId" if name.startswith("FP") else "ReconstructionDataId")
    for word in words:
        if word not in config:
            raise UsageError(f"{name}: the configuration has no {word}; give cfg[{word!r}]")
    data, volume = (_object(config[word]) for word in words)
    if "ProjectorId" not in config and "projector" not in config:
        config["projector"] = _Projector(data.geometry, volume.geometry)
    return name, config.get("projector") or _object(config["ProjectorId"]), data, volume


def _get_res_norm(number: int) -> float:
    """|b - Ax|."""
    _, P, data, volume = _parts(number)
    return float(np.linalg.norm(data.array - P.A @ volume.array))


def _run(number: int, iterations: int = 1) -> None:
    config, (name, P, data, volume) = _object(number), _parts(number)
    if name.startswith("FP"):
        data.array[...] = P.A @ volume.array
    else:
        options = {"FilterType": config["FilterType"]} if "FilterType" in config else {}
        volume.array[...] = reconstruct(P, name, data.array, volume.array, iterations,
                                        {**options, **config.get("option", {})})


algorithm = SimpleNamespace(create=lambda config: _kept(dict(config)), run=_run, get_res_norm=_get_res_norm,
                            delete=_delete, clear=_objects.clear)


def _forward(data: Any, P: _Projector) -> tuple[int, np.ndarray]:
    array = _object(data).array if isinstance(data, int) else data
    y = P.A @ np.ascontiguousarray(array, np.float32)
    return _link("-sino", P.scan, y), y


def create_sino(data: Any, proj_id: int) -> tuple[int, np.ndarray]:
    return _forward(data, _object(proj_id))


def create_sino3d_gpu(data: Any, proj_geom: dict[str, Any], vol_geom: dict[str, Any]) -> tuple[int, np.ndarray]:
    return _forward(data, _Projector(proj_geom, vol_geom))


def create_backprojection(data: Any, proj_id: int) -> tuple[int, np.ndarray]:
    P = _object(proj_id)
    array = _object(data).array if isinstance(data, int) else data
    x = P.A.T @ np.ascontiguousarray(array, np.float32)
    return _link("-vol", P.grid, x), x


def clear() -> None:
    _objects.clear()


experimental = SimpleNamespace(direct_FP=direct_FP, direct_BP=direct_BP)
