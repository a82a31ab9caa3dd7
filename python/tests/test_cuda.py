"""Arrays of a GPU, used where they lie, on the caller's stream. Skipped without a GPU, or without torch or CuPy."""
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import EPSILON, KINDS, parallel_scan, projector_of, random_array, relative

import tandem

pytestmark = pytest.mark.skipif(len(tandem.devices()) < 2, reason="no GPU here, or a build without CUDA")


class Torch:
    def __init__(self):
        self.library = pytest.importorskip("torch")
        if not self.library.cuda.is_available():
            pytest.skip("torch sees no GPU")
        self.stream, self.use = self.library.cuda.Stream, self.library.cuda.stream

    def array(self, host):
        return self.library.tensor(host, device="cuda:0")

    def host(self, array):
        return array.cpu().numpy()

    def synchronize(self):
        self.library.cuda.synchronize()

    def used(self):
        return self.library.cuda.memory_allocated()


class Cupy:
    def __init__(self):
        self.library = pytest.importorskip("cupy")
        self.stream, self.use = lambda: self.library.cuda.Stream(non_blocking=True), lambda stream: stream

    def array(self, host):
        return self.library.asarray(host)

    def host(self, array):
        return array.get()

    def synchronize(self):
        self.library.cuda.Device().synchronize()

    def used(self):
        return self.library.get_default_memory_pool().used_bytes()


@pytest.fixture(params=[Torch, Cupy], ids=["torch", "cupy"])
def gpu(request):
    return request.param()


def on_gpu(kind):
    """A projector of the scan and the grid of `projector_of`, on the GPU."""
    from conftest import cone_scan, fan_scan
    scan = {"parallel": parallel_scan, "fan": fan_scan, "cone": cone_scan}[kind]()
    grid = tandem.fitting_grid(scan)
    return tandem.projector(scan, tandem.VolumeGrid((27, 25, grid.size[2]), grid.pitch, (0.3, -0.2, 0)),
                            device="cuda:0")


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_the_cpus_and_lie_on_the_gpu(gpu, kind):
    A, there = projector_of(kind), on_gpu(kind)
    for B, C in ((A, there), (A.T, there.T)):
        x = random_array((2, *B._domain.inner))
        y = C @ gpu.array(x)
        assert type(y) is type(gpu.array(x)) and "cuda" in str(y.device).lower()
        assert relative(gpu.host(y), B @ x) < 2e-6
    assert tandem.adjointness(there).mismatch < 2e-6


@pytest.mark.parametrize("offset", [0, 1, 3])
def test_arrays_may_begin_at_any_float(gpu, offset):
    for A in (on_gpu("parallel"), on_gpu("cone")):
        for B in (A, A.T):
            n = int(np.prod(B._domain.inner))
            store = gpu.array(random_array(n + offset))
            y = B @ store[offset:].reshape(B._domain.inner)
            x = gpu.array(gpu.host(store)[offset:].reshape(B._domain.inner))
            np.testing.assert_array_equal(gpu.host(y), gpu.host(B @ x))


def test_work_is_queued_in_the_order_of_the_callers_stream(gpu):
    """The input is made on the stream just before, slowly; a race would read it too early."""
    A = on_gpu("parallel")
    x = random_array(A._domain.inner)
    wanted = gpu.host(A @ gpu.array(x))
    for _ in range(5):
        stream = gpu.stream()
        with gpu.use(stream):
            slow = gpu.array(np.ones((3000, 3000), np.float32))
            for _ in range(10):
                slow = slow @ slow * 1e-4
            late = gpu.array(x) + 0 * slow[0, 0]
            y = A @ late
            z = 2 * y  # on the same stream, behind
        gpu.synchronize()
        np.testing.assert_array_equal(gpu.host(y), wanted)
        np.testing.assert_array_equal(gpu.host(z), 2 * wanted)


def test_a_call_does_not_wait_for_the_device(gpu):
    """A call returns long before the work that was queued on the stream before it is done."""
    import time
    A = on_gpu("cone")
    x = gpu.array(random_array(A._domain.inner))
    A @ x
    slow = gpu.array(np.ones((6000, 6000), np.float32))
    slow @ slow
    gpu.synchronize()
    start = time.perf_counter()
    for _ in range(30):
        slow = slow @ slow * 1e-4
    y = A @ x
    returned = time.perf_counter() - start
    gpu.synchronize()
    done = time.perf_counter() - start
    assert returned < 0.5 * done, (returned, done)
    assert np.isfinite(gpu.host(y)).all()


def test_memory_is_given_back(gpu):
    A = on_gpu("parallel")
    x = gpu.array(random_array(A._domain.inner))
    A.T @ (A @ x)
    gpu.synchronize()
    before = gpu.used()
    for _ in range(1000):
        A.T @ (A @ x)
    gpu.synchronize()
    assert gpu.used() == before


