"""For deepinv: a physics whose A, A_adjoint and A_dagger are tandem's, so that the adjoint is exact."""
from __future__ import annotations

from typing import Optional

import deepinv
import torch

from .. import _tomography
from ..torch import Layer, _OfScan
from .._core import ParallelBeam, VolumeGrid
from .._tomography import Scan


class Tomography(deepinv.physics.LinearPhysics):
    """Line integrals of a scan. Tensors have axes of batch and channel before (slice, y, x) and (view, row, bin); with
    `images`, before (y, x) and (view, bin).

    A_dagger is filtered back-projection, which is near the inverse and not the pseudo-inverse.
    """

    def __init__(self, scan: Scan, grid: Optional[VolumeGrid] = None, model: Optional[str] = None,
                 images: bool = False, **physics):
        super().__init__(**physics)
        back = _tomography.fbp if isinstance(scan, ParallelBeam) else _tomography.fdk
        self._forward = Layer(_OfScan(_tomography.projector, scan, grid, model), images)
        self._adjoint = Layer(_OfScan(_transpose, scan, grid, model), images)
        self._dagger = Layer(_OfScan(back, scan, grid), images)

    def A(self, x: torch.Tensor, **_) -> torch.Tensor:
        return self._forward(x)

    def A_adjoint(self, y: torch.Tensor, **_) -> torch.Tensor:
        return self._adjoint(y)

    def A_dagger(self, y: torch.Tensor, **_) -> torch.Tensor:
        return self._dagger(y)


def _transpose(*arguments, device: str):
    return _tomography.projector(*arguments, device=device).T
