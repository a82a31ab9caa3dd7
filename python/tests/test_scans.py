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
    for key in [90, (0, 3), (0, 0, 0, 0), [1, 2], np.arange(90) < 3, "a", None, 1.5]:
        with pytest.raises(IndexError):
            file.projections[key]
    with pytest.raises(TypeError, match=r"line_integrals: rows is 3; give \(first, end\)"):
        file.line_integrals(3)


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


def test_words_of_operators_are_taken_by_reconstruct(file):
    mine = tandem.reconstruct(file.path, filter=tandem.Filter("hann", cutoff=0.8, padding="none"), progress=False)
    theirs = tandem.reconstruct(file.path, fbp_filter="hann", fbp_cutoff=0.8, padding="none", progress=False)
    np.testing.assert_array_equal(mine.volume, theirs.volume)
    for bounds in ((0, 0.01), tandem.Bounds(0, 0.01)):
        made = tandem.reconstruct(file.path, method="sirt", iterations=3, bounds=bounds, progress=False)
        assert 0 <= made.volume.min() and made.volume.max() <= np.float32(0.01)
    with pytest.raises(tandem.UsageError, match="filter: fbp_filter is given, too; give one of them"):
        tandem.reconstruct(file.path, filter="hann", fbp_filter="ramp", progress=False)


@pytest.mark.parametrize("with_counts", [False, True])
def test_arrays_are_reconstructed(file, with_counts):
    scan = tandem.ParallelBeam(tandem.Detector(61, 3, axis_bin=28.3), file.scan.angles_rad)
    wanted = tandem.reconstruct(file.path, progress=False).volume
    if with_counts:
        made = tandem.reconstruct(file.projections[:], scan=scan, flats=file.flats[:], darks=file.darks[:],
                                  progress=False)
        np.testing.assert_array_equal(made.volume, wanted)
    else:
        made = tandem.reconstruct(file.line_integrals()[0], scan=scan, progress=False)
        assert relative(made.volume, wanted) < 1e-3  # means of flats and darks are all that the program takes here, too
    with pytest.raises(TypeError, match="scan: the geometry"):
        tandem.reconstruct(file.projections[:])
    with pytest.raises(tandem.SpaceError, match=r"source: shape \(89, 3, 61\).*\(90, 3, 61\)"):
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
        tandem.reconstruct(file.path, detector_rows=(7, 9), progress=False)
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


def test_arrays_of_a_scan_never_go_through_a_file(file, monkeypatch):
    monkeypatch.setattr(tandem._core, "write_scan", None)
    scan = tandem.ParallelBeam(tandem.Detector(61, 3, axis_bin=28.3), file.scan.angles_rad)
    wanted = tandem.reconstruct(file.path, slices=(1, 3), progress=False).volume
    made = tandem.reconstruct(file.projections[:].tolist(), scan=scan, flats=file.flats[:], darks=file.darks[:],
                              slices=(1, 3), progress=False)
    assert made.report["format"] == "array" and made.volume.shape == (2, 61, 61)
    assert relative(made.volume, wanted) < 1e-6  # lists are floats, which the program reads as integers
    assert tandem.plan(file.projections[:], scan=scan, flats=file.flats[:])["format"] == "array"


def test_the_axis_of_an_array_is_found(file):
    scan = tandem.ParallelBeam(tandem.Detector(61, 3), file.scan.angles_rad)
    found = tandem.center(file.projections[:], scan, flats=file.flats[:], darks=file.darks[:], progress=False)
    assert found["axis_bin"] == tandem.center(file.path, progress=False)["axis_bin"]


