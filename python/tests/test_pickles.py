"""Spaces, regularisers and solvers in files: they go on where they were."""
import copy
import pickle

import numpy as np
import pytest
from conftest import parallel_scan, projector_of, random_array

import tandem


def again(value):
    return pickle.loads(pickle.dumps(value))


def test_spaces_are_the_same_again():
    """Also their geometry: they do not fit spaces of other scans."""
    A = projector_of("parallel")
    for space in (A.domain, A.range, tandem.gradient(A.domain).range, tandem.Space((2, 3, 4), blocks="rows"),
                  tandem.vstack([A, tandem.identity(A.domain)]).range):
        for other in (again(space), copy.deepcopy(space)):
            assert other == space and (other.shapes, other.block_count) == (space.shapes, space.block_count)
    scan = parallel_scan()
    moved = tandem.projector(scan.replace(angles_rad=[angle + 0.1 for angle in scan.angles_rad])).range
    assert again(A.range).shape == moved.shape and not again(A.range).fits(moved)


def makers():
    A = projector_of("parallel")
    b = A @ np.abs(random_array(A.domain.shape))
    w = np.abs(random_array(A.range.shape, 5))
    parts = tandem.subsets(parallel_scan(), count=4)
    c = parts.whole @ np.abs(random_array(parts.whole.domain.shape))
    counts = np.round(50 * np.exp(-b / b.max()))
    tv = tandem.total_variation(A.domain)
    yield from (lambda kind=kind: kind(A, b) for kind in (
        tandem.Cgls, tandem.Lsqr, tandem.Lsmr, tandem.BaGmres, tandem.Mlem, tandem.Sirt, tandem.Landweber))
    yield lambda: tandem.Cgls(A, b, data_weights=w, tikhonov_weight=0.5, gcv=True)
    yield lambda: tandem.Sirt(A, b, b.mean() * np.ones(A.domain.shape, np.float32), relaxation=1.3, bounds=(0, None))
    yield lambda: tandem.OsSirt(parts, c)
    yield lambda: tandem.Osem(parts, c, data_weights=np.ones_like(c))
    yield lambda: tandem.Mltr(A, counts, np.full_like(counts, 50))
    yield lambda: tandem.Pdhg(A, b, None, tv, 0.2, w, bounds=tandem.above_zero)
    yield lambda: tandem.Fista(A, b, None, tandem.huber_total_variation(A.domain, 0.1), 0.2)


@pytest.mark.parametrize("make", list(makers()))
def test_solvers_go_on_with_the_same_bits(make):
    solver = make()
    tandem.run(solver, 3)
    solver.step()
    other = again(solver)
    np.testing.assert_array_equal(other.solution, solver.solution)
    np.testing.assert_array_equal(other.residual_norms, solver.residual_norms)
    for one in (solver, other):
        tandem.run(one, 2)
        one.step()
    np.testing.assert_array_equal(other.solution, solver.solution)
    third = again(other)  # a copy of a copy
    np.testing.assert_array_equal(third.solution, solver.solution)


def test_reports_and_rules_are_the_same_again():
    A = projector_of("parallel")
    b = A @ np.abs(random_array(A.domain.shape))
    rule = tandem.relative_residual(1e-3) | tandem.discrepancy([0.0] * 3, factor=2) | tandem.time_limit(60)
    for stop in (rule | tandem.max_iterations(count=4), tandem.white_residual() | tandem.max_iterations(4),
                 tandem.divergence(data_norms=[1e9] * 3) | tandem.max_iterations(4),
                 tandem.stop_rule("mine", after_two)):
        reports = [tandem.run(tandem.Cgls(A, b), one) for one in (stop, again(stop), copy.deepcopy(stop))]
        for report in (*reports, again(reports[0])):
            for word in ("iterations", "block_iterations", "stopped_by", "residuals"):
                assert getattr(report, word) == getattr(reports[0], word)
    solver = tandem.Cgls(A, b, gcv=True)
    for stop in (tandem.gcv(solver), tandem.stagnation(solver), tandem.max_iterations(3) | tandem.gcv(solver)):
        with pytest.raises(TypeError, match="stop rule (gcv|stagnation) cannot be pickled, as it looks at its"):
            pickle.dumps(stop)


def after_two(seen, block):
    return seen.iteration == 2


class Named(tandem.Cgls):
    """A solver of one's own, with another constructor."""

    def __init__(self, A, b, name):
        super().__init__(A, b)
        self.name = name


def test_solvers_of_ones_own_go_on_too():
    A = projector_of("parallel")
    solver = Named(A, A @ random_array(A.domain.shape), "mine")
    tandem.run(solver, 3)
    other = again(solver)
    assert other.name == "mine"
    np.testing.assert_array_equal(other.solution, solver.solution)


def test_what_cannot_be_stored_says_so():
    A = projector_of("parallel")
    b = A @ np.ones(A.domain.shape, np.float32)
    solver = tandem.Cgls(A, b)
    b[0] += 1
    with pytest.raises(TypeError, match="Cgls cannot be pickled, as b was changed after it was made; pickle its"):
        pickle.dumps(solver)
    with pytest.raises(TypeError, match="this operator cannot be pickled"):
        pickle.dumps(tandem.Cgls(tandem.diagonal(np.ones_like(b), A.range) * A, b))
    parts = pickle.loads(pickle.dumps(tandem.subsets(parallel_scan(), count=3)))
    assert parts.count == 3
