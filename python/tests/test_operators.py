import copy
import pickle

import numpy as np
import pytest
from conftest import EPSILON, KINDS, cone_scan, dense, fan_scan, parallel_scan, projector_of, random_array, relative

import tandem


def test_an_application_and_its_adjoint_are_transposes(A):
    x, y = random_array(A._domain.inner), random_array(A._range.inner, 2)
    left, right = np.vdot((A @ x).astype(float), y), np.vdot(x, (A.T @ y).astype(float))
    # sums of random signs: rounding is relative to the lengths, not to the product
    assert abs(left - right) <= 10 * EPSILON * np.linalg.norm(A @ x) * np.linalg.norm(y)


def test_adjointness_is_that_of_the_library(A):
    found = tandem.adjointness(A)
    assert found.mismatch < 2e-6  # the bound that `tandem check` holds the same pairs to
    assert abs(found.coupling - 1) < 1e-5
    assert tandem.adjointness(A.T).mismatch < 2e-6


def test_adjointness_is_the_difference_of_whole_matrices():
    """Its scatter is 1 / sqrt(2 trials), an eighth here: half to twice is more than five times that."""
    scan = fan_scan(17, 9)
    joseph, pixels = (tandem.projector(scan, model=model) for model in ("joseph", "pixel_driven"))
    for A in (joseph, tandem.unmatched_pair(joseph, pixels.T)):
        M, back = dense(A), dense(A.T)
        mismatch = np.linalg.norm(M - back.T) / np.linalg.norm(M)
        assert 0.5 * mismatch < tandem.adjointness(A, trials=32).mismatch < max(2 * mismatch, 10 * EPSILON)


def test_an_unmatched_pair_is_seen():
    scan = parallel_scan()
    joseph, pixels = tandem.projector(scan, model="joseph"), tandem.projector(scan)
    assert tandem.adjointness(tandem.unmatched_pair(joseph, pixels.T)).mismatch > 0.05


def test_algebra_is_that_of_matrices():
    A = projector_of("parallel")
    B, one = tandem.projector(parallel_scan(), tandem.VolumeGrid((27, 25, 3), (0.7,) * 3, (0.3, -0.2, 0)), "joseph"), \
        tandem.identity(A.domain)
    x = random_array(A._domain.inner)
    for operator, wanted in [(A + B, A @ x + B @ x), (A - B, A @ x - B @ x), (2 * A, 2 * (A @ x)),
                             (A * 0.5, 0.5 * (A @ x)), (-A, -(A @ x)), (A.T * B, A.T @ (B @ x)),
                             (A.T @ B, A.T @ (B @ x)), (A.T * A + 3 * one, A.T @ (A @ x) + 3 * x), (A.H.H, A @ x)]:
        assert relative(operator @ x, wanted) < 4 * EPSILON
    assert A.shape == (23 * 3 * 31, 3 * 25 * 27) and A.T.shape == A.shape[::-1]
    assert (np.float32(2) * A).shape == A.shape


def test_stacks_take_and_give_tuples():
    A = projector_of("cone")
    D = tandem.gradient(A.domain)
    T = tandem.vstack([A, 2 * D])
    x = random_array((2, *A._domain.inner))
    parts = T @ x
    assert [p.shape for p in parts] == [(2, *A._range.inner)] + [(2, *A._domain.inner)] * 3
    np.testing.assert_array_equal(parts[0], A @ x)
    np.testing.assert_allclose(parts[3][..., :-1], 2 * np.diff(x, axis=-1), rtol=0, atol=4 * EPSILON)
    back = T.T @ parts
    assert relative(back, A.T @ parts[0].copy() + 2 * (D.T @ parts[1:])) < 4 * EPSILON  # a part of a batch has gaps
    H = tandem.hstack([A, A])
    assert relative(H @ (x, x), 2 * (A @ x)) < 4 * EPSILON


def test_leading_axes_are_a_batch(A):
    x = random_array((2, 3, *A._domain.inner))
    y = A @ x
    assert y.shape == (2, 3, *A._range.inner)
    for i in np.ndindex(2, 3):
        np.testing.assert_array_equal(y[i], A @ x[i])
    assert (A @ x[:0]).shape == (0, 3, *A._range.inner)


def test_slices_of_a_batch_go_together_with_the_same_bits():
    scan = parallel_scan(rows=1)
    B = tandem.fbp(scan, filter="hann")
    y = random_array((7, 2, *B._domain.inner))
    x = B @ y
    for i in np.ndindex(7, 2):
        np.testing.assert_array_equal(x[i], B @ y[i])


def test_out_is_written_in_place_and_added_to(A):
    x, y = random_array(A._domain.inner), np.full(A._range.inner, np.nan, np.float32)
    assert A.apply(x, out=y) is y
    np.testing.assert_array_equal(y, A @ x)
    A.apply(x, out=y, alpha=2, beta=-1)
    assert relative(y, A @ x) < 4 * EPSILON


def test_arrays_are_used_where_they_lie_at_any_address(A):
    """SIMD loads do not ask for alignment: NumPy's views begin at any float."""
    for B in (A, A.T):
        x = random_array(B._domain.inner)
        store, place = np.empty(x.size + 1, np.float32), np.empty(_size(B._range.inner) + 3, np.float32)
        shifted, out = store[1:].reshape(x.shape), place[3:].reshape(B._range.inner)
        shifted[...] = x
        B.apply(shifted, out=out)
        np.testing.assert_array_equal(out, B @ x)


