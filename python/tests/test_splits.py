"""Volumes of disjoint views, denoisers in the place of a regulariser, and tests of what denoisers invent."""
import os

import numpy as np
import pytest
from conftest import cone_scan, dense, fan_scan, odd_angles, parallel_scan, random_array, relative

import tandem


def blur(v, times):
    """Means of neighbours with weights 1, 2, 1 along x and y, again and again: a Gaussian of variance times / 2."""
    for _ in range(times):
        for axis in (-1, -2):
            v = (np.roll(v, 1, axis) + 2 * v + np.roll(v, -1, axis)) / 4
    return v


def even_scan(views, bins=24, rows=2, arc=np.pi, axis=None):
    return tandem.ParallelBeam(tandem.Detector(bins, rows, axis_bin=axis), np.linspace(0, arc, views, endpoint=False))


def data_of(scan, sigma=0.05):
    """A body within the field of view, with noise."""
    length = 0.7 * tandem.half_width(tandem.fitting_grid(scan))
    y = tandem.project(tandem.ellipsoids().scaled(length, 0.5 / length), scan)
    return y + np.float32(sigma) * np.random.default_rng(9).standard_normal(y.shape).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("splits")


@pytest.fixture(scope="module")
def file(folder):
    tandem.simulate(folder / "scan.h5", size=24, bins=31, rows=3, views=121, photons=1e4, axis_bin=14.2, progress=False)
    return str(folder / "scan.h5")


CONE = tandem.ConeBeam(tandem.Detector(24, 8), np.linspace(0, 2 * np.pi, 120, endpoint=False), 60, 90)


@pytest.mark.parametrize("scan", [even_scan(120), even_scan(120, 40, 1, 2 * np.pi, 9.3), CONE],
                         ids=["parallel", "half acquisition", "cone"])
def test_the_mean_of_a_split_is_the_volume_of_all_views(scan):
    y, given = data_of(scan), {"padding": "none", "progress": False}
    volumes = tandem.split(y, 4, scan=scan, **given)
    whole = tandem.reconstruct(y, scan=scan, **given).volume
    assert volumes.shape == (4, *whole.shape) and volumes.dtype == np.float32
    assert relative(volumes.mean(0), whole) < 1e-5
    views = sorted(tandem.view_subsets(scan, 4)[2])
    part = tandem.reconstruct(y[views], scan=tandem.with_views(scan, views), **given).volume
    assert relative(volumes[2], part) < 1e-5


def test_noise_of_a_split_is_independent():
    """Correlations of 1,152 voxels inside the field of view, whose neighbours correlate: chance gives some 0.04."""
    scan = even_scan(240)
    noise, given = data_of(scan) - data_of(scan, 0), {"padding": "none", "progress": False}
    volumes = tandem.split(noise, 4, scan=scan, **given)
    found = np.corrcoef(volumes.reshape(4, -1))
    assert np.abs(found - np.eye(4)).max() < 0.15
    sigma = volumes.std(0, ddof=1) / 2  # the noise of their mean
    mean = tandem.reconstruct(noise, scan=scan, **given).volume
    assert np.sqrt(np.mean(sigma ** 2)) == pytest.approx(np.sqrt(np.mean(mean ** 2)), rel=0.1)


def test_views_of_a_file_are_taken_in_turn(file):
    for views, parts in ((None, ["0::3", "1::3", "2::3"]), ("1:120", ["1:120:3", "2:120:3", "3:120:3"])):
        volumes = tandem.split(file, 3, views=views, fbp_filter="hann", slices=(1, 3), progress=False)
        for volume, part in zip(volumes, parts):
            wanted = tandem.reconstruct(file, views=part, fbp_filter="hann", slices=(1, 3), progress=False,
                                        model=tandem.plan(file)["model"]).volume
            np.testing.assert_array_equal(volume, wanted)


