"""Each argument of each public function, constructor and method: what is of no type that it takes is answered in one
line that names the argument."""
import inspect
import re

import numpy as np
import pytest
from conftest import cone_scan, parallel_scan

import tandem

SCAN, CONE = parallel_scan(), cone_scan()
GRID, FREE = tandem.fitting_grid(SCAN), tandem.as_free_views(CONE)
A = tandem.projector(SCAN, GRID)
X = np.ones(A.domain.shape, np.float32)
B = A @ X
TV, PARTS = tandem.total_variation(A.domain), tandem.subsets(SCAN, count=2)
SOLVER, PDHG = tandem.Cgls(A, B, gcv=True), tandem.Pdhg(A, B, None, TV, 0.1)
WINDOW = {"filter": "ramp", "model": "joseph", "device": "cpu"}
HOW = {"variant": "automatic", "precision": "float32", "accuracy": 1e-4}
# A call of each that fits.
CALLS = {
    tandem.Detector: {"bins": 8, "rows": 1, "bin_pitch": 1, "row_pitch": 1, "axis_bin": 3.5},
    tandem.ParallelBeam: {"detector": SCAN.detector, "angles_rad": [0, 1], "row_axis_bins": (), "view_shift_bins": ()},
    tandem.ConeBeam: {"detector": SCAN.detector, "angles_rad": [0, 1], "sod_mm": 60, "sdd_mm": 90, "midplane_row": 1},
    tandem.FanBeam: {"detector": tandem.Detector(8), "angles_rad": [0, 1], "sod_mm": 60, "sdd_mm": 90},
    tandem.FlexibleBeam: {"bins": 29, "rows": 9, "vectors": FREE.vectors, "parallel": False, "curved": False},
    tandem.VolumeGrid: {"size": (4, 4, 1), "pitch": (1, 1, 1), "centre": (0, 0, 0)},
    tandem.Space: {"shape": (1, 4, 4), "device": "cpu", "blocks": "whole"},
    tandem.Ellipsoid: {"attenuation": 1, "semi_axes": (1, 1, 1), "centre": (0, 0, 0), "rotation_rad": 0},
    tandem.Phantom: {"ellipsoids": [tandem.Ellipsoid(1, (1, 1, 1))]},
    tandem.Bounds: {"lowest": 0, "highest": 1},
    tandem.Filter: {"window": "ramp", "cutoff": 1, "padding": "none", "padding_bins": 3},
    A.apply: {"x": X, "out": None, "alpha": 1, "beta": 0}, A.matvec: {"x": X.ravel()}, A.rmatvec: {"y": B.ravel()},
    A.domain.fits: {"other": A.domain}, A.domain.zeros: {"like": X},
    GRID.x: {"ix": 1}, GRID.y: {"iy": 1}, GRID.z: {"iz": 1},
    tandem.disc().scaled: {"length": 2, "attenuation": 1}, SCAN.page: {"grid": GRID}, SOLVER.step: {"active": None},
    tandem.adjoint: {"A": A}, tandem.adjointness: {"A": A, "trials": 1, "seed": 1}, tandem.as_circle: {"scan": FREE},
    tandem.as_free_views: {"scan": CONE, "curved": False}, tandem.backprojector: {"scan": SCAN, "grid": GRID},
    tandem.bin_down: {"scan": SCAN, "level": 1, "pitch_known": True},
    tandem.crop: {"scan": SCAN, "views": (0, 3), "rows": (0, 2), "bins": (0, 9)}, tandem.description: {"name": "cpu"},
    tandem.diagonal: {"weights": X, "space": A.domain}, tandem.discrepancy: {"noise_norms": [1.0], "factor": 1},
    tandem.divergence: {"data_norms": [1.0]}, tandem.duality_gap: {"solver": PDHG, "epsilon": 0.1}, tandem.settled: {"solver": PDHG, "epsilon": 0.1},
    tandem.fbp: {"scan": SCAN, "grid": GRID, **WINDOW, **HOW}, tandem.fdk: {"scan": CONE, "grid": None, **WINDOW},
    tandem.find_weight: {"A": [A, A], "b": [B, B], "F": [A.T, A.T], "regulariser": TV, "data_weights": None,
                         "bounds": tandem.above_zero},
    tandem.fitting_grid: {"scan": SCAN}, tandem.foam: {"seed": 0},
    tandem.gcv: {"solver": SOLVER, "data": 99, "factor": 1},
    tandem.gradient: {"volume": A.domain, "scales": (1, 1, 1), "shear": 0.5},
    tandem.across: {"angle_rad": 0.5, "ratio": 2, "scales": (1, 1, 1)}, tandem.grid_of: {"path": "none.h5"},
    tandem.grid_from: {"geometry": GRID}, tandem.grid_to: {"package": "astra", "grid": GRID},
    tandem.half_acquisition: {"scan": SCAN}, tandem.half_width: {"grid": GRID}, tandem.hstack: {"columns": [A]},
    tandem.vstack: {"rows": [A]},
    tandem.huber_total_variation: {"volume": A.domain, "threshold": 0.1, "scales": (1, 1, 1), "shear": 0},
    tandem.identity: {"space": A.domain},
    tandem.look: {"volume": X, "grid": GRID, "beside": None, "in_mm": True},
    tandem.make_operator: {"domain": A.domain, "range": A.range, "forward": abs, "adjoint": abs},
    tandem.mask: {"where": X > 0, "space": A.domain}, tandem.max_iterations: {"count": 3},
    tandem.open_scan: {"path": "none.h5", "pixel_size_mm": 1, "sod_mm": 1, "sdd_mm": 2, "midplane_row": 1, "arc_rad": 1,
                       "time": 1, "allow_external_files": False},
    tandem.operator_norm: {"A": A, "iterations": 2, "seed": 1}, tandem.options: {"command": "recon"},
    tandem.project: {"phantom": tandem.disc(), "scan": SCAN, "samples": 1}, tandem.projection_shape: {"scan": SCAN},
    tandem.projector: {"scan": SCAN, "grid": GRID, "model": "joseph", "device": "cpu", **HOW},
    tandem.ramp_filter: {"scan": SCAN, **WINDOW, "grid": GRID}, tandem.read_volume: {"path": "none.h5"},
    tandem.relative_residual: {"epsilon": 0.1}, tandem.run: {"solver": SOLVER, "stop": 1, "observe": None},
    tandem.scan_from: {"geometry": SCAN}, tandem.scan_to: {"package": "astra", "scan": SCAN},
    tandem.set_threads: {"count": 0}, tandem.stagnation: {"solver": tandem.Cgls(A, B), "data": 99},
    tandem.stop_rule: {"name": "mine", "holds": lambda seen, block: True},
    tandem.subsets: {"scan": SCAN, "grid": GRID, "count": 2, "model": "joseph", "device": "cpu"},
    tandem.symmetric: {"scan": SCAN}, tandem.tikhonov: {"volume": A.domain}, tandem.time_limit: {"seconds": 1},
    tandem.total_variation: {"volume": A.domain, "scales": (1, 1, 1), "shear": 0.5},
    tandem.unmatched_pair: {"forward": A, "backward": A.T},
    tandem.view_derivative: {"scan": FREE, "x": np.ones(tandem.fitting_grid(FREE).shape), "grid": None},
    tandem.view_subsets: {"scan": SCAN, "count": 2},
    tandem.voxelise: {"phantom": tandem.disc(), "grid": GRID, "samples": 1},
    tandem.with_views: {"scan": SCAN, "views": [0, 1]},
    tandem.write_scan: {"path": "none.h5", "data": B, "scan": SCAN, "flats": None, "darks": None},
    tandem.write_volume: {"path": "none.h5", "volume": X, "grid": GRID},
    tandem.reconstruct: {"source": B, "output": None, "method": "fbp", "scan": SCAN, "flats": None, "progress": False},
    tandem.center: {"source": B, "scan": SCAN, "flats": None, "progress": False},
    tandem.plan: {"source": B, "scan": SCAN, "method": "fbp"},
    tandem.simulate: {"output": "none.h5", "progress": False},
    tandem.calibrate: {"source": "none.h5", "output": "none.cfg", "progress": False},
    tandem.split: {"source": B, "count": 2, "scan": SCAN, "flats": None, "progress": False},
    tandem.denoiser: {"function": abs, "strength": 1},
    tandem.check_residual: {"x": X, "data": B, "scan": SCAN, "sigma": 1, "grid": GRID, "model": "joseph"},
    tandem.check_halves: {"volumes": np.ones((2, 1, 9, 9)), "denoise": abs, "other": abs},
    tandem.check_detail: {"reconstruct": abs, "data": B, "scan": SCAN, "sigma": 1, "grid": GRID, "radius": 2,
                          "places": [(1, 9, 9)]},
    tandem.check_null: {"reconstruct": abs, "scan": SCAN, "sigma": 1, "attenuation": 1, "grid": GRID, "draws": 1},
    tandem.Cgls: {"A": A, "b": B, "x0": None, "data_weights": None, "tikhonov_weight": 1},
    tandem.Sirt: {"A": A, "b": B, "x0": None, "relaxation": 1, "bounds": tandem.above_zero},
    tandem.Pdhg: {"A": A, "b": B, "x0": None, "regulariser": TV, "weights": 0.1},
    tandem.Osem: {"A": PARTS, "b": B, "x0": None}, tandem.Mltr: {"A": A, "b": B, "blank": B, "x0": None},
}
ARGUMENTS = [(call, word) for call, given in CALLS.items() for word in given]


