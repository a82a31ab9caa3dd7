"""Whatever comes in, an exception names argument, value and remedy; nothing crashes."""
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import parallel_scan, projector_of, random_array

import tandem


def raises(kind, *words):
    return pytest.raises(kind, match="(?s)" + ".*".join(words))


def test_every_kind_of_error_is_an_error_and_a_builtin():
    for kind, builtin in [(tandem.GeometryError, ValueError), (tandem.SpaceError, ValueError),
                          (tandem.DeviceError, RuntimeError), (tandem.FileError, OSError),
                          (tandem.UsageError, ValueError)]:
        assert issubclass(kind, tandem.Error) and issubclass(kind, builtin)


def test_arrays_of_another_shape_or_type(A):
    x, y = random_array(A._domain.inner), random_array(A._range.inner)
    with raises(tandem.SpaceError, "x: shape", "is needed"):
        A @ y
    with raises(tandem.SpaceError, "x: shape"):
        A @ x[0, 0]
    with raises(tandem.SpaceError, "x: shape"):
        A @ np.array(3, np.float32)
    with raises(TypeError, "x: complex64"):
        A @ x.astype(np.complex64)
    with raises(TypeError, "x:", "values"):
        A @ np.full(x.shape, "a")
    with raises(TypeError, "x: a list of <U1 values"):
        A @ [["a"]]
    with raises(TypeError, "x: str is no array"):
        A @ "a"
    with raises(TypeError, "x: NoneType"):
        A @ None
    with raises(TypeError, "x: a masked array", "filled"):
        A @ np.ma.masked_less(x, 0)
    with raises(TypeError):
        A * "a"
    with raises(TypeError):
        A + 1


@pytest.mark.parametrize("change", [lambda x: x.astype(float), lambda x: x.astype(">f4"), np.asfortranarray,
                                    lambda x: np.repeat(x, 2, axis=-1)[..., ::2], lambda x: x[..., ::-1][..., ::-1][:],
                                    lambda x: np.round(x).astype(int)],
                         ids=["double", "big endian", "Fortran", "strides", "reversed twice", "integers"])
def test_other_layouts_are_copied_with_a_warning_of_this_line(change):
    A = projector_of("cone")
    x = random_array(A._domain.inner)
    changed = change(x)
    if changed.dtype == np.float32 and changed.flags.c_contiguous:
        return np.testing.assert_array_equal(A @ changed, A @ x)
    with pytest.warns(tandem.CopyWarning, match="x: .* is copied") as seen:
        y = A @ changed
    assert seen[0].filename == __file__
    np.testing.assert_array_equal(y, A @ np.ascontiguousarray(changed, np.float32))


def test_read_only_arrays_are_read_and_not_written(A):
    x = random_array(A._domain.inner)
    x.flags.writeable = False
    y = A @ x
    y.flags.writeable = False
    with raises(ValueError, "out: it is read-only"):
        A.apply(x, out=y)


def test_out_must_fit(A):
    x, good = random_array(A._domain.inner), np.empty(A._range.inner, np.float32)
    for out, kind, word in [(good.astype(float), TypeError, "float32"), (good[..., ::2], tandem.SpaceError, "shape"),
                            (np.asfortranarray(good), TypeError, "C order"), ([1], TypeError, "out: list"),
                            (x[None], tandem.SpaceError, "shape")]:
        with raises(kind, word):
            A.apply(x, out=out)
    with raises(ValueError, "beta"):
        A.apply(x, beta=1)


def test_input_and_output_must_not_overlap():
    one = tandem.identity(tandem.Space((2, 3, 5)))
    store = np.zeros(61, np.float32)
    with raises(tandem.SpaceError, "overlap"):
        one.apply(store[:60].reshape(2, 2, 3, 5), out=store[1:].reshape(2, 2, 3, 5))


def test_numbers_that_are_not_finite_are_seen_by_solvers(A):
    """An operator passes them on, as NumPy does."""
    b = random_array(A._range.inner)
    b[3, 0, 4:6] = np.nan, np.inf
    assert not np.isfinite(A.T @ b).all()
    with raises(tandem.GeometryError, "b: 2 of", "replace"):
        tandem.Cgls(A, b)
    with raises(tandem.GeometryError, "x0: 1 of"):
        x0 = np.zeros(A._domain.inner, np.float32)
        x0[0, 0, 0] = np.inf
        tandem.Sirt(A, np.ones_like(b), x0)
    with raises(tandem.GeometryError, "negative"):
        tandem.Mlem(A, -np.ones_like(b))
    with raises(tandem.SpaceError, "b: shape", "no axes before"):
        tandem.Cgls(A, np.stack([np.ones_like(b)] * 2))


