"""X-ray tomography from matched projector pairs.

    >>> import numpy as np, tandem
    >>> scan = tandem.ParallelBeam(tandem.Detector(bins=256), angles_rad=np.linspace(0, np.pi, 400, endpoint=False))
    >>> grid = tandem.fitting_grid(scan)
    >>> y = tandem.project(tandem.shepp_logan().scaled(tandem.half_width(grid)), scan)
    >>> image = tandem.fbp(scan, grid) @ y
"""
from ._core import (Adjointness, Bounds, ConeBeam, Detector, Ellipsoid, FanBeam, FlexibleBeam, ParallelBeam,
                    Phantom, Regulariser, Report, Space, StopRule, VolumeGrid, above_zero, as_circle, as_free_views,
                    balls, bin_down, crop, cuda_version, description, disc, discrepancy, divergence, ellipsoids,
                    fitting_grid, foam, half_acquisition, half_width, huber_total_variation, max_iterations, plate,
                    projection_shape, relative_residual, shepp_logan, shepp_logan_in_space, symmetric, thread_count,
                    time_limit, total_variation, view_subsets, white_residual)
from ._core import version as __version__
from ._arrays import devices
from ._errors import CopyWarning, DeviceError, Error, FileError, GeometryError, RunWarning, SpaceError, UsageError
from ._operator import (LinearOperator, adjoint, adjointness, diagonal, gradient, hstack, identity, make_operator,
                        operator_norm, unmatched_pair, vstack)
from ._scans import (Frames, Reconstruction, ScanFile, Stage, calibrate, center, open_scan, plan, read_volume,
                     reconstruct, simulate)
from ._solvers import (BaGmres, Cgls, Fista, Landweber, Lsmr, Lsqr, Mlem, Mltr, Osem, OsSirt, Pdhg, Progress, Sirt,
                       Solver, Subsets, run, stagnation, stop_rule, subsets)
from ._tomography import Filter, backprojector, fbp, fdk, project, projector, ramp_filter, voxelise, with_views

__all__ = [name for name in dir() if not name.startswith("_")]