def test_options_may_be_arrays(file):
    """A solver that begins with its own solution, beside it as truth."""
    begun = tandem.reconstruct(file.path, method="cgls", iterations=6, progress=False).volume
    more = tandem.reconstruct(file.path, method="cgls", iterations=1, initial=begun, truth=begun, progress=False)
    assert more.report["quality"]["psnr_db"] > 40
    degrees = np.degrees(file.scan.angles_rad)
    given = tandem.reconstruct(file.path, angles=degrees, progress=False).volume
    assert relative(given, tandem.reconstruct(file.path, progress=False).volume) < 1e-6
    with pytest.raises(tandem.SpaceError, match=r"truth: shape \(3, 5, 5\).*\(3, 61, 61\)"):
        tandem.reconstruct(file.path, truth=begun[:, :5, :5], progress=False)


@pytest.mark.filterwarnings("ignore::tandem.RunWarning")
@pytest.mark.parametrize("kind", ["uint8", "uint16", "uint32", "float32", "float64", "int16"])
def test_bytes_of_arrays_may_have_either_order(kind):
    scan = parallel_scan()
    counts = (100 + 100 * random_array(tandem.projection_shape(scan))).astype(kind)
    flats = np.full((1, *counts.shape[1:]), 250).astype(kind)
    made = [tandem.reconstruct(*data[:1], scan=scan, flats=data[1], progress=False).volume
            for data in ((counts, flats), [array.astype(array.dtype.newbyteorder(">")) for array in (counts, flats)])]
    np.testing.assert_array_equal(*made)


def test_arrays_of_another_size_are_named_and_not_the_file_they_become():
    scan = parallel_scan()
    with pytest.raises(tandem.FileError, match="^angles: 3 angles for 23 views"):
        tandem.reconstruct(random_array(tandem.projection_shape(scan)), scan=scan, angles=[0, 1, 2], progress=False)


def test_details_stand_behind_their_option():
    words = tandem._options.words
    assert words("recon", {"follow": {"views": 90, "seconds": 5}}) == ["--follow=views=90,seconds=5"]
    assert words("recon", {"follow": True}) == ["--follow"] and words("recon", {"follow": False}) == []
    assert words("recon", {"bounds": (0, None)}) == ["--bounds=0:"] and words("recon", {"bounds": (None, None)}) == []
    assert words("recon", {"filter": tandem.Filter("hann", padding="edge", padding_bins=7)})[-1] == "--padding=edge:bins=7"
    round_filter = tandem.Filter(padding="circle", attenuation=0.02)
    assert words("recon", {"filter": round_filter})[-1] == "--padding=circle:attenuation=0.02"
    assert words("recon", {"nonnegative": np.bool_(True), "slices": slice(None)}) == ["--nonnegative"]
    assert words("recon", {"iterations": 3.0, "tv_weight": 0.5}) == ["--iterations=3", "--tv-weight=0.5"]
    with pytest.raises(tandem.UsageError, match="follow: 3; True or False"):
        words("recon", {"follow": 3})


def test_errors_of_commands_name_keywords(file):
    for options, words in (({"iteratons": 4}, "iteratons is not known; did you mean iterations?"),
                           ({"fbp_cutoff": 3}, "fbp_cutoff")):
        with pytest.raises(tandem.UsageError) as seen:
            tandem.reconstruct(file.path, progress=False, **options)
        text = str(seen.value)
        assert words in text and "--" not in text and "command line" not in text and "help" not in text
    with pytest.raises(TypeError, match="scan: the file says"):
        tandem.reconstruct(file.path, scan=file.scan)
    with pytest.raises(TypeError, match="source: a ScanFile; give its path, file.path"):
        tandem.reconstruct(file)
    with pytest.raises(tandem.UsageError, match="filter: 3; give the name of a window"):
        tandem.reconstruct(file.path, filter=3)
    with pytest.raises(tandem.UsageError, match="bounds: 3; give tandem.Bounds"):
        tandem.reconstruct(file.path, bounds=3)
    with pytest.raises(tandem.UsageError, match="arrays are for solvers"):
        tandem.reconstruct(file.path, method="sirt", bounds=(0, np.ones(3)))
    with pytest.raises(TypeError, match="flats: an array .* beside a file"):
        tandem.reconstruct(file.path, flats=np.ones((3, 61)))


