import os
import subprocess
import threading
import time

import numpy as np
import pytest
from conftest import parallel_scan, random_array, relative

import tandem

PROGRAM = os.environ.get("TANDEM_PROGRAM")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("scans")


@pytest.fixture(scope="module")
def file(folder):
    return tandem.simulate(folder / "scan.h5", size=48, rows=3, bins=61, views=90, axis_bin=28.3, photons=1e4,
                           progress=False)


def test_a_scan_says_what_it_is(file):
    assert file.format == "DXchange" and type(file.scan) is tandem.ParallelBeam
    assert file.scan.detector.bins == 61 and file.axis_bin == pytest.approx(28.3)
    assert file.scan.angles_rad[1] == pytest.approx(np.pi / 90)
    assert file.projections.shape == (90, 3, 61) and file.projections.dtype == np.uint16
    assert len(file.flats) == len(file.darks) == 10


def test_frames_are_read_as_numpy_indexes_them(file):
    whole = file.projections[:]
    assert np.array_equal(np.asarray(file.projections), whole)
    for key in [3, -1, slice(2, 7), (slice(None), 1), (Ellipsis, slice(10, 20)), (5, 2, 7),
                (slice(80, 4, -7), 1, slice(None, None, 3)), (slice(4, 4),), (slice(None), slice(None), -2)]:
        np.testing.assert_array_equal(file.projections[key], whole[key])
    for key in [90, (0, 3), (0, 0, 0, 0)]:
        with pytest.raises(IndexError):
            file.projections[key]


def test_line_integrals_are_those_of_counts(file):
    y, scan = file.line_integrals(rows=(1, 3))
    counts, flats, darks = (frames[:, 1:3].astype(float) for frames in (file.projections, file.flats, file.darks))
    wanted = -np.log(np.maximum((counts - darks.mean(0)) / (flats.mean(0) - darks.mean(0)), 1e-6))
    assert np.abs(y - wanted).max() < 1e-5
    assert y.shape == tandem.projection_shape(scan) == (90, 2, 61)


def test_threads_share_a_file(file):
    whole, found = file.projections[:], [None] * 6

    def work(k):
        for v in range(90):
            found[k] = file.projections[v]
            assert np.array_equal(found[k], whole[v])
    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f is not None for f in found)


@pytest.mark.skipif(not PROGRAM, reason="TANDEM_PROGRAM does not name the program")
@pytest.mark.parametrize("method, options", [("fbp", {"fbp_filter": "hann"}), ("cgls", {"iterations": 4}),
                                             ("tv", {"tv_weight": 0.05, "iterations": 10, "nonnegative": True})])
def test_volumes_have_the_bits_of_the_program(file, folder, method, options):
    target = folder / f"{method}.h5"
    words = [w for k, v in options.items() for w in [f"--{k.replace('_', '-')}", *([] if v is True else [str(v)])]]
    subprocess.run([PROGRAM, "recon", file.path, "-o", target, "--reconstruction-algorithm", method, *words, "--quiet"],
                   check=True, capture_output=True)
    made = tandem.reconstruct(file.path, method=method, progress=False, **options)
    np.testing.assert_array_equal(made.volume, tandem.read_volume(target))
    assert made.report["algorithm"] == method and made.report["version"] == tandem.__version__
    assert made.plan["volume"] == made.report["volume"] and "seconds" not in made.plan


def test_a_reconstruction_is_that_of_operators(folder):
    """Data without noise, so that nothing but the logarithm of the program is between."""
    exact = tandem.simulate(folder / "exact.h5", size=48, rows=2, bins=61, views=90, axis_bin=28.3, progress=False)
    y, scan = exact.line_integrals()
    made = tandem.reconstruct(exact.path, model="pixel_driven", padding="none", size=48, progress=False)
    grid = tandem.VolumeGrid((48, 48, 2), tandem.fitting_grid(scan).pitch)
    scan = tandem.ParallelBeam(tandem.Detector(61, 2, axis_bin=exact.axis_bin), scan.angles_rad)
    assert relative(tandem.fbp(scan, grid) @ y, made.volume) < 1e-4


@pytest.mark.parametrize("with_counts", [False, True])
def test_arrays_are_reconstructed(file, with_counts):
    scan = tandem.ParallelBeam(tandem.Detector(61, 3, axis_bin=28.3), file.scan.angles_rad)
    wanted = tandem.reconstruct(file.path, progress=False).volume
    if with_counts:
        made = tandem.reconstruct(file.projections[:], scan=scan, flats=file.flats[:], darks=file.darks[:],
                                  progress=False)
        assert relative(made.volume, wanted) < 1e-5
    else:
        made = tandem.reconstruct(file.line_integrals()[0], scan=scan, progress=False)
        assert relative(made.volume, wanted) < 1e-3  # means of flats and darks are all that the program takes here, too
    with pytest.raises(TypeError, match="scan: the geometry"):
        tandem.reconstruct(file.projections[:])
    with pytest.raises(tandem.SpaceError, match=r"projections: shape \(89, 3, 61\).*\(90, 3, 61\)"):
        tandem.reconstruct(file.projections[1:], scan=scan)


