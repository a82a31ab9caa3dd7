"""Calls that newcomers write first. If a call is clear, it works; else an error of one line says what to write."""
import copy
import inspect
import pickle
import threading

import numpy as np
import pytest
from conftest import cone_scan, fan_scan, parallel_scan, projector_of, random_array

import tandem

DETECTOR = tandem.Detector(16)
ANGLES = np.arange(10) / 3


def A():
    return tandem.projector(tandem.ParallelBeam(DETECTOR, ANGLES))


def y():
    return np.ones((10, 1, 16), np.float32)


MISTAKES = [
    (lambda: tandem.fbp(cone_scan()), "fbp: the scan is a ConeBeam; give it to fdk(scan, grid)"),
    (lambda: tandem.fdk(parallel_scan()), "fdk: the scan is a ParallelBeam; give it to fbp(scan, grid)"),
    (lambda: tandem.projector(y()), "projector: scan is an array of shape (10, 1, 16); give ParallelBeam"),
    (lambda: tandem.projector(parallel_scan(), 64), "projector: grid is 64; give VolumeGrid((nx, ny, nz), pitch)"),
    (lambda: tandem.ParallelBeam(DETECTOR, angles=ANGLES),
     "ParallelBeam: angles is not known; give angles_rad, in rad: numpy.radians(degrees)"),
    (lambda: tandem.ParallelBeam(16, ANGLES), "ParallelBeam: detector is 16; give Detector(bins, rows)"),
    (lambda: tandem.ParallelBeam(DETECTOR), "ParallelBeam: missing a required argument: 'angles_rad'; it is "
     "ParallelBeam(detector, angles_rad, *, row_axis_bins="),
    (lambda: tandem.ParallelBeam(DETECTOR, 180), "angles_rad is 180; give a list of angles in rad, one for each view"),
    (lambda: tandem.ParallelBeam(DETECTOR, ["0", "1"]), "ParallelBeam: angles_rad is ['0', '1']; give a list of angles"),
    (lambda: tandem.FlexibleBeam(8, 1, np.zeros((3, 4))), "FlexibleBeam: vectors is an array of shape (3, 4); give 12"),
    (lambda: tandem.ConeBeam(DETECTOR, ANGLES, sod=3, sdd_mm=4), "ConeBeam: sod is not known; give sod_mm"),
    (lambda: tandem.Detector(256.5), "Detector: bins is 256.5; give a whole number of cells"),
    (lambda: tandem.Detector(16, pitch=1), "Detector: pitch is not known; give bin_pitch"),
    (lambda: tandem.VolumeGrid(64), "VolumeGrid: size is 64; give (nx, ny, nz), such as (64, 64, 1)"),
    (lambda: tandem.VolumeGrid((64, 64)), "VolumeGrid: size is (64, 64); give (nx, ny, nz)"),
    (lambda: tandem.Phantom("disc"), "Phantom: ellipsoids is 'disc'; give a list of Ellipsoid"),
    (lambda: tandem.total_variation(tandem.VolumeGrid((4, 4, 1))),
     "total_variation: volume is a VolumeGrid; give the space of volumes, A.domain of a projector A"),
    (lambda: tandem.max_iterations(2.5), "max_iterations: count is 2.5; give a whole number"),
    (lambda: tandem.discrepancy(0.1), "discrepancy: noise_norms is 0.1; give a list of norms, one for each block"),
    (lambda: tandem.run(tandem.Cgls(A(), y()), "soon"), "run: stop is 'soon'; give a number of steps or a rule"),
    (lambda: tandem.run(A(), 3), "run: solver is a LinearOperator; give a solver, such as Cgls(A, b)"),
    (lambda: tandem.Sirt(A(), y(), bounds=1), "bounds: 1; give tandem.Bounds(lowest, highest), (lowest, highest) or"),
    (lambda: tandem.OsSirt(A(), y()), "OsSirt: A is a LinearOperator; give subsets(scan, grid, count)"),
    (lambda: tandem.Sirt(tandem.subsets(parallel_scan(), count=2), y()), "Sirt: A is a Subsets; give a LinearOperator"),
    (lambda: tandem.Pdhg(A(), y(), None, "tv", 1), "regulariser: 'tv'; give tandem.total_variation(A.domain)"),
    (lambda: tandem.gcv(tandem.Cgls(A(), y())), "gcv: Cgls takes no signs along; make it as Cgls(A, b, gcv=True)"),
    (lambda: tandem.duality_gap(tandem.Cgls(A(), y()), 0.1), "duality_gap: Cgls tells no gap; give a Pdhg"),
    (lambda: tandem.settled(tandem.Cgls(A(), y())), "settled: Cgls does not tell how far it is from its end; give a Pdhg"),
    (lambda: tandem.fbp(parallel_scan(), filter=3), "filter: 3; give the name of a window, such as 'hann'"),
    (lambda: tandem.identity((3, 4)), "identity: space is (3, 4); give a space, A.domain of an operator A or Space("),
    (lambda: A() / A(), "A / B: operators have no quotient; solve A x = b by Cgls(A, b)"),
    (lambda: tandem.vstack([A(), 3]), "vstack: int is no operator; give a list of operators"),
    (lambda: tandem.set_threads("all"), "set_threads: count is 'all'; give a whole number"),
    (lambda: tandem.project(tandem.disc(), tandem.VolumeGrid((4, 4, 1))), "project: scan is a VolumeGrid; give a scan"),
    (lambda: tandem.project(y(), parallel_scan()), "project: phantom is an array of shape (10, 1, 16); give a phantom"),
    (lambda: tandem.voxelise(tandem.VolumeGrid((4, 4, 1)), tandem.disc()), "voxelise: phantom is a VolumeGrid; give"),
    (lambda: tandem.projector(parallel_scan(), modle="joseph"), "projector: modle is not known; give model"),
    (lambda: tandem.Cgls(y(), A()), "Cgls: A is an array of shape (10, 1, 16); give a LinearOperator, such as"),
    (lambda: tandem.Cgls(A()), "Cgls: missing a required argument: 'b'; it is Cgls(A, b, x0=None"),
    (lambda: tandem.Cgls(A(), y(), iterations=10), "Cgls: iterations is not known; give it to run(solver, iterations)"),
    (lambda: tandem.Sirt(A(), y(), nonnegative=True), "Sirt: nonnegative is not known; give bounds=tandem.above_zero"),
    (lambda: tandem.Sirt(A(), y(), relaxation="a"), "Sirt: relaxation is 'a'; give a number"),
    (lambda: tandem.Pdhg(A(), y(), None, tandem.tikhonov(A().domain)), "missing a required argument: 'weights'"),
    (lambda: tandem.run(tandem.Cgls(A(), y())), "run: missing a required argument: 'stop'; it is run(solver, stop"),
    (lambda: tandem.run(tandem.Cgls(A(), y()), 3, observe=3), "run: observe is 3; give a function"),
    (lambda: tandem.stop_rule("mine", 3), "stop_rule: holds is 3; give a function"),
    (lambda: tandem.stop_rule(3, lambda seen, block: True), "stop_rule: name is 3; give a text"),
    (lambda: tandem.make_operator(A().domain, A().range, "a", "b"), "make_operator: forward is 'a'; give a function"),
    (lambda: tandem.make_operator((4, 4), A().range, abs, abs), "make_operator: domain is (4, 4); give a space"),
    (lambda: tandem.make_operator(A().domain, A().domain, lambda x: 1j * x, abs) @ np.ones(A().domain.shape, "f4"),
     "make_operator: a function gave: complex64 values; give real numbers"),
    (lambda: tandem.gradient(A()), "gradient: volume is a LinearOperator; give the space of volumes, A.domain of"),
    (lambda: tandem.adjointness(abs), "adjointness: A is a builtin_function_or_method; give a LinearOperator"),
    (lambda: tandem.operator_norm(y()), "operator_norm: A is an array of shape (10, 1, 16); give a LinearOperator"),
    (lambda: tandem.unmatched_pair(A(), 3), "unmatched_pair: backward is 3; give a LinearOperator"),
    (lambda: tandem.diagonal(y(), A()), "diagonal: space is a LinearOperator; give a space, A.domain of an operator A"),
    (lambda: tandem.subsets(A()), "subsets: scan is a LinearOperator; give a scan"),
    (lambda: tandem.grid_to("astra", parallel_scan()), "grid_to: grid is a ParallelBeam; give VolumeGrid("),
    (lambda: tandem.scan_to("astra", A()), "scan_to: package = 'astra', scan = a LinearOperator do not fit; it is"),
    (lambda: tandem.open_scan(y()), "open_scan: path is an array of shape (10, 1, 16); give a path"),
    (lambda: tandem.open_scan(None), "open_scan: path is None; give a path"),
    (lambda: tandem.open_scan("scan.h5", pixel_size=3), "open_scan: pixel_size is not known; give pixel_size_mm"),
    (lambda: tandem.write_volume(y(), "v.h5"), "write_volume: path is an array of shape (10, 1, 16); give a path"),
    (lambda: tandem.write_volume("v.h5", 1j * y()), "volume: complex64 values; give real numbers"),
    (lambda: A() * y(), "A * x: an operator is applied by A @ x, and its transpose by A.T @ y"),
    (lambda: y() * A(), "A * x: an operator is applied by A @ x"),
    (lambda: "2" * A(), "can't multiply sequence"),
    (lambda: A().matvec(1j * y().ravel()), "x: complex64 values; give real numbers"),
    (lambda: A() @ [[1, 2], [3]], "x: parts of a list have unlike shapes; give an array"),
]