def test_geometry_that_makes_no_sense():
    detector = tandem.Detector(31)
    with raises(tandem.GeometryError, "bins"):
        tandem.Detector(0)
    with raises(tandem.GeometryError, "pitch"):
        tandem.Detector(31, bin_pitch=-1)
    with raises(tandem.GeometryError, "axis"):
        tandem.ParallelBeam(tandem.Detector(31, axis_bin=400), [0, 1])
    with raises(tandem.GeometryError, "views|angles"):
        tandem.ParallelBeam(detector, [])
    with raises(tandem.GeometryError, "angle"):
        tandem.ParallelBeam(detector, [0, float("nan")])
    with raises(tandem.GeometryError, "sod|sdd"):
        tandem.ConeBeam(detector, [0, 1], sod_mm=-1, sdd_mm=5)
    with raises(tandem.GeometryError):
        tandem.VolumeGrid((3, 3, 0))
    with raises(TypeError):
        tandem.ParallelBeam(detector, angles=[0, 1])  # the name says that it is radians
    scan = parallel_scan()
    with raises(tandem.GeometryError, "slice|row"):
        tandem.projector(scan, tandem.VolumeGrid((5, 5, 7)))
    with raises(tandem.GeometryError, "jozeph", "joseph"):
        tandem.projector(scan, model="jozeph")
    with raises(tandem.GeometryError, "source"):
        tandem.projector(tandem.ConeBeam(detector, [0, 1], 5, 10), tandem.VolumeGrid((31, 31, 1), (1, 1, 1)))
    with raises(tandem.GeometryError, "window|hanning"):
        tandem.fbp(scan, filter="hanning")
    with raises(TypeError):
        tandem.fdk(scan)


def test_spaces_that_do_not_fit():
    A, B = tandem.projector(parallel_scan()), tandem.projector(parallel_scan(views=24))
    for make in (lambda: A + B, lambda: A * B, lambda: tandem.hstack([A, B])):
        with raises(tandem.SpaceError):
            make()
    with raises(tandem.SpaceError, "2 arrays", "sum of 3"):
        tandem.vstack([A, A, A]).T @ (random_array(A._range.inner), random_array(A._range.inner))
    T = tandem.vstack([A, B])
    with raises(tandem.SpaceError, r"y|x\[1\]: shape"):
        T.T @ (random_array(A._range.inner), random_array(A._range.inner))
    with raises(tandem.SpaceError, "blocks"):
        tandem.Space((1, 2, 3), blocks="planes")
    with raises(tandem.SpaceError, "active: 1"):
        tandem.Cgls(A, np.ones(A._range.inner, np.float32)).step([True])


def test_devices_that_are_not_here():
    with raises(tandem.DeviceError, "gpu", "cuda:N"):
        tandem.projector(parallel_scan(), device="gpu")
    with raises(tandem.DeviceError, "cuda:99"):
        tandem.projector(parallel_scan(), device="cuda:99")
    assert tandem.devices()[0] == "cpu"


def test_a_solver_belongs_to_its_thread():
    A = projector_of("parallel")
    solvers = []
    thread = threading.Thread(target=lambda: solvers.append(tandem.Cgls(A, np.ones(A._range.inner, np.float32))))
    thread.start()
    thread.join()
    with raises(tandem.DeviceError, "thread"):
        solvers[0].step()


def test_threads_share_an_operator(A):
    x = [random_array(A._domain.inner, seed) for seed in range(8)]
    wanted, found = [A @ v for v in x], [None] * 8

    def work(k):
        for _ in range(5):
            found[k] = A @ x[k]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, b in zip(wanted, found):
        np.testing.assert_array_equal(a, b)


def test_other_threads_run_while_an_operator_works():
    A = tandem.projector(parallel_scan(bins=301, rows=4, views=200))
    x, ticks, done = random_array(A._domain.inner), [0], threading.Event()

    def tick():
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before, start = ticks[0], time.perf_counter()
    while time.perf_counter() - start < 0.5:
        A @ x
    between = ticks[0] - before
    done.set()
    thread.join()
    assert between > 20


def _in_a_child(A, x, queue):
    queue.put(A @ x)


