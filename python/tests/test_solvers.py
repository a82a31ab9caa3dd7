import pathlib
import re

import numpy as np
import pytest
from conftest import EPSILON, dense, parallel_scan, projector_of, random_array, relative

import tandem


def problem(kind="parallel"):
    A = projector_of(kind)
    truth = np.abs(random_array(A._domain.inner))
    return A, truth, A @ truth


PLAIN = [tandem.Cgls, tandem.Lsqr, tandem.Lsmr, tandem.BaGmres, tandem.Mlem, tandem.Sirt, tandem.Landweber]


@pytest.mark.parametrize("kind", PLAIN, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("beam", ["parallel", "cone"])
def test_solvers_lower_the_residual_and_say_it(kind, beam):
    A, _, b = problem(beam)
    solver = kind(A, b)
    report = tandem.run(solver, tandem.max_iterations(12))
    blocks = A.range.block_count
    assert report.iterations == 12 and report.block_iterations == [12] * blocks
    assert report.stopped_by == ["max_iterations"] * blocks
    of_zero = np.linalg.norm(b.astype(float))  # from which all but Mlem start
    assert len(report.residuals) == 13 and report.residuals[-1] < 0.3 * of_zero
    x = solver.solution
    assert x.shape == A._domain.inner and x.dtype == np.float32
    true = np.linalg.norm((b - A @ x).astype(float))
    assert abs(np.sqrt(np.sum(solver.residual_norms ** 2)) - true) < 1e-3 * true + 100 * EPSILON * np.linalg.norm(b)


@pytest.mark.parametrize("kind", [tandem.OsSirt, tandem.Osem], ids=lambda kind: kind.__name__)
def test_subsets_are_faster_than_all_views(kind):
    scan = parallel_scan()
    A = tandem.projector(scan)
    b = A @ np.abs(random_array(A._domain.inner))
    whole = {tandem.OsSirt: tandem.Sirt, tandem.Osem: tandem.Mlem}[kind]
    few = tandem.run(kind(tandem.subsets(scan, count=5), b), tandem.max_iterations(5))
    all_ = tandem.run(whole(A, b), tandem.max_iterations(5))
    assert few.residuals[0] == pytest.approx(all_.residuals[0], rel=1e-5)
    assert few.residuals[-1] < 0.8 * all_.residuals[-1]


def test_counts_become_more_likely_with_each_step():
    A, truth, lines = problem()
    mu = 2 / lines.max()
    counts = np.random.default_rng(3).poisson(20 * np.exp(-mu * lines)).astype(np.float32)
    assert (counts == 0).any()
    blank = np.full_like(counts, 20)
    solver = tandem.Mltr(A, counts, blank)

    def unlikely():
        lines_now = (A @ solver.solution).astype(float)
        return np.sum(blank * np.exp(-lines_now) + counts * lines_now)

    before = unlikely()
    for _ in range(20):
        solver.step()
        assert unlikely() <= before + 1e-6 * abs(before)
        before = unlikely()
    assert solver.solution.min() >= 0
    assert solver.solution.mean() == pytest.approx(mu * truth.mean(), rel=0.2)
    with pytest.raises(tandem.GeometryError, match="blank"):
        tandem.Mltr(A, counts, np.full_like(counts, np.nan))
    with pytest.raises(TypeError, match="blank"):
        tandem.Mltr(A, counts, None)


def test_every_solver_of_the_library_is_here():
    solvers = pathlib.Path(__file__).parents[2] / "solvers"
    found = [name for header in solvers.glob("*.hpp") for text in [header.read_text()]
             if "void step(const ActiveBlocks& active);" in text for name in re.findall(r"^class (\w+)(?: : .*)? {", text, re.M)]
    assert len(found) >= 11
    assert [name for name in found if not issubclass(getattr(tandem, name, object), tandem.Solver)] == []


def test_lsqr_is_that_of_scipy():
    linalg = pytest.importorskip("scipy.sparse.linalg")
    A, _, b = problem("cone")
    steps = 8
    solver = tandem.Lsqr(A, b)
    tandem.run(solver, tandem.max_iterations(steps))
    theirs = linalg.lsqr(A, b.ravel(), iter_lim=steps, atol=0, btol=0)[0]
    assert relative(solver.solution.ravel(), theirs) < 1e-5


def test_cgls_solves_least_squares():
    A = tandem.projector(parallel_scan(bins=15, rows=1, views=19), tandem.VolumeGrid((7, 6, 1), (1.1,) * 3))
    b = random_array(A._range.inner)
    solver = tandem.Cgls(A, b)
    tandem.run(solver, tandem.max_iterations(60))
    wanted = np.linalg.lstsq(dense(A), b.ravel().astype(float), rcond=None)[0]
    assert relative(solver.solution.ravel(), wanted) < 1e-4


@pytest.mark.parametrize("kind", [tandem.Pdhg, tandem.Fista], ids=lambda kind: kind.__name__)
def test_total_variation_flattens_within_bounds(kind):
    A, _, b = problem()
    values = []
    for weight in (1e-3, 1.0):
        solver = kind(A, b, None, tandem.total_variation(A.domain), weight, np.ones_like(b), bounds=tandem.above_zero)
        tandem.run(solver, tandem.max_iterations(60))
        x = solver.solution
        assert x.min() >= 0
        values.append(np.abs(np.diff(x, axis=-1)).sum())
    assert values[1] < 0.5 * values[0]


@pytest.mark.parametrize("kind", [tandem.Sirt, tandem.Pdhg, tandem.Fista], ids=lambda kind: kind.__name__)
def test_each_voxel_may_have_bounds_of_its_own(kind):
    A, _, b = problem()
    lowest = np.full(A.domain.shape, -np.inf, np.float32)
    highest = np.full(A.domain.shape, np.inf, np.float32)
    lowest[:, ::2], highest[:, ::3] = 0.4, 0.4
    arguments = () if kind is tandem.Sirt else (None, tandem.total_variation(A.domain), 0.1)
    for ends in ((lowest, highest), (0, highest), (lowest, None)):
        solver = kind(A, b, *arguments, bounds=ends)
        for _ in range(3):
            solver.step()
            x = solver.solution
            assert all((x >= end if side == 0 else x <= end).all() for side, end in enumerate(ends) if end is not None)
    assert (x[:, 1::2] < 0.4).any() and (x > 0.4).any()
    with pytest.raises(tandem.GeometryError, match="highest less the lowest"):
        kind(A, b, *arguments, bounds=(highest, lowest))
    with pytest.raises(tandem.SpaceError, match="highest: shape"):
        kind(A, b, *arguments, bounds=(0, highest[:, :-1]))


def test_the_state_goes_on_from_x0_and_by_steps():
    A, _, b = problem()
    solver = tandem.Sirt(A, b, relaxation=1.2)
    for _ in range(4):
        solver.step()
    again = tandem.Sirt(A, b, relaxation=1.2)
    tandem.run(again, tandem.max_iterations(2))
    third = tandem.Sirt(A, b, again.solution, relaxation=1.2)
    tandem.run(third, tandem.max_iterations(2))
    assert relative(third.solution, solver.solution) < 100 * EPSILON
    before = solver.solution
    solver.step([False, True, False])
    np.testing.assert_array_equal(solver.solution[[0, 2]], before[[0, 2]])
    assert (solver.solution[1] != before[1]).any()


def test_rules_are_joined_and_may_be_your_own():
    A, _, b = problem()
    noise = [0.2 * float(np.linalg.norm(b[:, k])) for k in range(3)]
    report = tandem.run(tandem.Cgls(A, b), tandem.discrepancy(noise) | tandem.max_iterations(50))
    assert report.stopped_by == ["discrepancy"] * 3
    mine = tandem.stop_rule("mine", lambda now, block: now.iteration == block + 1)
    assert tandem.run(tandem.Cgls(A, b), mine).block_iterations == [1, 2, 3]
    solver = tandem.Cgls(A, b)
    rule = tandem.stagnation(solver, [b[:, 0].size] * 3) | tandem.white_residual() | tandem.max_iterations(50)
    assert tandem.run(solver, rule).iterations <= 50
    with pytest.raises(tandem.GeometryError, match="stagnation"):
        tandem.stagnation(tandem.Mlem(A, b), [1] * 3)


def test_who_observes_sees_every_step_and_can_end_the_run():
    A, truth, b = problem()
    solver, errors = tandem.Cgls(A, b), []

    def observe(now):
        errors.append(relative(now.solution, truth))
        if now.iteration == 5:
            raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        tandem.run(solver, tandem.max_iterations(50), observe)
    assert len(errors) == 6 and errors[5] < errors[1] < errors[0]
    assert relative(solver.solution, truth) == errors[5]


def test_damping_is_a_stack():
    A, _, b = problem("cone")
    T = tandem.vstack([A, 0.5 * tandem.identity(A.domain)])
    solver = tandem.Cgls(T, (b, np.zeros(A._domain.inner, np.float32)))
    tandem.run(solver, tandem.max_iterations(30))
    x = solver.solution
    gradient = A.T @ (b - A @ x) - 0.25 * x
    assert np.linalg.norm(gradient) < 1e-3 * np.linalg.norm(A.T @ b)


@pytest.mark.parametrize("kind", [tandem.Sirt, tandem.Landweber], ids=lambda kind: kind.__name__)
def test_gradient_steps_stop_by_cross_validation(kind):
    """Data that are noise alone stop them at once. Without noise, the error that is left falls faster than freedom
    grows, and nothing stops them in 5 steps."""
    A, _, b = problem()
    for data, steps, rule in ((random_array(b.shape, 3), 400, "gcv"), (b, 5, "max_iterations")):
        solver = kind(A, data, gcv=True)
        report = tandem.run(solver, tandem.gcv(solver) | tandem.max_iterations(steps))
        assert set(report.stopped_by) == {rule}, report.block_iterations


def test_mltr_tells_its_likelihood():
    A, _, b = problem()
    blank = np.full_like(b, 50)
    counts = np.round(blank * np.exp(-b / b.max()))
    solver = tandem.Mltr(A, counts, blank)
    told, meets = [], A @ np.ones(A.domain.shape, np.float32) > 0  # a ray that meets no voxel does not count
    for _ in range(5):
        solver.step()
        lines = (A @ solver.solution).astype(float)
        told.append(float(np.sum(solver.objective())))
        exact = np.sum((blank * np.exp(-lines) + counts * lines)[meets])
        assert told[-1] == pytest.approx(exact, rel=1e-5)
    assert told == sorted(told, reverse=True)


def test_numbers_of_a_kind_are_checked():
    A, _, b = problem()
    with pytest.raises(tandem.GeometryError, match="inner_steps 2.5; a whole number"):
        tandem.Fista(A, b, None, tandem.total_variation(A.domain), 0.1, inner_steps=2.5)
    with pytest.raises(tandem.GeometryError, match="Landweber: the back-projection of A is not"):
        tandem.Landweber(tandem.unmatched_pair(A, 2 * A.T), b)