@pytest.mark.parametrize("call, words", MISTAKES, ids=[words[:40] for _, words in MISTAKES])
def test_a_mistake_is_answered_in_one_line(call, words):
    with pytest.raises(TypeError) as seen:
        call()
    text = str(seen.value)
    assert words in text and "\n" not in text and "nanobind" not in text and "_core" not in text and len(text) < 300


def test_values_that_make_no_sense_stay_errors_of_geometry():
    with pytest.raises(tandem.GeometryError, match="-1 threads; 0"):
        tandem.set_threads(-1)
    with pytest.raises(tandem.UsageError, match="run: stop is -1; give a number of steps from 0 on"):
        tandem.run(tandem.Cgls(A(), y()), -1)
    with pytest.raises(tandem.SpaceError, match=r"x: shape \(5,\); 256 elements are needed"):
        A().matvec(np.ones(5, np.float32))
    with pytest.raises(tandem.DeviceError, match="device '0' is not known; cpu, cuda or cuda:N"):
        tandem.projector(parallel_scan(), device=0)
    for views in ("abc", [0.5], None, [[0, 1], [2, 3]]):
        with pytest.raises(IndexError, match="with_views: views is .*; give numbers of views, a slice or a mask"):
            tandem.with_views(parallel_scan(), views)
    with pytest.raises(tandem.GeometryError, match="views: none is given"):
        tandem.with_views(parallel_scan(), [])
    with pytest.raises(tandem.GeometryError, match="Cgls: the back-projection of A is not the transpose.*BaGmres"):
        tandem.Cgls(tandem.unmatched_pair(A(), 2 * A().T), y())
    for solver in (tandem.Lsqr, tandem.Lsmr):
        with pytest.raises(tandem.GeometryError, match="allow_unmatched=True"):
            solver(tandem.vstack([A(), tandem.unmatched_pair(A(), A().T)]), (y(), y()))
    with pytest.raises(tandem.GeometryError, match="data_weights of block 0 are negative"):
        tandem.Cgls(A(), y(), data_weights=-y())
    with pytest.raises(tandem.GeometryError, match="tikhonov_weight -1; a positive number is needed"):
        tandem.Cgls(A(), y(), tikhonov_weight=-1)
    pair = tandem.unmatched_pair(A(), A().T)
    assert not (2 * pair.T + pair.T).is_matched and A().is_matched
    tandem.run(tandem.Cgls(pair, y(), allow_unmatched=True), 2)
    tandem.run(tandem.BaGmres(pair, y()), 2)