@pytest.mark.parametrize("kind", [tandem.Cgls, tandem.Sirt, tandem.Lsqr], ids=lambda kind: kind.__name__)
def test_solvers_run_on_the_gpu_and_across_streams(gpu, kind):
    A, there = projector_of("cone"), on_gpu("cone")
    b = A @ np.abs(random_array(A._domain.inner))
    here = kind(A, b)
    tandem.run(here, tandem.max_iterations(8))
    solver = kind(there, gpu.array(b))
    tandem.run(solver, tandem.max_iterations(4))
    stream = gpu.stream()
    with gpu.use(stream):
        for _ in range(4):
            solver.step()
        x = solver.solution
    gpu.synchronize()
    assert relative(gpu.host(x), here.solution) < 1e-4
    del stream, solver
    gpu.synchronize()


def test_arrays_of_the_wrong_device_are_refused(gpu):
    A, there = projector_of("cone"), on_gpu("cone")
    x = random_array(A._domain.inner)
    with pytest.raises(tandem.DeviceError, match="x: lies on cpu.*cuda:0"):
        there @ x
    with pytest.raises(tandem.DeviceError, match="x: lies on cuda:0.*cpu"):
        A @ gpu.array(x)


def test_copies_stay_on_the_gpu(gpu):
    A = on_gpu("cone")
    x = random_array(A._domain.inner)
    wide = gpu.array(np.repeat(x, 2, axis=-1))
    with pytest.warns(tandem.CopyWarning):
        y = A @ wide[..., ::2]
    np.testing.assert_array_equal(gpu.host(y), gpu.host(A @ gpu.array(x)))


def test_any_cuda_array_is_taken():
    cupy = pytest.importorskip("cupy")

    class Foreign:
        def __init__(self, array):
            self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__
    A = on_gpu("parallel")
    x = random_array(A._domain.inner)
    y = A @ Foreign(cupy.asarray(x))
    assert isinstance(y, cupy.ndarray)
    np.testing.assert_array_equal(y.get(), (A @ cupy.asarray(x)).get())


def test_layers_train_on_the_gpu():
    torch = Torch().library
    from tandem.torch import Fbp, Projector
    scan = parallel_scan(31, 1, 41)
    A, B = Projector(scan, images=True), Fbp(scan, images=True)
    x = torch.rand(2, 1, 31, 31, device="cuda", requires_grad=True)
    loss = (B(A(x)) - x.detach()).square().sum()
    loss.backward()
    cpu = x.detach().cpu().requires_grad_()
    (B(A(cpu)) - cpu.detach()).square().sum().backward()
    assert relative(x.grad.cpu(), cpu.grad) < 1e-5
    with torch.autocast("cuda", torch.float16):
        assert A(x).dtype == torch.float32


def test_the_current_gpu_of_the_caller_stays(gpu):
    torch = Torch().library
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU here")
    with torch.cuda.device(1):
        A = on_gpu("cone")
        assert torch.cuda.current_device() == 1
        b = A @ torch.ones(A._domain.inner, device="cuda:0")
        assert torch.cuda.current_device() == 1
        solver = tandem.Cgls(A, b)
        solver.step()
        del solver
        assert torch.cuda.current_device() == 1


def _forked(queue):
    try:
        tandem.projector(parallel_scan(), device="cuda:0")
        queue.put("made")
    except tandem.DeviceError as error:
        queue.put(str(error))


def test_forked_workers_are_told():
    import multiprocessing
    on_gpu("parallel")
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_forked, args=(queue,))
    child.start()
    assert "spawn" in queue.get(timeout=60)
    child.join(60)


def test_threads_use_streams_of_their_own(gpu):
    A = on_gpu("parallel")
    x = [random_array(A._domain.inner, k) for k in range(4)]
    wanted, found = [gpu.host(A @ gpu.array(v)) for v in x], [None] * 4

    def work(k):
        with gpu.use(gpu.stream()):
            for _ in range(20):
                y = A @ gpu.array(x[k])
            found[k] = gpu.host(y)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, b in zip(wanted, found):
        np.testing.assert_array_equal(a, b)


def test_an_operator_may_go_before_its_work_is_done(gpu):
    A = on_gpu("parallel")
    x = gpu.array(random_array(A._domain.inner))
    wanted = gpu.host(A @ x)
    slow = gpu.array(np.ones((4000, 4000), np.float32))
    for _ in range(5):
        slow = slow @ slow * 1e-4
    ys = [on_gpu("parallel") @ x for _ in range(20)]
    for y in ys:
        np.testing.assert_array_equal(gpu.host(y), wanted)


@pytest.mark.parametrize("last", ["", "import sys; sys.keep = [A, y]", "del A"])
def test_the_interpreter_ends_with_work_under_way(last):
    pytest.importorskip("torch")
    program = ("import numpy as np, tandem, torch\n"
               "scan = tandem.ParallelBeam(tandem.Detector(64, 2), np.linspace(0, 3, 50))\n"
               "A = tandem.fbp(scan, device='cuda') * tandem.projector(scan, device='cuda')\n"
               "x = torch.ones(A.domain.shapes[0], device='cuda')\n"
               "for _ in range(100): y = A @ x\n" + last)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0 and ended.stderr == ""