def test_any_array_of_the_cpu_comes_through_dlpack(A):
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()
    x = random_array(A._domain.inner)
    y = A @ Foreign(x)
    assert isinstance(y, np.ndarray)
    np.testing.assert_array_equal(y, A @ x)


def _size(shape):
    return int(np.prod(shape))


@pytest.mark.parametrize("scan", [parallel_scan(), parallel_scan(rows=1)], ids=["slices", "slice"])
def test_fbp_is_backprojector_times_filter(scan):
    y = random_array(tandem.projection_shape(scan))
    B, F = tandem.backprojector(scan), tandem.ramp_filter(scan, tandem.Filter("hann", cutoff=0.8))
    assert relative(tandem.fbp(scan, filter=tandem.Filter("hann", 0.8)) @ y, B @ (F @ y)) < 4 * EPSILON


@pytest.mark.parametrize("model", ["pixel_driven", "joseph"])
def test_the_filter_makes_up_for_the_interpolation_of_a_model(model):
    scan = parallel_scan()
    y = random_array(tandem.projection_shape(scan))
    B, F = tandem.backprojector(scan, model=model), tandem.ramp_filter(scan, "hann", model=model)
    assert relative(tandem.fbp(scan, filter="hann", model=model) @ y, B @ (F @ y)) < 4 * EPSILON
    other = tandem.ramp_filter(scan, "hann", model="fourier")
    assert relative(F @ y, other @ y) > 0.01


@pytest.mark.parametrize("model", ["pixel_driven", "joseph", "fourier"])
def test_fbp_gives_a_disc_its_attenuation(model):
    scan = tandem.ParallelBeam(tandem.Detector(127, 2, bin_pitch=0.5, axis_bin=62.2),
                               np.linspace(0, np.pi, 200, endpoint=False))
    grid = tandem.fitting_grid(scan)
    disc = tandem.disc().scaled(tandem.half_width(grid), 0.02)
    image = tandem.fbp(scan, grid, model=model) @ tandem.project(disc, scan)
    truth = tandem.voxelise(disc, grid)
    inside, outside = truth > 0.0199, np.zeros_like(truth, bool)
    outside[:, 20:40, 20:40] = truth[:, 20:40, 20:40] == 0
    assert abs(image[inside].mean() - 0.02) < 2e-4  # 1 %: the bound of examples/01
    assert abs(image[outside].mean()) < 2e-4


@pytest.mark.parametrize("scan, slice_", [(fan_scan(63, 180), 0), (cone_scan(63, 21, 180), 9)], ids=["fan", "cone"])
def test_fdk_gives_a_cylinder_its_attenuation(scan, slice_):
    grid = tandem.fitting_grid(scan)
    body = tandem.Phantom([tandem.Ellipsoid(0.02, (10, 10, float("inf")), (2, 1, 0))])
    image = (tandem.fdk(scan, grid) @ tandem.project(body, scan))[slice_]
    y, x = np.meshgrid([grid.y(i) for i in range(grid.size[1])], [grid.x(i) for i in range(grid.size[0])],
                       indexing="ij")
    assert abs(image[np.hypot(x - 2, y - 1) < 8].mean() - 0.02) < 4e-4  # 2 %: axis and angles are irregular


def test_a_function_makes_an_operator():
    space = tandem.Space((2, 5, 7))
    scale = random_array(space.shapes[0])
    D = tandem.make_operator(space, space, lambda x: scale * x, lambda y: scale * y)
    x = random_array(space.shapes[0], 2)
    np.testing.assert_array_equal(D @ x, scale * x)
    assert tandem.adjointness(D).mismatch < EPSILON
    np.testing.assert_array_equal(tandem.diagonal(scale, space) @ x, scale * x)

    def fails(_):
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        tandem.make_operator(space, space, fails, fails) @ x
    with pytest.raises(tandem.SpaceError, match=r"\(2, 5\).*\(2, 5, 7\)"):
        tandem.make_operator(space, space, lambda x: x[..., 0], fails) @ x


def test_the_norm_is_the_largest_singular_value():
    A = projector_of("fan")
    largest = np.linalg.svd(dense(A), compute_uv=False)[0]
    assert largest * 0.98 < tandem.operator_norm(A, 50) <= largest * (1 + 1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_geometry_is_kept_by_copies_and_files(kind):
    scan = {"parallel": parallel_scan, "fan": fan_scan, "cone": cone_scan}[kind]()
    for other in (copy.deepcopy(scan), pickle.loads(pickle.dumps(scan))):
        assert other == scan and type(other) is type(scan)
    grid = tandem.fitting_grid(scan)
    assert pickle.loads(pickle.dumps(grid)).shape == grid.shape == (grid.size[2], grid.size[1], grid.size[0])
    A = tandem.projector(scan)
    assert copy.deepcopy(A) is A
    assert type(tandem.crop(scan, views=(2, 9))) is type(scan)
    assert len(tandem.crop(scan, views=(2, 9)).angles_rad) == 7