def test_what_is_clear_is_done():
    assert tandem.Detector(256.0, 2.0) == tandem.Detector(256, 2)
    assert tandem.VolumeGrid((8.0, 8, 2), 0.5) == tandem.VolumeGrid((8, 8, 2), (0.5, 0.5, 0.5))
    one = tandem.Ellipsoid(1, (2, 2, 2))
    assert tandem.Phantom(one) == tandem.Phantom([one])
    solver = tandem.Sirt(A(), y(), bounds=(0, 0.01))
    assert tandem.run(solver, 10).iterations == 10
    assert 0 <= solver.solution.min() and solver.solution.max() <= np.float32(0.01)
    assert tandem.run(tandem.Sirt(A(), y(), bounds=(0, None)), np.int64(2)).iterations == 2
    scan = parallel_scan()
    data = random_array(tandem.projection_shape(scan))
    for name, window in (("Hann", "hann"), ("ram-lak", "ramp"), ("Shepp-Logan", "shepp")):
        np.testing.assert_array_equal(tandem.fbp(scan, filter=name) @ data, tandem.fbp(scan, filter=window) @ data)
    np.testing.assert_array_equal((A() / 2).T @ y(), (0.5 * A()).T @ y())
    np.testing.assert_array_equal(sum([A(), A()]).T @ y(), (2 * A()).T @ y())
    np.testing.assert_array_equal(tandem.diagonal(2.0, A().domain) @ (A().T @ y()), 2 * (A().T @ y()))


def test_degrees_are_warned_of_at_the_line_of_the_caller():
    with pytest.warns(tandem.RunWarning, match=r"angles_rad: up to 179 rad.*numpy.radians\(angles\)") as seen:
        tandem.ParallelBeam(DETECTOR, np.arange(180))
    assert seen[0].filename == __file__