def test_what_is_found_in_the_scan_is_found_once(file):
    axis = tandem.plan(file, rotation_axis="auto")["geometry"]["axis_bin"]
    found = tandem.split(file, 2, rotation_axis="auto", progress=False)
    np.testing.assert_array_equal(found, tandem.split(file, 2, rotation_axis=axis, progress=False))


def test_counts_are_split_with_their_flats():
    scan = even_scan(120)
    flats = np.full((2, 2, 24), 5000, np.float32)
    y = data_of(scan)
    counts = tandem.split(flats[0] * np.exp(-y), 2, scan=scan, flats=flats, progress=False)
    assert relative(counts, tandem.split(y, 2, scan=scan, progress=False)) < 1e-5


SPLITS = [
    ({"count": 1}, tandem.UsageError, "split: count is 1; give 2 volumes or more"),
    ({"count": "many"}, TypeError, "split: count is 'many'; give a whole number of volumes"),
    ({"count": 2.5}, TypeError, "split: count is 2.5; give a whole number of volumes"),
    ({"count": 122}, tandem.UsageError, "split: count is 122 and the scan has 121 views; each volume needs some"),
    ({"count": 2, "method": "tv"}, tandem.UsageError, "split: method is 'tv'; give fbp or fdk"),
    ({"count": 2, "output": "v.h5"}, tandem.UsageError, "split: output has no sense here; volumes are an array"),
    ({"count": 2, "views": "9:2"}, tandem.UsageError, "views: '9:2' is no range"),
]


@pytest.mark.parametrize("given, kind, words", SPLITS, ids=[words[:30] for _, _, words in SPLITS])
def test_a_split_that_makes_no_sense_is_refused(file, given, kind, words):
    with pytest.raises(kind) as seen:
        tandem.split(file, progress=False, **given)
    assert words in str(seen.value) and "\n" not in str(seen.value)


def test_a_split_of_arrays_names_what_counts_views(monkeypatch):
    scan = even_scan(40)
    y = data_of(scan)
    with pytest.raises(tandem.UsageError, match="split: views counts the views of a file; of an array, say it by scan"):
        tandem.split(y, 2, scan=scan, views="::2", progress=False)
    with pytest.warns(tandem.RunWarning, match="split: 10 views for each of 4 volumes: streaks"):
        tandem.split(y, 4, scan=scan, progress=False)
    monkeypatch.setattr(os, "sysconf", lambda name: 64)  # a machine of 4 KiB
    with pytest.raises(tandem.DeviceError, match=r"split: 2 volumes of 24 x 24 x 2 voxels need 8.58e-06 GiB of memory"):
        tandem.split(y, 2, scan=scan, progress=False)


# Denoisers in the place of a regulariser.

SCAN = tandem.ParallelBeam(tandem.Detector(15, 2, axis_bin=6.6), odd_angles(19, np.pi))
A = tandem.projector(SCAN, tandem.VolumeGrid((7, 6, 2), 1.1))
B = random_array(A.range.shape)


@pytest.mark.parametrize("kind", ["parallel", "cone"])
def test_steps_with_a_denoiser_end_where_they_should(kind):
    """x = D(x - At (Ax - b) / W) for D = 1 + s (M - 1), with M symmetric and within 1: a linear equation."""
    if kind == "parallel":
        P, y = A, B
    else:
        scan = cone_scan(11, 4, 9)
        P = tandem.projector(scan, tandem.VolumeGrid((5, 6, 4), tandem.fitting_grid(scan).pitch))
        y = random_array(P.range.shape)
    M = dense(P).astype(float)
    M = M.reshape(-1, M.shape[1])
    shape, W, s = P.domain.shape, 3.0, 0.5
    D = np.stack([((1 - s) * e + s * blur(e, 1)).ravel() for e in np.eye(M.shape[1]).reshape(-1, *shape)], 1)
    step = np.eye(len(D)) - M.T @ M / W
    wanted = np.linalg.solve(np.eye(len(D)) - D @ step, D @ (M.T @ y.ravel().astype(float)) / W)
    solver = tandem.Pdhg(P, y, None, tandem.denoiser(lambda v: blur(v, 1), s), W)
    tandem.run(solver, 3000)
    assert relative(solver.solution.ravel(), wanted) < 1e-3


