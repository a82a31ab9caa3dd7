"""The texts of public types, also in notebooks."""
import base64
import re
import zlib

import numpy as np
import pytest
from conftest import cone_scan, fan_scan, parallel_scan, projector_of

import tandem
from tandem import _words


def solved():
    A = projector_of("parallel")
    solver = tandem.Cgls(A, A @ np.ones(A.domain.shape, np.float32))
    return solver, tandem.run(solver, 3)


SOLVER, REPORT = solved()
SPACE = tandem.Space((3, 27, 25), blocks="slices")
SAID = {
    tandem.Detector: (tandem.Detector(31, 3, bin_pitch=0.7, row_pitch=1.5, axis_bin=13.8),
                      "Detector(31, 3, bin_pitch=0.7, row_pitch=1.5, axis_bin=13.8)"),
    tandem.ParallelBeam: (parallel_scan(), "<ParallelBeam Detector(31, 3, bin_pitch=0.7, axis_bin=13.8), 23 views from "
                          "0.5874048 to 172.7024 degrees>"),
    tandem.ConeBeam: (cone_scan(), "<ConeBeam Detector(29, 9, bin_pitch=0.9, row_pitch=1.3, axis_bin=14.2), 17 views "
                      "from 1.589448 to 345.1193 degrees, sod 60 mm, sdd 100 mm, midplane_row 4.2>"),
    tandem.FanBeam: (fan_scan(), "<FanBeam Detector(33, bin_pitch=0.9, axis_bin=15.4), 19 views from 1.422138 to "
                     "342.4416 degrees, sod 70 mm, sdd 110 mm>"),
    tandem.FlexibleBeam: (tandem.as_free_views(cone_scan()), "<FlexibleBeam 17 views of 9 x 29 cells (rows x bins), "
                          "each with its place, rays from a source>"),
    tandem.VolumeGrid: (tandem.VolumeGrid((5, 7, 3), (2, 2, 0.5), (0.25, -1, 3)),
                        "VolumeGrid(size=(5, 7, 3), pitch=(2, 2, 0.5), centre=(0.25, -1, 3))"),
    tandem.Space: (SPACE, "<Space (3, 27, 25), 3 blocks on cpu>"),
    tandem.Ellipsoid: (tandem.Ellipsoid(0.5, (1, 2, 3), rotation_rad=0.25),
                       "Ellipsoid(0.5, (1, 2, 3), (0, 0, 0), rotation_rad=0.25)"),
    tandem.Phantom: (tandem.disc(), "<Phantom of 1 ellipsoid>"),
    tandem.Bounds: (tandem.Bounds(0, 2), "Bounds(0, 2)"),
    tandem.StopRule: (tandem.max_iterations(3) | tandem.time_limit(5), None),
    tandem.Regulariser: (tandem.total_variation(SPACE), "<Regulariser total_variation for Pdhg and Fista>"),
    tandem.Report: (REPORT, None),
    tandem.LinearOperator: (projector_of("parallel"), "<LinearOperator (3, 25, 27) -> (23, 3, 31) on cpu>"),
    tandem.Filter: (tandem.Filter("hann"), None),
}


@pytest.mark.parametrize("kind", list(SAID), ids=lambda kind: kind.__name__)
def test_a_type_says_what_it_is(kind):
    value, words = SAID[kind]
    text = repr(value)
    assert text == words if words else text.lstrip("<").startswith(kind.__name__)
    assert " object at 0x" not in text and "\n" not in text


def test_no_public_value_has_the_words_of_its_address():
    values = [SOLVER, REPORT, tandem.above_zero, tandem.adjointness(projector_of("fan"), 1),
              tandem.subsets(parallel_scan(), count=2), *[tandem.shepp_logan(), tandem.foam()]]
    for value in values:
        assert " object at 0x" not in repr(value)
    assert re.fullmatch(r"<Report 3 iterations, \|b - Ax\| from .* to .*, stopped by max_iterations>", repr(REPORT))
    assert repr(SOLVER).startswith("<Cgls of (3, 25, 27), |b - Ax| = ")


def test_what_repr_says_makes_the_value_again():
    names = {"Detector": tandem.Detector, "VolumeGrid": tandem.VolumeGrid, "Ellipsoid": tandem.Ellipsoid,
             "Bounds": tandem.Bounds}
    for kind in names.values():
        value = SAID[kind][0]
        assert eval(repr(value), dict(names)) == value


def test_values_are_equal_by_what_they_say():
    for kind in (tandem.Detector, tandem.VolumeGrid, tandem.Ellipsoid, tandem.Phantom, tandem.Bounds,
                 tandem.ParallelBeam, tandem.ConeBeam, tandem.FanBeam, tandem.FlexibleBeam):
        value = SAID[kind][0]
        assert value == value and value != 3 and not value == "a" and hash(value) == hash(value)
    assert tandem.Detector(8) != tandem.Detector(8, axis_bin=3) and tandem.Detector(8) == tandem.Detector(8, 1)
    assert tandem.VolumeGrid((2, 2, 2)) != tandem.VolumeGrid((2, 2, 2), 2)
    assert tandem.disc() != tandem.shepp_logan() and len({tandem.Detector(8), tandem.Detector(8)}) == 1


def test_notebooks_show_values():
    grid = SAID[tandem.VolumeGrid][0]._repr_html_()
    assert "<table>" in grid and "<td>z</td><td>3</td><td>0.5</td><td>3</td>" in grid
    assert "<svg" in REPORT._repr_html_() and "&lt;Report 3" in REPORT._repr_html_()
    scan = parallel_scan(bins=24, views=30)
    made = tandem.reconstruct(tandem.project(tandem.disc().scaled(5), scan), scan=scan, method="cgls", iterations=3,
                              progress=False)
    page = made._repr_html_()
    assert "data:image/png" in page and "<svg" in page and repr(made) == "<Reconstruction (3, 24, 24) by cgls, 1/mm>"


def test_a_picture_has_the_grey_values_of_its_slice():
    image = np.array([[0, 1, 2], [3, 4, np.nan]])
    data = _words.png(image)
    assert data.startswith(b"\x89PNG\r\n\x1a\n") and base64.b64encode(data).decode() in _words.picture(image)
    at = data.index(b"IDAT")
    length = int.from_bytes(data[at - 4:at], "big")
    lines = zlib.decompress(data[at + 4:at + 4 + length])
    assert list(lines) == [0, 0, 63, 127, 0, 191, 255, 0]
