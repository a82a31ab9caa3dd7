"""For CIL: an operator between containers of an ImageGeometry and an AcquisitionGeometry, for CIL's algorithms."""
from __future__ import annotations

import numpy as np
from cil.optimisation.operators import LinearOperator as CilOperator

from .._operator import LinearOperator


class CilProjector(CilOperator):
    """The operator A for containers of CIL. The arrays of these have the axes of A, without axes of length 1."""

    def __init__(self, A: LinearOperator, domain_geometry, range_geometry):
        super().__init__(domain_geometry=domain_geometry, range_geometry=range_geometry)
        self._A = A

    def direct(self, x, out=None):
        return self._through(self._A, x, self.range_geometry(), out)

    def adjoint(self, y, out=None):
        return self._through(self._A.T, y, self.domain_geometry(), out)

    @staticmethod
    def _through(A: LinearOperator, container, geometry, out):
        result = A.matvec(np.ravel(container.as_array()))
        out = geometry.allocate(None) if out is None else out
        out.fill(result.reshape(out.shape))
        return out


def cil_operator(A: LinearOperator, domain_geometry, range_geometry) -> CilProjector:
    return CilProjector(A, domain_geometry, range_geometry)