class Nothing:
    """A value of a type that nothing takes."""


@pytest.mark.parametrize("call, word", ARGUMENTS, ids=[f"{call.__name__}-{word}" for call, word in ARGUMENTS])
def test_an_argument_of_no_type_is_named(call, word, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TypeError, ValueError, IndexError, RuntimeError)) as seen:
        call(**{**CALLS[call], word: Nothing()})
    text = str(seen.value)
    assert re.search(rf"\b{word}\b", text) and "\n" not in text and "_core" not in text, text
    assert "incompatible" not in text and len(text) < 300, text


def test_all_functions_and_constructors_are_here():
    tested = {call.__name__ for call in CALLS}
    kinds = {kind.__name__ for kind in tandem.Solver.__subclasses__()}  # one of each constructor is enough
    made_by_others = {"Adjointness", "Check", "Frames", "LinearOperator", "Look", "Options", "Progress", "Reconstruction",
                      "Regulariser", "Report", "ScanFile", "Solver", "Stage", "StopRule", "Subsets", "WeightFound",
                      "WeightTrial", "OwnRegulariser"}
    for name in set(tandem.__all__) - tested - kinds - made_by_others:
        value = getattr(tandem, name)
        if callable(value) and not (inspect.isclass(value) and issubclass(value, Exception)):
            assert not inspect.signature(value).parameters, name


