"""X-ray tomography from matched projector pairs.

    >>> import numpy as np, tandem
    >>> scan = tandem.ParallelBeam(tandem.Detector(bins=256), angles_rad=np.linspace(0, np.pi, 400, endpoint=False))
    >>> grid = tandem.fitting_grid(scan)
    >>> y = tandem.project(tandem.shepp_logan().scaled(tandem.half_width(grid)), scan)
    >>> image = tandem.fbp(scan, grid) @ y
"""
from ._core import (Adjointness, Bounds, ConeBeam, Detector, Ellipsoid, FanBeam, FlexibleBeam, ParallelBeam,
                    Phantom, Regulariser, Report, Space, StopRule, VolumeGrid, WeightFound, WeightTrial, above_zero,
                    as_circle, as_free_views, balls, bin_down, crop, cuda_version, description, disc, discrepancy,
                    divergence, ellipsoids, fitting_grid, foam, half_acquisition, half_width, max_iterations, pins,
                    plate, projection_shape, relative_residual, set_threads, shepp_logan, shepp_logan_in_space,
                    symmetric, thread_count, time_limit, view_subsets, white_residual)
from ._core import version as __version__
from ._arrays import devices
from ._checks import Check, check_detail, check_halves, check_null, check_residual
from ._errors import CopyWarning, DeviceError, Error, FileError, GeometryError, RunWarning, SpaceError, UsageError
from ._look import Look, look
from ._operator import (LinearOperator, across, adjoint, adjointness, diagonal, gradient, hstack, identity,
                        make_operator, mask, operator_norm, unmatched_pair, vstack)
from ._options import Options, options
from ._regularisers import OwnRegulariser, denoiser, huber_total_variation, tikhonov, total_variation
from ._scans import (Frames, Reconstruction, ScanFile, Stage, calibrate, center, grid_of, open_scan, plan, read_volume,
                     reconstruct, simulate, write_scan, write_volume)
from ._running import Progress, duality_gap, gcv, run, settled, stagnation, stop_rule
from ._kinds import *
from ._solvers import Solver, Subsets, find_weight, subsets
from ._splits import split
from ._tomography import (Filter, backprojector, fbp, fdk, project, projector, ramp_filter, view_derivative, voxelise,
                          with_views)

from . import _kinds, _mistakes, _words
from ._others import grid_from, grid_to, scan_from, scan_to

_words.tell()
_mistakes.explain_all(globals())

__all__ = [
    "above_zero", "across", "adjoint", "Adjointness", "adjointness", "as_circle", "as_free_views", "backprojector",
    "balls", "bin_down", "Bounds", "calibrate", "center", "Check", "check_detail", "check_halves", "check_null",
    "check_residual", "ConeBeam", "CopyWarning", "crop", "cuda_version", "denoiser", "description", "Detector",
    "DeviceError", "devices", "diagonal", "disc", "discrepancy", "divergence", "duality_gap", "Ellipsoid",
    "ellipsoids", "Error", "FanBeam", "fbp", "fdk", "FileError", "Filter", "find_weight", "fitting_grid",
    "FlexibleBeam", "foam", "Frames", "gcv", "GeometryError", "gradient", "grid_from", "grid_of", "grid_to",
    "half_acquisition", "half_width", "hstack", "huber_total_variation", "identity", "LinearOperator", "look",
    "Look", "make_operator", "mask", "max_iterations", "open_scan", "operator_norm", "Options", "options",
    "OwnRegulariser", "ParallelBeam", "Phantom", "pins", "plan", "plate", "Progress", "project", "projection_shape",
    "projector", "ramp_filter", "read_volume", "reconstruct", "Reconstruction", "Regulariser", "relative_residual",
    "Report", "run", "RunWarning", "scan_from", "scan_to", "ScanFile", "set_threads", "settled", "shepp_logan",
    "shepp_logan_in_space", "simulate", "Solver", "Space", "SpaceError", "split", "Stage", "stagnation",
    "stop_rule", "StopRule", "Subsets", "subsets", "symmetric", "thread_count", "tikhonov", "time_limit",
    "total_variation", "unmatched_pair", "UsageError", "view_derivative", "view_subsets", "VolumeGrid", "voxelise",
    "vstack", "WeightFound", "WeightTrial", "white_residual", "with_views", "write_scan", "write_volume",
]
__all__ += _kinds.__all__