def test_halves_are_tikhonovs_weight():
    """The proximal map of |x|^2 / 2 halves x."""
    solver = tandem.Pdhg(A, B, None, tandem.denoiser(lambda v: v / 2), 30.0)
    report = tandem.run(solver, tandem.settled(solver, 1e-4) | tandem.max_iterations(2000))
    assert report.stopped_by == ["settled"] * 2
    M = dense(A)
    wanted = np.linalg.solve(M.T @ M + 30 * np.eye(M.shape[1]), M.T @ B.ravel().astype(float))
    assert relative(solver.solution.ravel(), wanted) < 1e-3


def test_a_denoiser_has_no_objective():
    solver = tandem.Pdhg(A, B, None, tandem.denoiser(lambda v: v / 2), 1.0)
    for name, ask in (("objective", solver.objective), ("gap", solver.gap),
                      ("duality_gap", lambda: tandem.duality_gap(solver, 0.1))):
        with pytest.raises(tandem.UsageError, match=f"{name}: with a denoiser nothing is minimised; stop by settled"):
            ask()
    with pytest.raises(TypeError, match="Fista: regulariser is a denoiser, which Pdhg alone takes"):
        tandem.Fista(A, B, None, tandem.denoiser(np.abs), 1.0)
    tandem.Pdhg(A, B, None, tandem.tikhonov(A.domain), 1.0).gap()


DENOISERS = [
    (lambda v: v[0], tandem.SpaceError, r"denoiser: the function gave shape (6, 7); it was given (2, 6, 7)"),
    (lambda v: [1.0], TypeError, "denoiser: the function gave a list; an array of NumPy"),
    (lambda v: v * 1j, TypeError, "denoiser: the function gave an array of complex64; an array of NumPy"),
    (lambda v: None, TypeError, "denoiser: the function gave a NoneType; an array of NumPy"),
    (lambda v: np.where(np.arange(7) == 3, np.nan, v), tandem.UsageError,
     "denoiser: 12 of 84 voxels that the function gave are nan or inf"),
    (lambda v: np.clip(1e20 * v, -3e38, 3e38), tandem.UsageError,
     "denoiser: steps diverge with strength 1, as the function makes"),
]


@pytest.mark.parametrize("function, kind, words", DENOISERS, ids=[words[:50] for _, _, words in DENOISERS])
def test_what_a_denoiser_gives_is_looked_at(function, kind, words):
    solver = tandem.Pdhg(A, B, None, tandem.denoiser(lambda v: v), 1.0)
    tandem.run(solver, 2)
    with pytest.raises(kind) as seen:
        tandem.run(tandem.Pdhg(A, B, None, tandem.denoiser(function), 1.0), 5)
    assert words in str(seen.value) and "\n" not in str(seen.value)
    for strength in (0, -1, 1.1, float("nan")):
        with pytest.raises(tandem.UsageError, match="denoiser: strength .*; a number above 0 and at most 1 is needed"):
            tandem.denoiser(function, strength)


def test_steps_that_diverge_are_a_warning():
    solver = tandem.Pdhg(A, B, None, tandem.denoiser(lambda v: 1.5 * v), 30.0)
    with pytest.warns(tandem.RunWarning, match="steps with this denoiser diverge: .* has grown tenfold"):
        tandem.run(solver, 20)


