"""Data weights, Tikhonov's weight, masks, regularisers of one's own, and what is minimised, against dense matrices in
double."""
import numpy as np
import pytest
from conftest import dense, odd_angles, parallel_scan, random_array, relative

import tandem

SCAN = tandem.ParallelBeam(tandem.Detector(15, axis_bin=6.6), odd_angles(19, np.pi))
A = tandem.projector(SCAN, tandem.VolumeGrid((7, 6, 1), 1.1))
D = dense(A)
B = random_array(A.range.shape)
W = np.abs(random_array(A.range.shape, 2))
W[3] = 0  # a view that does not count


def least(weights=None, penalty=0.0, columns=slice(None)):
    """x in the least of 1/2 sum of w (Ax - b)^2 + 1/2 W |x|^2, from the normal equations."""
    w = np.ones(B.size) if weights is None else weights.ravel().astype(float)
    M = D[:, columns]
    x = np.zeros(D.shape[1])
    x[columns] = np.linalg.solve(M.T @ (w[:, None] * M) + penalty * np.eye(M.shape[1]), M.T @ (w * B.ravel()))
    return x.reshape(A.domain.shape)


KRYLOV = [tandem.Cgls, tandem.Lsqr, tandem.Lsmr, tandem.BaGmres]


@pytest.mark.parametrize("kind", KRYLOV, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("weights, penalty", [(W, 0.0), (None, 2.0), (W, 2.0)])
def test_krylov_solvers_take_weights(kind, weights, penalty):
    """42 unknowns; rounding of floats leaves 1e-3 of the solution without a penalty, whose matrix has condition 50."""
    solver = kind(A, B, data_weights=weights, tikhonov_weight=penalty)
    tandem.run(solver, 60)
    assert relative(solver.solution, least(weights, penalty)) < 1e-3
    if weights is not None and not penalty:  # residuals are weighed, too
        left = (np.sqrt(W.astype(float)) * (B - A @ solver.solution)).ravel()
        assert np.linalg.norm(solver.residual_norms) == pytest.approx(np.linalg.norm(left), rel=1e-3)


def test_images_and_arrays_of_others_take_weights():
    wanted = least(W, 2.0)[0]
    image = tandem.Cgls(A, B[:, 0], data_weights=W[:, 0], tikhonov_weight=2)
    theirs = tandem.projector(tandem.scan_to("astra", SCAN), tandem.grid_to("astra", tandem.VolumeGrid((7, 6, 1), 1.1)))
    other = tandem.Cgls(theirs, B[:, 0], data_weights=W[:, 0], tikhonov_weight=2)
    for solver in (image, other):
        tandem.run(solver, 60)
    assert relative(image.solution, wanted) < 1e-3 and relative(other.solution, wanted[::-1]) < 1e-3


def test_landweber_and_sirt_take_weights():
    """Landweber's step is that of the normal equations. SIRT's minimises the sum of w r (Ax - b)^2, r = 1 / (A 1)."""
    w, x = W.ravel().astype(float), np.zeros(D.shape[1])
    solver = tandem.Landweber(A, B, data_weights=W)
    tandem.run(solver, 7)
    length = 1 / np.linalg.norm(np.sqrt(w)[:, None] * D, 2) ** 2
    for _ in range(7):
        x += length * D.T @ (w * (B.ravel() - D @ x))
    assert relative(solver.solution.ravel(), x) < 0.03  # its norm comes from below
    solver = tandem.Sirt(A, B, data_weights=W)
    tandem.run(solver, 7)
    sums, x = D.sum(1), np.zeros(D.shape[1])
    rows = np.divide(w, sums, out=np.zeros_like(w), where=sums > 1e-6)
    for _ in range(7):
        x += D.T @ (rows * (B.ravel() - D @ x)) / (D.T @ w)
    assert relative(solver.solution.ravel(), x) < 1e-4


def test_subsets_take_weights_in_the_order_of_the_scan():
    parts = tandem.subsets(SCAN, tandem.VolumeGrid((7, 6, 1), 1.1), count=1)
    one, all_ = tandem.OsSirt(parts, B, data_weights=W), tandem.Sirt(A, B, data_weights=W)
    for solver in (one, all_):
        tandem.run(solver, 5)
    assert relative(one.solution, all_.solution) < 1e-5
    some = tandem.subsets(SCAN, tandem.VolumeGrid((7, 6, 1), 1.1), count=4)
    spoiled = B.copy()
    spoiled[3] = 1e3  # the view that does not count
    found = [tandem.OsSirt(some, b, data_weights=W) for b in (B, spoiled)]
    for solver in found:
        tandem.run(solver, 5)
    np.testing.assert_array_equal(found[0].solution, found[1].solution)


def test_likelihoods_take_weights():
    """EM of the sum of w (b log Ax - Ax) in double. A count of weight 2 is one that came twice."""
    b, w = np.abs(B) + 0.1, W.ravel().astype(float)
    solver = tandem.Mlem(A, b, data_weights=W)
    x = solver.solution.ravel().astype(float)
    tandem.run(solver, 5)
    for _ in range(5):
        lines = D @ x
        x *= D.T @ (w * b.ravel() / np.where(lines > 1e-9, lines, np.inf)) / (D.T @ w)
    assert relative(solver.solution.ravel(), x) < 1e-3
    counts, twice = np.round(30 * np.abs(B)), np.full_like(B, 2)
    found = [tandem.Mltr(A, counts, np.full_like(B, 40), data_weights=twice),
             tandem.Mltr(A, 2 * counts, np.full_like(B, 80))]
    for solver in found:
        tandem.run(solver, 4)
    np.testing.assert_array_equal(found[0].solution, found[1].solution)


def test_masks_and_weights_of_one_slice_may_be_images():
    A = tandem.projector(parallel_scan(rows=1))
    where = random_array(A.domain.shape[1:]) > 0
    x, y = random_array(A.domain.shape), random_array(A.range.shape)
    np.testing.assert_array_equal(tandem.mask(where, A.domain) @ x, x * where)
    np.testing.assert_array_equal(tandem.diagonal(y[:, 0], A.range) @ y, y * y)
    with pytest.raises(tandem.SpaceError, match=r"where: shape \(3, 3\)"):
        tandem.mask(np.ones((3, 3), bool), A.domain)


def test_a_mask_leaves_voxels_at_zero():
    inside = np.ones(A.domain.shape, bool)
    inside[0, :2] = inside[0, :, 5:] = False
    solver = tandem.Cgls(A * tandem.mask(inside, A.domain), B)
    tandem.run(solver, 60)
    assert relative(solver.solution, least(columns=inside.ravel())) < 1e-3
    assert not solver.solution[~inside].any()


class Squares:
    """1/2 |x|^2, as one's own."""

    def value(self, v):
        return 0.5 * np.sum(v.astype(float) ** 2, axis=(1, 2))

    def prox(self, v, step):
        return v / (1 + step)


class Lengths:
    """Total variation, as one's own."""

    def __init__(self, volume):
        self.K = tandem.gradient(volume)

    def value(self, v):
        return np.sqrt(sum(part.astype(float) ** 2 for part in v)).sum((1, 2))

    def prox(self, v, step):
        length = np.sqrt(sum(part ** 2 for part in v))
        return tuple(part * np.maximum(0, 1 - step / np.maximum(length, 1e-30)) for part in v)


@pytest.mark.parametrize("kind", [tandem.Pdhg, tandem.Fista], ids=lambda kind: kind.__name__)
def test_regularisers_of_ones_own(kind):
    for own in (Squares(), tandem.tikhonov(A.domain)):
        solver = kind(A, B, None, own, 2.0, W)
        tandem.run(solver, 400)
        assert relative(solver.solution, least(W, 2.0)) < 1e-4
    found = [kind(A, B, None, g, 0.3) for g in (Lengths(A.domain), tandem.total_variation(A.domain))]
    for solver in found:
        tandem.run(solver, 400)  # steps of other lengths, as another bound of |K| is known
    assert relative(found[0].solution, found[1].solution) < 1e-3
    assert repr(found[0]).startswith("<" + kind.__name__)

    class Wrong(Squares):
        def prox(self, v, step):
            return v[0]

    with pytest.raises(tandem.SpaceError, match=r"regulariser: prox gave shape \(6, 7\); \(1, 6, 7\) is needed"):
        tandem.run(kind(A, B, None, Wrong(), 1.0), 2)


def test_the_gap_bounds_the_error_and_goes_to_zero():
    solver = tandem.Pdhg(A, B, None, tandem.tikhonov(A.domain), 2.0, W)

    def objective(x):
        r = D @ x.ravel().astype(float) - B.ravel()
        return 0.5 * np.sum(W.ravel() * r * r) + np.sum(x.astype(float) ** 2)
    lowest = objective(least(W, 2.0))
    gaps = []
    for _ in range(12):
        tandem.run(solver, 10)
        x = solver.solution
        assert solver.objective()[0] == pytest.approx(objective(x), rel=1e-5)
        gaps.append(float(solver.gap()[0]))
        assert gaps[-1] >= (objective(x) - lowest) / objective(x) - 1e-6  # rounding of floats
    assert gaps[-1] < 1e-5 < gaps[0]
    again = tandem.Pdhg(A, B, None, tandem.tikhonov(A.domain), 2.0, W)
    report = tandem.run(again, tandem.duality_gap(again, 1e-3) | tandem.max_iterations(500))
    assert report.stopped_by == ["gap"] and again.gap()[0] <= 1e-3
    own = tandem.Pdhg(A, B, None, Squares(), 2.0)
    with pytest.raises(tandem.GeometryError, match="gap: the regulariser is that of a proximal map"):
        own.gap()


def test_gcv_stops_before_noise_is_fitted():
    """Near the least error of all iterates, which the exact truth tells; after 25 steps noise has doubled it."""
    scan = tandem.ParallelBeam(tandem.Detector(48), odd_angles(60, np.pi))
    P = tandem.projector(scan, model="joseph")
    phantom = tandem.ellipsoids().scaled(24)
    truth = tandem.voxelise(phantom, tandem.fitting_grid(scan))
    y = tandem.project(phantom, scan)
    y = y + np.random.default_rng(4).normal(0, 0.02 * y.max(), y.shape).astype(np.float32)
    errors = []
    tandem.run(tandem.Cgls(P, y), 25, lambda now: errors.append(relative(now.solution, truth)))
    solver = tandem.Cgls(P, y, gcv=True)
    report = tandem.run(solver, tandem.gcv(solver) | tandem.max_iterations(25))
    assert report.stopped_by == ["gcv"] and 2 <= report.iterations < 20
    assert relative(solver.solution, truth) < 1.3 * min(errors) < 0.65 * errors[-1]


def halves_of(scan, y):
    """Projectors, data and FBP of both halves of the views."""
    parts = [(tandem.with_views(scan, views), y[views]) for views in tandem.view_subsets(scan, 2)]
    return ([tandem.projector(part, model="joseph") for part, _ in parts], [data for _, data in parts],
            [tandem.fbp(part, model="joseph") for part, _ in parts])


def test_the_weight_of_total_variation_is_found():
    """At the weight that is found, the error is within a fifth of the least one of weights around it."""
    scan = tandem.ParallelBeam(tandem.Detector(32), odd_angles(24, np.pi))
    P = tandem.projector(scan, model="joseph")
    phantom = tandem.ellipsoids().scaled(16)
    truth = tandem.voxelise(phantom, tandem.fitting_grid(scan))
    y = tandem.project(phantom, scan)
    y = y + np.random.default_rng(5).normal(0, 0.02 * y.max(), y.shape).astype(np.float32)
    tv = tandem.total_variation(P.domain)
    found = tandem.find_weight(*halves_of(scan, y), tv, bounds=tandem.above_zero)
    each = tandem.find_weight(*halves_of(scan, y), tv, bounds=(np.zeros(P.domain.shape, np.float32), None))
    assert each.weight == found.weight

    def error(weight):
        solver = tandem.Pdhg(P, y, None, tv, weight, bounds=tandem.above_zero)
        tandem.run(solver, 200)
        return relative(solver.solution, truth)
    assert found.weight > 0 and len(found.trials) >= 2 and found.applications > 0
    assert error(found.weight) < 1.2 * min(error(found.weight * 4.0 ** k) for k in range(-3, 4))
    assert repr(found).startswith("<WeightFound weight ") and repr(found.trials[0]).startswith("<WeightTrial weight ")
