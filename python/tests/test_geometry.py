"""Views of any geometry, in Python."""
import copy
import os
import pickle
import sys

import numpy as np
import pytest

import tandem


def circle():
    return tandem.ConeBeam(tandem.Detector(24, 20, bin_pitch=0.5, axis_bin=12.3), np.arange(9) * np.pi / 5, 60, 90)


def tilted():
    """A laminography of parallel rays: direction, middle of the detector, steps."""
    views = []
    for angle in np.arange(7) * 0.9:
        along, level = np.array([np.cos(angle), np.sin(angle), 0]), np.array([-np.sin(angle), np.cos(angle), 0])
        ray = np.cos(0.6) * level + np.sin(0.6) * np.array([0, 0, 1])
        views.append(np.concatenate([ray, [0, 0, 0], 0.5 * along, 0.5 * np.cross(along, ray)]))
    return tandem.FlexibleBeam(24, 20, np.array(views).tolist(), parallel=True)


def test_a_circle_becomes_views_and_a_circle_again():
    free = tandem.as_free_views(circle())
    assert (free.bins, free.rows, len(free.vectors), free.parallel) == (24, 20, 9, False)
    found, grid = tandem.as_circle(free), tandem.VolumeGrid((16, 16, 8), (0.3, 0.3, 0.3))
    assert (found.sod_mm, found.sdd_mm, found.detector.axis_bin) == (60, 90, 12.3)
    x = np.random.default_rng(2).random((8, 16, 16), dtype=np.float32)
    assert np.array_equal(tandem.projector(found, grid) @ x, tandem.projector(circle(), grid) @ x)
    assert tandem.as_circle(tilted()) is None


def test_views_are_values():
    scan = tilted()
    assert pickle.loads(pickle.dumps(scan)) == scan and copy.copy(scan) == scan
    assert scan.detector.bin_pitch == 0.5
    assert tandem.crop(scan, views=(2, 5)).vectors == scan.vectors[2:5]


def test_solvers_take_them():
    scan = tilted()
    grid = tandem.VolumeGrid((16, 16, 8), (0.5, 0.5, 0.5))
    A = tandem.projector(scan, grid)
    x = np.random.default_rng(3).random((8, 16, 16), dtype=np.float32)
    y = A @ x
    assert y.shape == tandem.projection_shape(scan) == (7, 20, 24)
    z = np.random.default_rng(4).random(y.shape, dtype=np.float32)
    assert np.vdot(y.astype(float), z) == pytest.approx(np.vdot(x.astype(float), A.T @ z), rel=1e-5)


def test_filters_take_those_of_some_orbits():
    free, grid = tandem.as_free_views(circle()), tandem.VolumeGrid((16, 16, 8), (0.3, 0.3, 0.3))
    y = tandem.project(tandem.Phantom([tandem.Ellipsoid(1, (2, 1.5, 1), (0.3, 0, 0))]), circle())
    by_views, by_angles = tandem.fdk(free, grid, "hann") @ y, tandem.fdk(circle(), grid, "hann") @ y
    assert np.linalg.norm(by_views - by_angles) < 0.02 * np.linalg.norm(by_angles)
    B, F = tandem.backprojector(free, grid), tandem.ramp_filter(free, "hann", grid=grid)
    assert np.array_equal(B @ (F @ y), by_views)
    assert (tandem.fbp(tilted()) @ np.ones((7, 20, 24), np.float32)).shape == tandem.fitting_grid(tilted()).shape
    views = np.array(free.vectors)
    views[:, :3] = np.linspace([-6, -60, 0], [6, -60, 0], 9)
    views[:, 3:] = [0, 30, 0, 0.5, 0, 0, 0, 0, 0.5]
    with pytest.raises(tandem.GeometryError, match="sources lie on a line; a solver takes such views"):
        tandem.fdk(tandem.FlexibleBeam(24, 20, views.tolist()), grid)


def test_detectors_may_be_curved():
    scan, grid = tandem.as_free_views(circle(), curved=True), tandem.VolumeGrid((16, 16, 8), (0.3, 0.3, 0.3))
    assert scan.curved and not tandem.as_free_views(circle()).curved
    assert tandem.FlexibleBeam(24, 20, scan.vectors, curved=True) == pickle.loads(pickle.dumps(scan)) == scan
    assert tandem.FlexibleBeam(24, 20, scan.vectors) != scan and tandem.as_circle(scan) is None
    body = tandem.Phantom([tandem.Ellipsoid(1, (2, 1.5, 1), (0.3, 0, 0))])
    round, flat = (tandem.fdk(s, grid, "hann") @ tandem.project(body, s) for s in (scan, circle()))
    assert np.linalg.norm(round - flat) < 0.02 * np.linalg.norm(flat)
    A, x = tandem.projector(scan, grid), np.random.default_rng(3).random((8, 16, 16), dtype=np.float32)
    y = np.random.default_rng(4).random((9, 20, 24), dtype=np.float32)
    assert np.vdot((A @ x).astype(float), y) == pytest.approx(np.vdot(x.astype(float), A.T @ y), rel=1e-5)


def kinds():
    detector = tandem.Detector(24, 20, bin_pitch=0.5)
    angles = np.arange(9) * np.pi / 9
    return [tandem.ParallelBeam(detector, angles), tandem.FanBeam(tandem.Detector(24, bin_pitch=0.5), 2 * angles, 60, 90),
            circle(), tilted()]


@pytest.mark.parametrize("scan", kinds(), ids=lambda scan: type(scan).__name__)
def test_every_scan_shows_itself(scan, monkeypatch, capsys):
    page = scan.page()
    assert page.startswith("<!") and f'"count":{len(tandem.as_free_views(scan).vectors)}' in page
    assert "default-src 'none'" in page, "the page needs no network"
    assert "&lt;script" in scan._repr_html_() and scan._repr_html_().startswith("<iframe")
    assert '"size":[8,9,10]' in scan.page(tandem.VolumeGrid((8, 9, 10)))
    opened = []
    monkeypatch.setattr("webbrowser.get", object)
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert scan.show() is None
    with open(opened[0].removeprefix("file://"), encoding="utf-8") as file:
        assert file.read() == page
    os.remove(opened[0].removeprefix("file://"))
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert scan.show()._repr_html_() == scan._repr_html_()