def test_the_weight_of_a_denoiser_is_found():
    """Near the least error of weights around it."""
    scan = even_scan(24, 32, 1)
    P, phantom = tandem.projector(scan, model="joseph"), tandem.ellipsoids().scaled(16)
    truth, y = tandem.voxelise(phantom, tandem.fitting_grid(scan)), tandem.project(phantom, scan)
    y = y + np.random.default_rng(5).normal(0, 0.03 * y.max(), y.shape).astype(np.float32)
    parts = [(tandem.with_views(scan, views), y[views]) for views in tandem.view_subsets(scan, 2)]
    smooth = tandem.denoiser(lambda v: blur(v, 2))
    found = tandem.find_weight([tandem.projector(s, model="joseph") for s, _ in parts], [d for _, d in parts],
                               [tandem.fbp(s) for s, _ in parts], smooth)

    def error(weight):
        solver = tandem.Pdhg(P, y, None, smooth, weight)
        tandem.run(solver, 200)
        return relative(solver.solution, truth)
    assert error(found.weight) < 1.1 * min(error(found.weight * 4.0 ** k) for k in range(-2, 3))


# Tests of what denoisers invent.

N, SIGMA = 64, 0.1
ROUND = even_scan(600, N, 1)
FILTERED = tandem.fbp(ROUND)
OBJECT = tandem.ellipsoids().scaled(24, 0.02)
DATA = tandem.project(OBJECT, ROUND) + np.float32(SIGMA) * np.random.default_rng(1).standard_normal(
    (600, 1, N)).astype(np.float32)
NOISE = float(np.std(FILTERED @ (DATA - tandem.project(OBJECT, ROUND))))
DRAWN = np.zeros((1, N, N), np.float32)
DRAWN[0, 16:26, 36:46] = 3 * NOISE


@pytest.fixture(scope="module")
def volumes():
    return tandem.split(DATA, 4, scan=ROUND, padding="none", progress=False)


def all_checks(denoise, volumes):
    def way(y):
        return denoise(FILTERED @ y)
    return {check.name: check for check in (
        tandem.check_residual(way(DATA), DATA, ROUND, SIGMA), tandem.check_halves(volumes, denoise),
        tandem.check_detail(way, DATA, ROUND, SIGMA), tandem.check_null(way, ROUND, SIGMA, 0.02))}


@pytest.mark.parametrize("denoise", [lambda v: v, lambda v: blur(v, 1)], ids=["nothing", "mild blur"])
def test_honest_denoisers_pass(denoise, volumes):
    checks = all_checks(denoise, volumes)
    assert list(checks) == ["residual", "halves", "detail", "null"]
    for check in checks.values():
        assert check and check.passed and " passed: " in repr(check) and "\n" not in repr(check), check