def test_nothing_is_printed_without_progress(folder, capfd):
    made = tandem.simulate(folder / "quiet.h5", size=24, rows=1, bins=31, views=20, truth=str(folder / "truth.h5"),
                           progress=False)
    tandem.reconstruct(made.path, progress=False)
    tandem.center(made.path, progress=False)
    assert capfd.readouterr() == ("", "")


def test_volumes_keep_their_grid(folder):
    volume = random_array((3, 7, 5))
    grid = tandem.VolumeGrid((5, 7, 3), (2, 2, 0.5), (0.25, -1, 3))
    for name in ("v.h5", "v.tif", "v.btf", "v.nrrd", "v.mha", "v.zarr"):
        tandem.write_volume(folder / name, volume, grid)
        np.testing.assert_array_equal(tandem.read_volume(folder / name), volume)
        assert tandem.grid_of(folder / name) == grid, name
    tandem.write_volume(folder / "v.h5", volume[0])  # its own is replaced
    assert tandem.read_volume(folder / "v.h5").shape == (1, 7, 5)
    with pytest.raises(tandem.SpaceError, match=r"volume: shape \(3, 7, 5\); the grid has \(3, 5, 7\)"):
        tandem.write_volume(folder / "w.h5", volume, tandem.VolumeGrid((7, 5, 3)))
    assert '"z","y","x"' in (folder / "v.zarr" / "0" / ".zattrs").read_text()


def test_scans_are_written_with_their_geometry(folder):
    cone = tandem.ConeBeam(tandem.Detector(20, 10, bin_pitch=1, row_pitch=1.5, axis_bin=9), np.arange(12) / 2, 50, 80)
    y = tandem.project(tandem.ellipsoids().scaled(5), cone)
    tandem.write_scan(folder / "lines.h5", y, cone)
    found = tandem.open_scan(folder / "lines.h5")
    assert type(found.scan) is tandem.ConeBeam and found.scan.detector == cone.detector
    np.testing.assert_allclose(found.scan.angles_rad, cone.angles_rad, rtol=1e-12)
    assert relative(found.line_integrals()[0], y) < 1e-6
    made = tandem.reconstruct(found.path, progress=False).volume
    assert relative(made, tandem.reconstruct(y, scan=cone, progress=False).volume) < 1e-5
    tandem.write_scan(folder / "counts.h5", 900 * np.exp(-y) + 10, cone, flats=np.full((2, 10, 20), 910),
                      darks=np.full((10, 20), 10))
    assert relative(tandem.open_scan(folder / "counts.h5").line_integrals()[0], y) < 1e-4


def test_scans_are_replaced_in_parts():
    scan = parallel_scan()
    moved = scan.replace(axis_bin=12.5, angles_rad=np.arange(4) / 3)
    assert moved.detector.axis_bin == 12.5 and len(moved.angles_rad) == 4 and moved.detector.bin_pitch == 0.7
    assert scan.replace() == scan and scan.replace(detector=scan.detector) == scan
    free = tandem.as_free_views(scan)
    assert free.replace(bins=free.bins) == free
    with pytest.raises(TypeError, match="replace: a ParallelBeam has no sod_mm; it has angles_rad"):
        scan.replace(sod_mm=3)
    A = tandem.projector(scan)
    assert A.domain.zeros().shape == A.domain.shape and not A.domain.zeros().any()
    assert [z.shape for z in tandem.vstack([A, A]).range.zeros()] == [A.range.shape] * 2


def test_ranges_keep_their_steps(tmp_path):
    tandem.simulate(tmp_path / "steps.h5", size=16, views=12, progress=False)
    whole, some = (tandem.reconstruct(tmp_path / "steps.h5", views=views, progress=False).volume
                   for views in (None, "0:12:3"))
    for views in (slice(0, 12, 3), range(0, 12, 3), (0, 12, 3), slice(None, None, 3)):
        assert np.array_equal(tandem.reconstruct(tmp_path / "steps.h5", views=views, progress=False).volume, some)
    assert not np.array_equal(whole, some)


