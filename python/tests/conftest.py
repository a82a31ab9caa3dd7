"""Shared by tests: small scans with odd sizes, an axis off the middle and irregular angles."""
import numpy as np
import pytest

import tandem


def odd_angles(views, arc):
    random = np.random.default_rng(7)
    return np.sort(np.linspace(0, arc, views, endpoint=False) + random.uniform(-0.3, 0.3, views) * arc / views)


def parallel_scan(bins=31, rows=3, views=23):
    return tandem.ParallelBeam(tandem.Detector(bins, rows, bin_pitch=0.7, axis_bin=0.5 * bins - 1.7),
                               odd_angles(views, np.pi))


def cone_scan(bins=29, rows=9, views=17):
    return tandem.ConeBeam(tandem.Detector(bins, rows, bin_pitch=0.9, row_pitch=1.3, axis_bin=0.5 * bins - 0.3),
                           odd_angles(views, 2 * np.pi), sod_mm=60, sdd_mm=100, midplane_row=4.2)


def fan_scan(bins=33, views=19):
    return tandem.FanBeam(tandem.Detector(bins, bin_pitch=0.9, axis_bin=0.5 * bins - 1.1),
                          odd_angles(views, 2 * np.pi), sod_mm=70, sdd_mm=110)


def projector_of(kind):
    scan = {"parallel": parallel_scan, "fan": fan_scan, "cone": cone_scan}[kind]()
    grid = tandem.fitting_grid(scan)
    return tandem.projector(scan, tandem.VolumeGrid((27, 25, grid.size[2]), grid.pitch, (0.3, -0.2, 0)))


KINDS = ["parallel", "fan", "cone"]


@pytest.fixture(params=KINDS)
def A(request):
    return projector_of(request.param)


def random_array(shape, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def dense(A):
    """The matrix of a small operator, in double."""
    return np.stack([A.matvec(row) for row in np.eye(A.shape[1], dtype=np.float32)], axis=1).astype(np.float64)


def relative(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return np.linalg.norm(a - b) / np.linalg.norm(b)


EPSILON = float(np.finfo(np.float32).eps)
