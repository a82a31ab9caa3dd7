"""`make compare`: what is exact on its scans, and what it says of packages."""
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tandem

FOLDER = pathlib.Path(__file__).parents[2] / "bench" / "compare"
sys.path.insert(0, str(FOLDER))

import cases  # noqa: E402: from that folder
import compare  # noqa: E402
import environment  # noqa: E402
import measure  # noqa: E402
import peers  # noqa: E402
import tables  # noqa: E402

SCANS = {"parallel": cases.parallel(64, 3, 90), "fan": cases.fan(64, 90), "cone": cases.cone(32, 60)}
# What voxels and steps between views leave of sharp edges at these sizes. An axis that is off by half a pixel, a turn
# the wrong way or a wrong unit gives more than twice as much.
ALLOWED = {"parallel": (0.05, 0.25), "fan": (0.05, 0.25), "cone": (0.05, 0.1)}


@pytest.mark.parametrize("beam", SCANS)
@pytest.mark.parametrize("off", [0.0, 0.5])
def test_tandem_is_near_the_closed_form_wherever_the_axis_lies(beam, off):
    case = cases.dataclasses.replace(SCANS[beam], off=off)
    volume, data = cases.exact_volume(case), cases.exact_data(case)
    tool = peers.tool_of(peers.named("tandem"), case, "cpu")
    projection, inverse = ALLOWED[beam]
    assert cases.error(tool.forward(tool.to_volume(volume)), data) < projection
    found, exact = (cases.judged(case, v) for v in (tool.reconstruct(tool.to_data(data)), volume))
    assert cases.error(found, exact) < inverse
    assert cases.scale(found, exact) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("case", [cases.fan_vectors(64, 45), cases.cone_vectors(32, 30)], ids=lambda case: case.beam)
def test_views_anywhere_are_near_the_closed_form(case):
    """A wrong sign of a yaw, a roll or an offset gives more than three times as much."""
    volume, data = cases.exact_volume(case), cases.exact_data(case)
    tool = peers.tool_of(peers.named("tandem"), case, "cpu")
    assert cases.error(tool.forward(tool.to_volume(volume)), data) < 0.05
    small = cases.smaller(case)
    assert measure.matching(small, peers.tool_of(peers.named("tandem"), small, "cpu"))["mu"] < 1e-5


@pytest.mark.parametrize("package, case", [("ASTRA", cases.fan_vectors(64, 45)), ("diffct", cases.fan_vectors(64, 45)),
                                           ("diffct", cases.cone_vectors(32, 30))])
def test_peers_take_the_same_vectors(package, case):
    pytest.importorskip({"ASTRA": "astra", "diffct": "diffct"}[package])
    tool = peers.tool_of(peers.named(package), case, "cpu")
    found = tool.from_data(tool.forward(tool.to_volume(cases.exact_volume(case))))
    assert cases.error(found, cases.exact_data(case)) < 0.1


def test_an_axis_half_a_pixel_off_is_seen():
    case = SCANS["parallel"]
    data = cases.exact_data(cases.dataclasses.replace(case, off=0.5))
    tool = peers.tool_of(peers.named("tandem"), case, "cpu")
    assert cases.error(cases.judged(case, tool.reconstruct(tool.to_data(data))),
                       cases.judged(case, cases.exact_volume(case))) > ALLOWED["parallel"][1]


def test_back_projection_is_near_its_closed_form():
    case = SCANS["parallel"]
    tool = peers.tool_of(peers.named("tandem"), case, "cpu")
    data = cases.exact_data(case)
    said = measure.judged("back", case, tool.back(tool.to_data(data)), tool, None, data)
    assert said["error"] < 0.02
    assert said["scale"] == pytest.approx(1, abs=0.01)


