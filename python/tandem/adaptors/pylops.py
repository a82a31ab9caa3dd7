"""For pylops: pylops_operator(A) is a pylops.LinearOperator that can be composed with those of pylops."""
from __future__ import annotations

import numpy as np
import pylops

from .._operator import LinearOperator


class PylopsOperator(pylops.LinearOperator):
    """A between vectors of NumPy, float32, with the shapes of A as dims and dimsd."""

    def __init__(self, A: LinearOperator):
        super().__init__(dtype=np.float32, dims=A._domain.inner, dimsd=A._range.inner)
        self.A = A

    def _matvec(self, x):
        return self.A.matvec(x)

    def _rmatvec(self, y):
        return self.A.rmatvec(y)


def pylops_operator(A: LinearOperator) -> PylopsOperator:
    return PylopsOperator(A)
