"""Geometries of other packages, read by their attributes: nothing of these packages is imported."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from .. import _core, _mistakes
from .._errors import GeometryError, UsageError
from .._layouts import Layout
from .._operator import LinearOperator
from . import astra, cil, leap, rtk, tigre, tomosipo
from .package import Package

PACKAGES = [package.PACKAGE for package in (astra, cil, tomosipo, leap, tigre, rtk)]
_NAMES = "ASTRA, CIL, tomosipo, LEAP, TIGRE or RTK"


def _package_of_scan(name: str, g: Any, word: str = "scan") -> Package:
    for package in PACKAGES:
        if package.is_scan(g):
            return package
    raise TypeError(f"{name}: {word} is {_mistakes.shown(g)}; give ParallelBeam, FanBeam, ConeBeam or FlexibleBeam, or "
                    f"a geometry of {_NAMES}")


def _package_of_grid(name: str, g: Any, word: str = "grid") -> Package:
    for package in PACKAGES:
        if package.is_grid(g):
            return package
    raise TypeError(f"{name}: {word} is {_mistakes.shown(g)}; give VolumeGrid((nx, ny, nz), pitch), or a volume "
                    f"of {_NAMES}")


def scan_from(geometry: Any, lacking: Any = None) -> Any:
    """The scan of a geometry of another package: a dictionary of ASTRA, an AcquisitionGeometry of CIL, a geometry of
    tomosipo or TIGRE, a tomographicModels of LEAP, the XML or the object of RTK. It is a parallel, fan or cone beam if
    the views lie on a circle, else a FlexibleBeam.

    lacking: what that geometry does not say: the angles of TIGRE in rad; the detector of RTK, or its projections.
    """
    return _package_of_scan("scan_from", geometry, "geometry").scan(geometry, lacking)


def grid_from(geometry: Any) -> _core.VolumeGrid:
    """The grid of a volume geometry of another package; of RTK, of an image."""
    return _package_of_grid("grid_from", geometry, "geometry").grid(geometry)


def _named(name: str) -> Package:
    for package in PACKAGES:
        if package.name == name.lower():
            return package
    raise UsageError(f"package {name!r} is not known; {', '.join(p.name for p in PACKAGES)} are")


def scan_to(package: str, scan: Any) -> Any:
    """A scan as a geometry of 'astra' (a dictionary), 'cil', 'tomosipo' (both are imported), 'tigre' (a geometry and
    its angles), 'leap' or 'rtk' (the text of a file)."""
    if getattr(scan, "curved", False) and package.lower() != "rtk":
        raise GeometryError(f"scan_to: the detector is curved, which a geometry of {package!r} does not say; give 'rtk'")
    return _named(package).scan_back(scan)  # type: ignore[misc]


def grid_to(package: str, grid: _core.VolumeGrid) -> Any:
    """A grid as a volume geometry of 'astra', 'cil', 'tomosipo' or 'tigre'."""
    back = _named(package).grid_back
    if back is None:
        raise UsageError(f"package {package!r} has no geometry of volumes; it reads size, pitch and centre of the grid")
    return back(grid)


@dataclass(frozen=True)
class Layouts:
    """The layouts of the arrays of another package."""
    data: Optional[Layout]
    volume: Optional[Layout]

    def on(self, A: LinearOperator, domain: str, range: str) -> LinearOperator:
        """The operator for arrays with these layouts."""
        return A._as_they_lie(getattr(self, domain), getattr(self, range))


def grid_and_layouts(name: str, grid: Any) -> tuple[_core.VolumeGrid, Layouts]:
    """Grid and layouts of a volume geometry of another package beside a scan of ours."""
    package = _package_of_grid(name, grid)
    return package.grid(grid), Layouts(None, package.volume(grid))


def scan_grid_and_layouts(name: str, scan: Any, grid: Any) -> tuple[Any, _core.VolumeGrid, Layouts]:
    """Scan, grid and layouts of geometries of another package: the geometry of a scan, or (geometry, what it lacks)."""
    theirs, lacking = scan if isinstance(scan, (tuple, list)) and len(scan) == 2 else (scan, None)
    package = _package_of_scan(name, theirs)
    ours = package.scan(theirs, lacking)
    grid = package.grid_of_scan(theirs) if grid is None else grid
    volume = None
    if grid is None:
        grid = _core.fitting_grid(ours)
    elif not isinstance(grid, _core.VolumeGrid):
        of_grid = _package_of_grid(name, grid)
        volume, grid = of_grid.volume(grid), of_grid.grid(grid)
    data = package.data(theirs)
    return (*_suited(ours, grid, data), Layouts(data, volume))


def _suited(scan: Any, grid: _core.VolumeGrid, data: Layout) -> tuple[Any, _core.VolumeGrid]:
    """A parallel beam has a slice for each row. Where volumes lie in other ways, each view has its place; a row of two
    dimensions sees no end of its voxels."""
    d, is_parallel = scan.detector, isinstance(scan, _core.ParallelBeam)
    if len(data.order) == 2:
        if is_parallel:
            return scan, _core.VolumeGrid(grid.size, (*grid.pitch[:2], d.row_pitch), (*grid.centre[:2], 0))
        return scan, _core.VolumeGrid(grid.size, (*grid.pitch[:2], max(*grid.pitch[:2], d.row_pitch)),
                                      (*grid.centre[:2], 0))
    close = abs(grid.pitch[2] - d.row_pitch) < 1e-6 * d.row_pitch and abs(grid.centre[2]) < 1e-6 * d.row_pitch
    if is_parallel and not (grid.size[2] == d.rows and close):
        return _core.as_free_views(scan), grid
    return scan, grid
