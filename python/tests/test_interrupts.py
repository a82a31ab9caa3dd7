"""Ctrl-C reaches long work in C++, and leaves what it ended as it was."""
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from conftest import parallel_scan

import tandem

# The first lines make work that would take hours: a power of (At A / |A|^2), one application of which is one call.
CHILD = """
import os, signal, threading, time
import numpy as np, tandem
scan = tandem.ParallelBeam(tandem.Detector(64, 3), np.linspace(0, np.pi, 90, endpoint=False))
A = tandem.projector(scan)
x = tandem.project(tandem.disc().scaled(20), scan)
x = A.T @ x
wanted = A @ x
long = A.T * A / tandem.operator_norm(A) ** 2
for _ in range(26):
    long = long * long
working = threading.Event()

def interrupt():
    working.wait()
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    working.set()
    {work}
except KeyboardInterrupt:
    np.testing.assert_array_equal(A @ x, wanted)
    print("interrupted")
"""


@pytest.mark.parametrize("work", ["long @ x", "long.apply(x, out=x.copy(), beta=1)", "tandem.Landweber(long, x)",
                                  "tandem.operator_norm(long)"])
def test_a_signal_ends_one_long_application(work):
    """The limit of time is there for a machine that hangs: without a signal the work takes hours."""
    code = textwrap.dedent(CHILD).format(work=work)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0 and ended.stdout == "interrupted\n", ended.stderr


def test_other_threads_are_not_ended():
    import threading
    A = tandem.projector(parallel_scan())
    x = np.ones(A.domain.shape, np.float32)
    results = []
    threads = [threading.Thread(target=lambda: results.append(A @ x)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for y in results:
        np.testing.assert_array_equal(y, A @ x)