def test_progress_is_told_and_a_file_is_written(file, folder):
    seen = []
    made = tandem.reconstruct(file.path, folder / "out.h5", method="sirt", iterations=300, progress=seen.append)
    assert made.volume is None and tandem.read_volume(made.path).shape == (3, 61, 61)
    assert seen and all(isinstance(s, tandem.Stage) and 0 <= s.done <= s.total for s in seen)
    assert made.report["iterations"] == 300


def test_a_plan_reads_no_pixels(file):
    plan = tandem.plan(file.path, method="cgls", iterations=7)
    assert plan["volume"]["shape"] == [3, 61, 61] and plan["algorithm"] == "cgls"


def test_the_axis_is_found(file):
    assert tandem.center(file.path, progress=False)["axis_bin"] == pytest.approx(28.3, abs=0.3)


def test_the_geometry_is_found(folder):
    made = tandem.simulate(folder / "balls.h5", progress=False, geometry="cone", sod=200, sdd=300, pixel_size=0.8,
                           phantom="balls", size=96, bins=100, rows=100, views=48, axis_bin=50.6)
    report = tandem.calibrate(made.path, folder / "found.npy", balls=True, progress=False)
    assert report["axis_bin"]["value"] == pytest.approx(50.6, abs=0.02)
    assert report["roll_deg"]["uncertainty"] < 0.02 and report["pitch_deg"] is None
    assert np.load(folder / "found.npy").shape == (48, 12)


def test_an_error_names_what_is_wrong(file, folder):
    with pytest.raises(tandem.FileError, match="nothing.h5"):
        tandem.open_scan(folder / "nothing.h5")
    (folder / "text.h5").write_text("no HDF5")
    with pytest.raises(tandem.FileError, match="text.h5"):
        tandem.reconstruct(folder / "text.h5", progress=False)
    with pytest.raises(tandem.UsageError, match="iteratons is not known.*iterations"):
        tandem.reconstruct(file.path, iteratons=4, progress=False)
    with pytest.raises(tandem.UsageError, match="nonnegative: 3"):
        tandem.reconstruct(file.path, nonnegative=3, progress=False)
    with pytest.raises(tandem.UsageError, match="nonsense"):
        tandem.reconstruct(file.path, method="nonsense", progress=False)
    with pytest.raises(tandem.GeometryError, match="size|region|row"):
        tandem.reconstruct(file.path, start_row=7, progress=False)
    with pytest.raises(tandem.UsageError, match="overwrite|input"):
        tandem.reconstruct(file.path, file.path, progress=False)


def test_warnings_are_warnings(folder):
    path = str(folder / "few.h5")
    tandem.simulate(path, size=40, rows=1, bins=61, views=60, arc=100, progress=False)
    with pytest.warns(tandem.RunWarning):
        tandem.reconstruct(path, progress=False)


def test_ctrl_c_ends_a_reconstruction(file):
    def interrupt(_):
        raise KeyboardInterrupt
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        tandem.reconstruct(file.path, method="sirt", iterations=10**6, progress=interrupt)
    assert time.perf_counter() - start < 20


def test_arrays_keep_all_that_their_scan_says():
    """Against fbp of the same scan, which takes no file: shifts of views, axes of rows, a pitch of 1 mm."""
    detector = tandem.Detector(48, 3, bin_pitch=1, row_pitch=2, axis_bin=22.7)
    angles = np.arange(60) * np.pi / 60
    shifts = 3 * np.sin(7 * angles)
    for scan in (tandem.ParallelBeam(detector, angles, view_shift_bins=shifts),
                 tandem.ParallelBeam(detector, angles, row_axis_bins=[22.7, 23.7, 24.7])):
        y = tandem.project(tandem.shepp_logan().scaled(20), scan)
        volume = tandem.reconstruct(y, scan=scan, progress=False).volume
        expected = tandem.fbp(scan) @ y
        assert np.abs(volume - expected).max() < 1e-5 * np.abs(expected).max()
    cone = tandem.ConeBeam(tandem.Detector(32, 24), np.arange(40) * np.pi / 20, sod_mm=100, sdd_mm=150)
    y = tandem.project(tandem.ellipsoids().scaled(8), cone)
    assert tandem.reconstruct(y, scan=cone, progress=False).volume.shape == tandem.fitting_grid(cone).shape