def test_a_pair_that_is_scaled_or_unmatched_is_told():
    case = cases.smaller(SCANS["parallel"])
    tool = peers.tool_of(peers.named("tandem"), case, "cpu")
    assert measure.matching(case, tool)["mu"] < 1e-5
    exact = tool.back
    tool.back = lambda d: 2 * exact(d)
    scaled = measure.matching(case, tool)
    assert scaled["kappa"] == pytest.approx(0.5) and scaled["mu"] < 1e-5 and scaled["strict"] == pytest.approx(1)
    scan, grid = cases.geometry(case)
    joseph = tandem.projector(scan, grid, "joseph")
    tool.back = lambda d: joseph.T @ d
    assert measure.matching(case, tool)["mu"] > 0.01


def compared(folder, names):
    sizes = "--size 32 --views 40 --slices 2 --cone 12 --cone-views 20 --repeat 2 --seconds 1".split()
    command = [sys.executable, str(FOLDER / "compare.py"), str(folder), "--device", "cpu", *sizes, "--peers", names]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads((folder / "compare.json").read_text()), (folder / "compare.md").read_text()


def test_a_table_of_tandem_alone_has_all_beams(tmp_path):
    found, page = compared(tmp_path, "tandem")
    for beam, group in found["beams"].items():
        row = group["peers"]["tandem"]
        assert all(row[operation]["best_s"] > 0 for operation in measure.OPERATIONS), beam
        assert row["pair"]["mu"] < 1e-5
        assert f"## {beam.capitalize()} beam" in page
    assert "load " in page.splitlines()[2]
    assert "LEAP" in page and "tomocupy" in page


def test_scikit_image_stands_in_the_table_with_its_own_axis(tmp_path):
    pytest.importorskip("skimage")
    found, page = compared(tmp_path, "tandem,scikit-image")
    rows = found["beams"]["parallel"]["peers"]
    ours, theirs = (rows[name]["reconstruct"] for name in ("tandem", "scikit-image"))
    assert theirs["error"] == pytest.approx(ours["error"], rel=0.2)
    assert rows["scikit-image"]["pair"]["mu"] > 0.01
    assert "scikit-image: no cone beam" in page


def test_a_peer_that_hangs_is_a_line_that_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["compare.py", str(tmp_path), "--device", "cpu", "--limit", "0.01"])
    compare.prepared(cases.parallel(16, 1, 8), tmp_path)
    row = compare.run(peers.named("tandem"), "parallel", tmp_path, compare.options())
    assert row == {"not_here": "stopped after 0.01 s"}


def test_what_a_peer_found_before_it_crashed_is_kept():
    lines = ['FOUND {"model": "m", "slices": 1}', "noise", 'FOUND {"begins": "forward"}',
             'FOUND {"operation": "forward", "best_s": 2.0}', 'FOUND {"begins": "back"}']
    row, at = compare.collected("\n".join(lines))
    assert row == {"model": "m", "slices": 1, "forward": {"best_s": 2.0}} and at == "back"


def test_the_table_says_where_another_package_is_faster():
    def row(seconds, slices):
        times = {"best_s": seconds, "median_s": seconds, "cpu_s": seconds, "cores": 1.0, "peak_mib": 9.0, "error": 0.1}
        return {"model": "m", "slices": slices, "reconstruct": times}

    rows = {"tandem": row(8.0, 4), "other": row(1.0, 1), "absent": {"not_here": "it is not installed"}}
    assert tables.fastest(rows, "reconstruct", "parallel") == ["other", "tandem"]  # 1 s a slice, not 2
    page = tables.page({"date": "2026-01-01", "machine": "here", "device": "cpu", "threads": 2, "load": [0.5, 0.6],
                        "repeat": 5, "versions": {}, "beams": {"parallel": {"case": "small", "peers": rows}}})
    assert "**other is faster** than tandem" in page
    assert "| other | **1 s** |" in page and "| tandem | 2 s |" in page
    assert "- absent: it is not installed." in page


def test_every_package_has_one_pinned_version():
    pinned = environment.requirements()
    assert {p.package for p in peers.PEERS} - {"tandem"} <= set(pinned)
    assert all("==" in line for line in pinned.values())