WRONG = {
    "draws a structure": (lambda v: v + DRAWN, {"residual": "the residual has structure along",
                                                "null": "structure in boxes of 4 x 4"}),
    "draws from noise": (lambda v: v + 2 * (v - blur(v, 2)), {"halves": "halves differ in voxels",
                                                              "null": "structure in voxels"}),
    "blurs details away": (lambda v: blur(v, 18), {"detail": "details are lost",
                                                   "residual": "lacks what the data have"}),
    "gives one picture": (lambda v: np.full_like(v, v.mean()), {"detail": "details are lost",
                                                                "residual": "the residual has structure"}),
    "exaggerates": (lambda v: 2 * v, {"detail": "details are exaggerated", "halves": "halves differ",
                                      "residual": "lacks what", "null": "structure in voxels"}),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_denoisers_fail(wrong, volumes):
    denoise, words = WRONG[wrong]
    checks = all_checks(denoise, volumes)
    for name, said in words.items():
        assert not checks[name] and said in repr(checks[name]) and f"{name} FAILED" in repr(checks[name])


def test_a_volume_that_fits_noise_fails():
    """60 views of 64 bins for 4096 pixels: least squares follow the noise."""
    scan = even_scan(60, N, 1)
    y = tandem.project(OBJECT, scan) + np.float32(SIGMA) * np.random.default_rng(2).standard_normal(
        (60, 1, N)).astype(np.float32)
    solver = tandem.Lsqr(tandem.projector(scan), y)
    tandem.run(solver, 30)
    check = tandem.check_residual(solver.solution, y, scan, SIGMA)
    assert not check and "it fits noise" in check.words and check.numbers["most"] < 0.8


def test_the_truth_passes_with_any_sigma():
    """Noise of another size in each bin, and a volume that is right: 32 bins a row, 8 rows, three kinds of beams."""
    for scan in (parallel_scan(32, 4, 101), fan_scan(32, 301), cone_scan(32, 8, 61)):
        P = tandem.projector(scan)
        x, (_, ny, nx) = random_array(P.domain.shape), P.domain.shape
        x *= np.hypot(np.arange(ny)[:, None] - (ny - 1) / 2, np.arange(nx) - (nx - 1) / 2) < nx / 2 - 1
        sigma = np.random.default_rng(3).uniform(0.5, 2, P.range.shape).astype(np.float32)
        y = P @ x + sigma * np.random.default_rng(4).standard_normal(P.range.shape).astype(np.float32)
        check = tandem.check_residual(x, y, scan, sigma)
        assert check and abs(check.numbers["correlation"]) < 0.05
        assert not tandem.check_residual(x, y, scan, 0.8 * sigma) and not tandem.check_residual(x, y, scan, 1.3 * sigma)


def test_networks_of_two_halves_are_compared(volumes):
    assert tandem.check_halves(volumes, lambda v: blur(v, 1), lambda v: blur(v, 1))
    check = tandem.check_halves(volumes, lambda v: v, lambda v: v + DRAWN)
    assert not check and "boxes of 4 x 4" in check.words


def test_checks_of_a_cone_beam():
    scan = tandem.ConeBeam(tandem.Detector(40, 6), np.linspace(0, 2 * np.pi, 90, endpoint=False), 200, 300)
    F = tandem.fdk(scan)
    flat = tandem.Phantom([tandem.Ellipsoid(0.02, (9, 9, np.inf))])
    y = tandem.project(flat, scan)
    assert tandem.check_detail(lambda y: F @ y, y, scan, 0.05, radius=2.5)
    assert tandem.check_null(lambda y: F @ y, scan, 0.05, 0.02)
    assert not tandem.check_null(lambda y: 1.6 * (F @ y), scan, 0.05, 0.02)


CHECKS = [
    (lambda: tandem.check_residual(DRAWN[:, 1:], DATA, ROUND, 1), "check_residual: x: shape (1, 63, 64); the volume"),
    (lambda: tandem.check_residual(DRAWN, DATA[1:], ROUND, 1), "data: shape (599, 1, 64); the scan needs (600, 1, 64)"),
    (lambda: tandem.check_residual(DRAWN, DATA, ROUND, 0), "check_residual: sigma is 0 somewhere; numbers above 0"),
    (lambda: tandem.check_residual(DRAWN, DATA, ROUND, np.ones(3)), "check_residual: sigma has shape (3,); a number"),
    (lambda: tandem.check_residual(DRAWN + np.nan, DATA, ROUND, 1), "check_residual: x: 4096 voxels are nan or inf"),
    (lambda: tandem.check_halves(DRAWN, abs), "check_halves: volumes has shape (1, 64, 64); (count, slice, y, x)"),
    (lambda: tandem.check_halves(np.ones((2, 1, 9, 9)), lambda v: v[0, 0]), "check_halves: denoise: shape (9,); the"),
    (lambda: tandem.check_detail(abs, DATA, ROUND, 1), "check_detail: reconstruct: shape (600, 1, 64); the volume has"),
    (lambda: tandem.check_detail(abs, DATA, ROUND, 1, places=[(0, 99, 99)]), "check_detail: places has (0, 99, 99)"),
    (lambda: tandem.check_detail(abs, DATA, ROUND, 1, radius=0), "check_detail: radius 0; a number of voxels above 0"),
    (lambda: tandem.check_null(abs, ROUND, 1, 0.02, draws=0), "check_null: draws is 0; give a whole number from 1 on"),
]


@pytest.mark.parametrize("call, words", CHECKS, ids=[words[:40] for _, words in CHECKS])
def test_checks_name_what_is_wrong(call, words):
    with pytest.raises(tandem.Error) as seen:
        call()
    assert words in str(seen.value) and "\n" not in str(seen.value)
