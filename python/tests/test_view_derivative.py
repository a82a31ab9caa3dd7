import numpy as np
import pytest

import tandem
from tandem._tomography import ViewsInDouble

GRID = tandem.VolumeGrid((9, 7, 10), (0.9, 0.9, 1.3), (0.4, -0.3, 0.2))
ROWS, BINS = 12, 13


def tilted_views(parallel, count=3):
    """Views that lean, so that no trapezoid is a box: numbers that a second one differs from in all places."""
    random = np.random.default_rng(3)
    scan = tandem.ConeBeam(tandem.Detector(BINS, ROWS, bin_pitch=1.3), np.arange(count) * 0.9 + 0.3, 40, 70)
    vectors = np.array(tandem.as_free_views(scan).vectors)
    vectors[:, :6] += random.uniform(-2, 2, (count, 6))
    vectors[:, 6:] += random.uniform(-0.3, 0.3, (count, 6))
    if parallel:
        vectors[:, :3] = -vectors[:, :3] / 40
    return vectors


def beam(vectors, parallel):
    return tandem.FlexibleBeam(BINS, ROWS, vectors.tolist(), parallel)


@pytest.mark.parametrize("parallel", [False, True])
def test_derivatives_by_views_are_those_of_central_differences(parallel):
    random = np.random.default_rng(1)
    vectors, x = tilted_views(parallel), random.uniform(-0.3, 0.7, GRID.shape)
    y, change = random.uniform(-1, 1, (len(vectors), ROWS, BINS)), random.uniform(-1, 1, vectors.shape)
    step = 1e-7  # rounding leaves 1e-16 / step, a corner of a trapezoid within it a part of the step
    there, here = (ViewsInDouble(beam(vectors + e * change, parallel), GRID).project(x) for e in (step, -step))
    wanted = (there - here) / (2 * step)
    gradient = ViewsInDouble(beam(vectors, parallel), GRID).gradient_by_views(x, y)
    assert np.vdot(gradient, change) == pytest.approx(np.vdot(y, wanted), rel=1e-5)
    J = tandem.view_derivative(beam(vectors, parallel), x, GRID)
    found = J @ change.reshape(-1, 4, 3).astype(np.float32)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())  # x, changes: float
    np.testing.assert_allclose(J.T @ y.astype(np.float32), gradient.reshape(-1, 4, 3), rtol=0,
                               atol=1e-5 * np.abs(gradient).max())


def test_what_has_no_derivatives_is_refused():
    scan = beam(tilted_views(False), False)
    with pytest.raises(tandem.SpaceError, match=r"x: shape \(2, 2, 2\)"):
        tandem.view_derivative(scan, np.zeros((2, 2, 2)), GRID)
    with pytest.raises(TypeError, match="view_derivative"):
        tandem.view_derivative(tandem.ParallelBeam(tandem.Detector(5), [0.0]), np.zeros((1, 5, 5)))


@pytest.mark.parametrize("parallel", [False, True])
def test_gradients_of_torch_by_volume_and_views(parallel):
    torch = pytest.importorskip("torch")
    from tandem.torch import project_views

    grid = tandem.VolumeGrid((3, 2, 3), (2.1, 2.1, 1.9), (0.1, 0, 0))
    vectors = torch.tensor(tilted_views(parallel, 2), requires_grad=True)
    x = torch.rand(3, 2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, v: project_views(x, v, grid, ROWS, BINS, parallel), (x, vectors))
    assert torch.autograd.gradgradcheck(lambda x, v: project_views(x, v, grid, ROWS, BINS, parallel), (x, vectors))
    y = project_views(x.detach().float(), vectors, grid, ROWS, BINS, parallel)
    assert y.dtype == torch.float32
    y.square().sum().backward()
    assert vectors.grad.shape == vectors.shape and vectors.grad.dtype == torch.float64