def test_what_a_recipe_leaves_out_is_a_warning(tmp_path):
    tandem.simulate(tmp_path / "scan.h5", size=16, views=12, progress=False)
    (tmp_path / "run.toml").write_text('reconstruction-algorithm = "cgls"\niterations = 3\n')
    with pytest.warns(tandem.RunWarning, match="iterations"):
        tandem.reconstruct(tmp_path / "scan.h5", config=tmp_path / "run.toml", method="fbp", progress=False)
    for name in ("sweep", "compare", "json", "quiet", "help_all"):
        with pytest.raises(tandem.UsageError, match=name):
            tandem.reconstruct(tmp_path / "scan.h5", progress=False, **{name: "x"})


def test_recipes_make_the_same_volume(file, folder):
    first, recipe = folder / "hann.h5", folder / "hann.toml"
    tandem.reconstruct(file.path, first, fbp_filter="hann", save_config=recipe, progress=False)
    for options in ({"config": recipe}, {"like": first}):
        again = tandem.reconstruct(file.path, progress=False, **options).volume
        np.testing.assert_array_equal(again, tandem.read_volume(first))


def test_a_data_set_of_a_file_is_a_scan(file, folder):
    named = f"{file.path}:/exchange/data"
    opened = tandem.open_scan(named, arc_rad=np.pi)
    np.testing.assert_array_equal(opened.projections[5], file.projections[5])
    assert opened.scan.angles_rad[1] == pytest.approx(np.pi / 90)
    made = tandem.reconstruct(named, arc=180, flats=f"{file.path}:/exchange/data_white", progress=False,
                              darks=f"{file.path}:/exchange/data_dark", rotation_axis=28.3)
    assert relative(made.volume, tandem.reconstruct(file.path, progress=False).volume) < 1e-6


def test_advice_of_open_scan_has_its_arguments(file, folder):
    for path, given, words in [(f"{file.path}:/exchange/data", {}, "angles: missing; give arc_rad$"),
                               (file.path, {"sod_mm": 9}, "no distance from source to detector; give sdd_mm$"),
                               (file.path, {"sod_mm": 9, "sdd_mm": 12}, "no pitch of the detector; give pixel_size_mm"),
                               (f"{file.path}:/none", {}, "name one: .*scan.h5:/exchange/data with arc_rad$")]:
        with pytest.raises(tandem.Error, match=words):
            tandem.open_scan(path, **given)


def test_heights_of_a_sample_are_joined(folder):
    whole = tandem.simulate(folder / "whole.h5", phantom="foam", size=64, rows=48, views=90, photons=1e4,
                            progress=False)
    paths = [folder / "low.h5", folder / "high.h5"]
    for path, rows in zip(paths, (slice(0, 32), slice(16, 48))):
        parts = [frames[:][:, rows] for frames in (whole.projections, whole.flats, whole.darks)]
        tandem.write_scan(path, parts[0], tandem.crop(whole.scan, rows=(rows.start, rows.stop)), flats=parts[1],
                          darks=parts[2])
    made = tandem.reconstruct(paths, stitch="z", progress=False)
    assert relative(made.volume, tandem.reconstruct(whole.path, progress=False).volume) < 1e-5
    assert any("high.h5 begins at row 16" in note for note in made.notes)
    with pytest.raises(TypeError, match="source: 2 scans; give stitch='z' or 'x' to join them, or reconstruct each"):
        tandem.reconstruct(paths, progress=False)


def test_warnings_of_commands_name_the_line_of_the_caller(tmp_path):
    made = tandem.simulate(tmp_path / "scan.h5", size=16, views=12, progress=False)
    with pytest.warns(tandem.RunWarning) as seen:
        tandem.reconstruct(made.path, progress=False)
    assert seen[0].filename == __file__