def test_forked_workers_compute():
    A = projector_of("cone")
    x = random_array(A._domain.inner)
    wanted = A @ x
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_a_child, args=(A, x, queue))
    child.start()
    found = queue.get(timeout=60)
    child.join(60)
    np.testing.assert_array_equal(found, wanted)


def test_ctrl_c_ends_a_solver_at_the_next_step():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells may have told to ignore it
    A = projector_of("parallel")
    solver, seen = tandem.Cgls(A, np.ones(A._range.inner, np.float32)), []

    def observe(now):
        seen.append(now.iteration)
        if now.iteration == 3:
            os.kill(os.getpid(), signal.SIGINT)

    try:
        with pytest.raises(KeyboardInterrupt):
            tandem.run(solver, tandem.max_iterations(1000), observe)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen[-1] <= 4
    assert np.isfinite(solver.solution).all()


@pytest.mark.parametrize("work", [lambda A: tandem.operator_norm(A, 10**8), lambda A: tandem.adjointness(A, 10**8)],
                         ids=["operator_norm", "adjointness"])
def test_ctrl_c_ends_what_applies_an_operator_again_and_again(work):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    A = projector_of("fan")
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            work(A)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert np.isfinite(tandem.operator_norm(A))


@pytest.mark.parametrize("body", [
    "keep = [A, A @ x, tandem.Cgls(A, A @ x)]",
    "import sys; sys.keep = [A, tandem.run, tandem.Cgls(A, A @ x)]",
    "import threading; threading.Thread(target=lambda: [A @ x for _ in range(200)], daemon=True).start(); A @ x",
    "import contextlib, threading, time; b = A @ x\n"
    "def run():\n"
    "    with contextlib.suppress(tandem.Error):  # it says that Python ends\n"
    "        tandem.run(tandem.Cgls(A, b), tandem.max_iterations(10**9))\n"
    "threading.Thread(target=run, daemon=True).start(); time.sleep(0.2)",
    "space = A.domain; B = tandem.make_operator(space, space, lambda x: x, lambda x: x); B @ x; import sys; sys.k = B",
])
def test_the_interpreter_ends_with_all_of_it_alive(body):
    program = ("import numpy as np, tandem\n"
               "A = tandem.projector(tandem.ParallelBeam(tandem.Detector(64, 2), np.linspace(0, 3, 50)))\n"
               "x = np.ones(A.domain.shapes[0], np.float32)\n" + body)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0 and ended.stderr == ""


def test_views_are_numbered_as_numpy_has_them():
    scan = tandem.ParallelBeam(tandem.Detector(16), np.arange(10) / 3)
    angles = np.asarray(scan.angles_rad)
    for views in ([2, 0], [-1], slice(1, None, 4), angles > 1, 3):
        assert tandem.with_views(scan, views).angles_rad == np.atleast_1d(angles[views]).tolist()
    for views in ([10], [-11], [10**12], [0.5]):
        with pytest.raises(IndexError):
            tandem.with_views(scan, views)
    with pytest.raises(tandem.GeometryError, match="none is given"):
        tandem.with_views(scan, slice(0, 0))


def test_counts_below_one_are_refused():
    scan = tandem.ParallelBeam(tandem.Detector(16), np.arange(10) / 3)
    A = tandem.projector(scan)
    for call, words in ((lambda: tandem.bin_down(scan, -1), "binning -1"),
                        (lambda: tandem.adjointness(A, trials=0), "0 trials"),
                        (lambda: tandem.operator_norm(A, -5), "-5 iterations"),
                        (lambda: tandem.project(tandem.disc(), scan, samples=0), "0 samples"),
                        (lambda: tandem.voxelise(tandem.disc(), tandem.fitting_grid(scan), samples=0), "0 samples"),
                        (lambda: tandem.Ellipsoid(1, (1, -1, 1)), "semi-axis 1 is -1"),
                        (lambda: tandem.Ellipsoid(1, (np.nan, 1, 1)), "semi-axis 0 is nan"),
                        (lambda: tandem.view_subsets(scan, 0), "0 of 10"),
                        (lambda: tandem.crop(scan, views=(5, 99)), "99")):
        with pytest.raises(tandem.GeometryError, match=words):
            call()


def test_stop_rules_are_joined_by_a_bar():
    with pytest.raises(TypeError, match=r"rule \| other"):
        tandem.max_iterations(3) or tandem.time_limit(1)