def test_images_of_two_axes_are_slices_and_sinograms():
    for kind in ("parallel", "fan"):
        scan = parallel_scan(rows=1) if kind == "parallel" else fan_scan()
        B = tandem.projector(scan)
        x = random_array(B.domain.shape[1:])
        data = B @ x
        np.testing.assert_array_equal(data, (B @ x[None])[:, 0])
        np.testing.assert_array_equal(B.T @ data, (B.T @ data[:, None])[0])
        solver = tandem.Cgls(B, data)
        tandem.run(solver, 3)
        whole = tandem.Cgls(B, data[:, None])
        tandem.run(whole, 3)
        np.testing.assert_array_equal(solver.solution, whole.solution[0])
    with pytest.raises(tandem.SpaceError, match="x: shape"):
        projector_of("cone") @ np.ones((3, 3), np.float32)


class Foreign:
    """An array of another library, as xarray, zarr, h5py and dask have it."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("it has to be read")
        return self.array if dtype is None else self.array.astype(dtype)


def test_what_becomes_an_array_is_read_with_a_warning():
    B = projector_of("parallel")
    x = random_array(B.domain.shape)
    wanted = B @ x
    for other in (Foreign(x), x.tolist(), Foreign(x.astype(float))):
        with pytest.warns(tandem.CopyWarning, match="x: a (Foreign|list) is read into an array of NumPy") as seen:
            np.testing.assert_array_equal(B @ other, wanted)
        assert len(seen) == 1 and seen[0].filename == __file__


def test_operators_phantoms_and_scans_are_pickled():
    scan = parallel_scan()
    one = tandem.projector(scan, model="joseph")
    many = [one, one.T, 2 * one, one * one.T, one + one, one - one, tandem.vstack([one, one]),
            tandem.hstack([one, one]), tandem.fbp(scan, filter="hann"), tandem.fdk(cone_scan()),
            tandem.ramp_filter(scan), tandem.backprojector(scan)]
    for B in many:
        again = pickle.loads(pickle.dumps(B))
        x = random_array(B._domain.inner)
        for a, b in zip(np.atleast_1d(B @ x), np.atleast_1d(again @ x)):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(TypeError, match="this operator cannot be pickled"):
        pickle.dumps(tandem.diagonal(np.ones(one.domain.shape, np.float32), one.domain))
    for value in (tandem.shepp_logan(), tandem.Ellipsoid(1, (1, 2, 3), rotation_rad=0.5), tandem.Bounds(0, 3), scan):
        assert pickle.loads(pickle.dumps(value)) == value == copy.deepcopy(value)


def test_functions_and_constructors_have_signatures():
    assert str(inspect.signature(tandem.Detector)).startswith("(bins: 'int', rows: 'int' = 1, *, bin_pitch")
    assert list(inspect.signature(tandem.crop).parameters) == ["scan", "views", "rows", "bins"]
    for name in tandem.__all__:
        value = getattr(tandem, name)
        if callable(value) and not inspect.isclass(value) and inspect.isroutine(value):
            inspect.signature(value)


def test_errors_of_callbacks_stay_as_they_are():
    with pytest.raises(TypeError, match="^Bounds: lowest is 'a'; give a number$"):
        tandem.run(tandem.Cgls(A(), y()), 3, observe=lambda now: tandem.Bounds("a"))


def test_functions_are_pickled_by_their_names():
    for name in tandem.__all__:
        value = getattr(tandem, name)
        if inspect.isfunction(value):
            assert pickle.loads(pickle.dumps(value)) is value


def test_functions_of_commands_have_their_options():
    parameters = inspect.signature(tandem.reconstruct).parameters
    assert {"source", "method", "scan", "iterations", "tv_weight", "slices", "padding"} <= set(parameters)
    assert "json" not in parameters and "quiet" not in parameters and "options" not in parameters
    assert str(inspect.signature(tandem.center)).startswith("(source: 'Any', scan: 'Optional[Scan]' = None, *, flats")
    known = tandem.options()
    assert "weight of total variation" in known["tv_weight"] and "tv_weight  " in repr(known)
    assert set(known) <= set(parameters)
    assert max(map(len, repr(tandem.options("simulate")).splitlines())) <= 118
    with pytest.raises(ValueError, match="options: command is 'info'; give recon, center or simulate"):
        tandem.options("info")


def test_threads_are_set_for_the_process():
    before = tandem.thread_count()
    try:
        tandem.set_threads(1)
        assert tandem.thread_count() == 1
    finally:
        tandem.set_threads(0)
    assert tandem.thread_count() == before


def test_another_thread_may_not_use_a_solver():
    solver, found = tandem.Cgls(A(), y()), []

    def work():
        try:
            solver.step()
        except tandem.DeviceError as error:
            found.append(str(error))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "make and use a solver in one thread" in found[0]
