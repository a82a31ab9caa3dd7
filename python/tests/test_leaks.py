"""A thousand calls leave nothing behind."""
import gc
import pickle
import resource
import tracemalloc

import numpy as np
from conftest import parallel_scan

import tandem


class Own:
    def value(self, v):
        return np.abs(v).sum((1, 2))

    def prox(self, v, step):
        return v / (1 + step)


def calls():
    scan = parallel_scan(bins=12, rows=1, views=5)
    A = tandem.projector(scan)
    x = np.ones(A.domain.shape, np.float32)
    proj_geom, vol_geom = tandem.scan_to("astra", scan), tandem.grid_to("astra", tandem.fitting_grid(scan))

    def one(heavy):
        y = A @ x
        (2 * A.T / 2) @ y
        A @ x[0]
        if heavy:
            solver = tandem.Cgls(A, y)
            solver.step()
            solver = tandem.Cgls(A, y, data_weights=y, tikhonov_weight=0.1, gcv=True)
            tandem.run(solver, tandem.gcv(solver) | tandem.max_iterations(2))
            pickle.loads(pickle.dumps(solver)).step()
            tandem.run(tandem.Pdhg(A, y, None, Own(), 0.1), 2)
            tandem.find_weight([A, A], [y, 2 * y], [A.T, A.T], tandem.tikhonov(A.domain))
            tandem.fbp(proj_geom, vol_geom) @ y[:, 0]
        repr(scan), repr(A), tandem.Detector(12.0) == scan.detector, hash(tandem.VolumeGrid((3, 3, 1), 0.5))
        for wrong in (lambda: tandem.VolumeGrid(64), lambda: tandem.fitting_grid(3)):
            try:
                wrong()
            except TypeError:
                pass
    return one


def test_a_thousand_calls_leave_nothing():
    """What Python has allocated, and the memory of the process: a leak of one small array a call would be 100 kB."""
    one = calls()
    for _ in range(50):
        one(True)
    gc.collect()
    tracemalloc.start()
    before, peak = tracemalloc.get_traced_memory()[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for k in range(1000):
        one(k % 10 == 0)
    gc.collect()
    left = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert left < 50_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 8_000  # kB


def test_reconstructions_of_arrays_leave_nothing():
    scan = parallel_scan(bins=12, rows=1, views=7)
    y = tandem.project(tandem.disc().scaled(3), scan)
    for _ in range(5):
        tandem.reconstruct(y, scan=scan, progress=False)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(20):
        tandem.reconstruct(y, scan=scan, progress=False)
    gc.collect()
    left = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert left < 50_000
