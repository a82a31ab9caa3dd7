"""Operators inside other packages; each test is skipped where its package is not installed."""
import numpy as np
import pytest
from conftest import EPSILON, cone_scan, parallel_scan, projector_of, random_array, relative

import tandem


def test_scipy_takes_an_operator_as_it_is():
    linalg = pytest.importorskip("scipy.sparse.linalg")
    A = projector_of("cone")
    S = linalg.aslinearoperator(A)
    x, y = random_array(A._domain.inner), random_array(A._range.inner)
    np.testing.assert_array_equal(S @ x.ravel(), (A @ x).ravel())
    np.testing.assert_array_equal(S.H @ y.ravel(), (A.T @ y).ravel())
    assert S.shape == A.shape and S.dtype == np.float32
    largest = linalg.svds(S, k=1, return_singular_vectors=False, tol=1e-4)[0]
    assert largest == pytest.approx(tandem.operator_norm(A, 60), rel=1e-3)


def test_pylops():
    pylops = pytest.importorskip("pylops")
    from tandem.adaptors.pylops import pylops_operator
    for A in (projector_of("parallel"), projector_of("cone")):
        P = pylops_operator(A)
        # entries are uniform in (0, 1) here: nothing cancels, and products are right to the rounding of their sums
        assert pylops.utils.dottest(P, *P.shape, rtol=100 * EPSILON, atol=0)
        x = random_array(A._domain.inner)
        np.testing.assert_array_equal(P @ x, A @ x)
        smooth = pylops.VStack([P, 0.5 * pylops.Identity(A.shape[1], dtype=np.float32)])
        np.testing.assert_array_equal((smooth @ x.ravel())[:A.shape[0]], (A @ x).ravel())


def test_deepinv():
    pytest.importorskip("deepinv")
    torch = pytest.importorskip("torch")
    from tandem.adaptors.deepinv import Tomography
    for scan, images in ((parallel_scan(31, 1, 41), True), (cone_scan(), False)):
        physics = Tomography(scan, images=images)
        A = tandem.projector(scan)
        x = torch.rand(2, 1, *(A._domain.inner[1:] if images else A._domain.inner))
        y = physics(x)
        assert relative(y.reshape(2, *A._range.inner), A @ x.numpy().reshape(2, *A._domain.inner)) == 0
        v = torch.rand(y.shape)
        left, right = (physics.A(x) * v).sum().double(), (x * physics.A_adjoint(v)).sum().double()
        assert abs(left - right) <= 100 * EPSILON * abs(left)
        assert abs(float(physics.adjointness_test(x))) <= 1000 * EPSILON * float(y.norm()) * float(x.norm())
        assert physics.A_dagger(y).shape == x.shape


def test_cil():
    framework = pytest.importorskip("cil.framework")
    from cil.optimisation.operators import LinearOperator
    from tandem.adaptors.cil import cil_operator
    scan = parallel_scan()
    A = tandem.projector(scan)
    nz, ny, nx = A._domain.inner
    views, rows, bins = A._range.inner
    images = framework.ImageGeometry(nx, ny, nz)
    data = framework.AcquisitionGeometry.create_Parallel3D().set_panel((bins, rows)).set_angles(range(views))
    data.set_labels(["angle", "vertical", "horizontal"])
    C = cil_operator(A, images, data)
    assert LinearOperator.dot_test(C)
    x = images.allocate("random", seed=1)
    np.testing.assert_array_equal(C.direct(x).as_array(), A @ x.as_array())