RANGES = [
    (lambda: tandem.max_iterations(-1), "max_iterations: count -1; a number from 0 on is needed"),
    (lambda: tandem.discrepancy([1, -1]), "discrepancy: noise_norms -1; a number from 0 on is needed"),
    (lambda: tandem.discrepancy([1], factor=float("nan")), "discrepancy: factor nan; a number from 0 on"),
    (lambda: tandem.relative_residual(-0.1), "relative_residual: epsilon -0.1; a number from 0 on"),
    (lambda: tandem.time_limit(-1), "time_limit: seconds -1; a number from 0 on"),
    (lambda: tandem.divergence([float("nan")]), "divergence: data_norms nan; a number from 0 on"),
    (lambda: tandem.duality_gap(PDHG, -1), "duality_gap: epsilon -1; a number from 0 on"),
    (lambda: tandem.settled(PDHG, -1), "settled: epsilon -1; a number from 0 on"),
    (lambda: tandem.gcv(SOLVER, data=0), "cross_validation: data 0; a count of data above 0 is needed"),
    (lambda: tandem.gcv(SOLVER, factor=-1), "cross_validation: factor -1; a number from 0 on"),
    (lambda: tandem.stagnation(tandem.Cgls(A, B), data=[5, 0, 5]), "stagnation: data 0; a count of data above 0"),
    (lambda: tandem.find_weight([A, A], [B, B], [A.T], TV),
     "find_weight: F has 1 parts; one for each of two halves is needed"),
    (lambda: tandem.Bounds(1, 0), "bounds: 1 to 0; the lowest value must be below the highest"),
    (lambda: tandem.Bounds(float("nan")), "bounds: nan to inf; the lowest"),
    (lambda: tandem.disc().scaled(-1), "scaled: length -1, attenuation 1; give a factor above 0"),
    (lambda: tandem.subsets(SCAN, count=0), "subsets: count 0 of 23 views; a number from 1 to the number of views"),
    (lambda: tandem.reconstruct(B, scan=SCAN, slices="2:1"), "slices: '2:1' is not a range; give FIRST:END"),
    (lambda: tandem.reconstruct(B, scan=SCAN, air_columns=(-1, 3)), "air_columns: '-1:3' is not a range; give"),
    (lambda: tandem.reconstruct(B, scan=SCAN, region="0:1,2,0:1"), "region: '2' is not a range; give FIRST:END"),
    (lambda: tandem.reconstruct(B, scan=SCAN, detector_rows="2:1"), "detector_rows: '2:1' is no range; give A:B"),
    (lambda: tandem.center(B, scan=SCAN, between="9"), "between: '9' is not a range; give FIRST:END"),
    (lambda: tandem.reconstruct(B, scan=SCAN, method="fbq"), "method: 'fbq' is not known; did you mean fbp"),
    (lambda: tandem.reconstruct(B, "volume.xyz", scan=SCAN), "output volume.xyz: the ending names no format"),
    (lambda: tandem.reconstruct(B, scan=SCAN, checkpoint="a\0b"), "checkpoint: 'a\\x00b' has a zero byte"),
    (lambda: tandem.open_scan("a\0b"), "path is 'a\\x00b', which has a zero byte; give a path"),
    (lambda: tandem.reconstruct("a\0b"), "source is 'a\\x00b', which has a zero byte"),
    (lambda: tandem.look("a\0b"), "volume is 'a\\x00b', which has a zero byte"),
    (lambda: tandem.write_volume("a\0b.h5", X), "path is 'a\\x00b.h5', which has a zero byte"),
]


@pytest.mark.parametrize("call, words", RANGES, ids=[words[:40] for _, words in RANGES])
def test_a_number_out_of_its_range_is_named(call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tandem.Error) as seen:
        call()
    assert words in str(seen.value) and "\n" not in str(seen.value)
    assert not list(tmp_path.iterdir())
