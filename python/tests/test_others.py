"""Geometries of other packages: where points fall, by the formulas of each; and its own arrays where it is here."""
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import cone_scan, fan_scan, parallel_scan, random_array, relative

import tandem
import tandem.compat.astra as astra

ANGLES = np.array([0.1, 0.9, 2.3, 3.6, 5.2])
POINT = np.array([3.0, -5.0, 2.0])  # (x, y, z) in the frame of the package, mm
BINS, ROWS, PITCH, ROW_PITCH, SOD, SDD = 41, 27, 1.2, 1.5, 90.0, 140.0
SIZE = (33, 31, 21)


def blob(point, axes, flips=()):
    """A ball of 2 mm about a point, on voxels of 1 mm, as an array whose axes are these of (x, y, z)."""
    c = [np.arange(n) - (n - 1) / 2 for n in SIZE]
    x, y, z = np.meshgrid(*c, indexing="ij")
    ball = np.exp(-((x - point[0]) ** 2 + (y - point[1]) ** 2 + (z - point[2]) ** 2) / 4)
    return np.ascontiguousarray(np.flip(ball.transpose(axes), flips), np.float32)


def centres(y):
    """(bin, row) of the centre of gravity of each view (view, row, bin)."""
    weight = y.sum((1, 2))
    rows, bins = np.arange(y.shape[1])[:, None], np.arange(y.shape[2])
    return np.stack([(y * bins).sum((1, 2)) / weight, (y * rows).sum((1, 2)) / weight], 1)


def turned(point, angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1], point[2]])


NEAR = 0.06
"""Bins: the ball is 2 mm wide, 90 mm from the source, so perspective moves its centre by some (2 / 90)^2 of its place."""


def expected_of_tigre(off=(0.0, 0.0), moved=np.zeros((5, 3)), roll=0.0):
    """Its source is at (DSO, 0, 0) at angle 0 and goes round with it; bins go along y, rows along z. The detector rolls
    about x."""
    places = []
    for a, shift in zip(ANGLES, moved):
        x, y, z = turned(POINT + shift, -a)
        scale = SDD / (SOD - x)
        y, z = y * scale - off[1], z * scale - off[0]
        y, z = np.cos(roll) * y + np.sin(roll) * z, np.cos(roll) * z - np.sin(roll) * y
        places.append([y / PITCH + (BINS - 1) / 2, z / ROW_PITCH + (ROWS - 1) / 2])
    return np.array(places)


def tigre_geometry(**more):
    return SimpleNamespace(**{"DSD": SDD, "DSO": SOD, "nDetector": np.array([ROWS, BINS]),
                              "dDetector": np.array([ROW_PITCH, PITCH]), "nVoxel": np.array(SIZE[::-1]),
                              "dVoxel": np.array([1.0, 1, 1]), "offOrigin": np.zeros(3), "mode": "cone", **more})


def test_points_of_tigre_fall_where_it_says():
    off = np.array([2.0, -3.0])
    helix = np.linspace([-3, 1, -4], [4, 0, 2], 5)
    for geometry, places in ((tigre_geometry(), expected_of_tigre()),
                             (tigre_geometry(offOrigin=helix[:, ::-1]), expected_of_tigre(moved=helix)),
                             (tigre_geometry(rotDetector=np.array([0.3, 0, 0])), expected_of_tigre(roll=0.3)),
                             (tigre_geometry(offDetector=off), expected_of_tigre(off)),
                             (tigre_geometry(DSD=np.full((5, 1), SDD), offDetector=np.tile(off, (5, 1))),
                              expected_of_tigre(off))):
        A = tandem.projector((geometry, ANGLES))
        y = A @ blob(POINT, (2, 1, 0))
        assert y.shape == (5, ROWS, BINS) and np.abs(centres(y) - places).max() < NEAR
    assert type(tandem.scan_from(tigre_geometry(), ANGLES)) is tandem.ConeBeam
    moved = tigre_geometry(offOrigin=np.array([1.0, 2.0, 3.0]))
    assert tuple(tandem.grid_from(moved).centre) == (3, 2, 1)
    with pytest.raises(tandem.GeometryError, match=r"angles; give scan_from\(geo, angles\)"):
        tandem.scan_from(tigre_geometry())
    with pytest.warns(tandem.RunWarning, match="TIGRE: angles up to .*degrees, give numpy.radians") as seen:
        tandem.projector([tigre_geometry(), np.degrees(ANGLES)])
    assert seen[0].filename == __file__


class Leap:
    """What scripts set in a tomographicModels, by its get_ functions."""

    def __init__(self, kind, **values):
        self.values = {"geometry": kind, "numCols": BINS, "numRows": ROWS, "pixelWidth": PITCH,
                       "pixelHeight": ROW_PITCH, "centerCol": 18.5, "centerRow": 14.0, "angles": np.degrees(ANGLES), "sod": SOD, "sdd": SDD,
                       "numX": SIZE[0], "numY": SIZE[1], "numZ": SIZE[2], "voxelWidth": 1.0,
                       "voxelHeight": 1.0, **values}

    def __getattr__(self, name):
        if not name.startswith("get_") or name[4:] not in self.values:
            raise AttributeError(name)
        return lambda: self.values[name[4:]]


@pytest.mark.parametrize("kind", ["CONE", "PARALLEL", "MODULAR"])
def test_points_of_leap_fall_where_it_says(kind):
    """Its source is at sod (sin a, -cos a), bins go along (cos a, sin a), which its modular beams say by vectors."""
    c, s = np.cos(ANGLES), np.sin(ANGLES)
    along, far = c * POINT[0] + s * POINT[1], SOD - s * POINT[0] + c * POINT[1]
    scale = 1 if kind == "PARALLEL" else SDD / far
    places = np.stack([18.5 + along * scale / PITCH, 14 + POINT[2] * scale / ROW_PITCH + 0 * ANGLES], 1)
    zero, bin_axis = 0 * c, np.stack([c, s, 0 * c], 1)
    back = np.stack([s, -c, zero], 1)
    up = np.stack([zero, zero, zero + 1], 1)
    middle = -(SDD - SOD) * back + ((BINS - 1) / 2 - 18.5) * PITCH * bin_axis + ((ROWS - 1) / 2 - 14) * ROW_PITCH * up
    model = Leap(kind, sourcePositions=SOD * back, moduleCenters=middle, rowVectors=up, colVectors=bin_axis)
    y = tandem.projector(model) @ blob(POINT, (2, 1, 0))
    assert np.abs(centres(y) - places).max() < NEAR
    assert kind == "PARALLEL" or type(tandem.scan_from(model)) is tandem.ConeBeam
    turned_axes = Leap(kind, sourcePositions=SOD * back, moduleCenters=middle, rowVectors=up, colVectors=bin_axis,
                       volumeDimensionOrder=0)
    np.testing.assert_array_equal(tandem.projector(turned_axes) @ blob(POINT, (0, 1, 2)), y)


def cil_geometry(parallel=False, **panel):
    detector = SimpleNamespace(position=np.array([0, SDD - SOD, 0]), direction_x=np.array([1, 0, 0]),
                               direction_y=np.array([0, 0, 1]))
    system = SimpleNamespace(detector=detector, ray=SimpleNamespace(direction=np.array([0, 1, 0])),
                             source=SimpleNamespace(position=np.array([0, -SOD, 0])))
    panel = SimpleNamespace(**{"num_pixels": (BINS, ROWS), "pixel_size": (PITCH, ROW_PITCH), "origin": "bottom-left",
                               **panel})
    angles = SimpleNamespace(angle_data=np.degrees(ANGLES) - 20, angle_unit="degree", initial_angle=20)
    return SimpleNamespace(config=SimpleNamespace(system=system, panel=panel, angles=angles), channels=1,
                           geom_type="parallel" if parallel else "cone",
                           dimension_labels=("vertical", "angle", "horizontal"))


IMAGE_OF_CIL = SimpleNamespace(**{f"voxel_num_{a}": n for a, n in zip("xyz", SIZE)},
                               **{f"voxel_size_{a}": 1.0 for a in "xyz"}, center_x=0, center_y=0, center_z=0,
                               dimension_labels=("vertical", "horizontal_y", "horizontal_x"))


@pytest.mark.parametrize("parallel", [False, True])
def test_points_of_cil_fall_where_it_says(parallel):
    """It turns the sample by the angle; the rays go along y, bins along x."""
    places = []
    for a in ANGLES:
        x, y, z = turned(POINT, a)
        scale = 1 if parallel else SDD / (SOD + y)
        places.append([x * scale / PITCH + (BINS - 1) / 2, z * scale / ROW_PITCH + (ROWS - 1) / 2])
    A = tandem.projector(cil_geometry(parallel), IMAGE_OF_CIL)
    y = A @ blob(POINT, (2, 1, 0))
    assert y.shape == (ROWS, 5, BINS) and np.abs(centres(y.transpose(1, 0, 2)) - places).max() < NEAR
    other = tandem.projector(cil_geometry(parallel, origin="top-right"), IMAGE_OF_CIL) @ blob(POINT, (2, 1, 0))
    assert relative(other[::-1, :, ::-1], y) < 1e-3  # these views are no circle, and take the kernel of free views


class Tomosipo:
    """A cone of tomosipo as vectors, with coordinates in the order (z, y, x)."""
    det_shape = (ROWS, BINS)

    def __init__(self, scan):
        self.scan = scan

    def to_vec(self):
        return self

    def to_astra(self):
        return tandem.scan_to("astra", tandem.as_free_views(self.scan))


def test_tomosipo_has_the_arrays_of_astra_in_space():
    scan = tandem.ConeBeam(tandem.Detector(BINS, ROWS, bin_pitch=PITCH, row_pitch=ROW_PITCH), ANGLES, SOD, SDD)
    volume = SimpleNamespace(shape=SIZE[::-1], extent=tuple((-n / 2, n / 2) for n in SIZE[::-1]))
    A = tandem.projector(Tomosipo(scan), volume)
    x = blob(POINT, (2, 1, 0))
    wanted = tandem.projector(scan, tandem.VolumeGrid(SIZE)) @ x
    np.testing.assert_array_equal(A @ x, wanted.transpose(1, 0, 2))
    np.testing.assert_array_equal(A.T @ (A @ x), tandem.projector(scan, tandem.VolumeGrid(SIZE)).T @ wanted)
    in_space = tandem.projector(tandem.scan_to("astra", scan), tandem.grid_to("astra", tandem.VolumeGrid(SIZE)))
    np.testing.assert_array_equal(in_space @ x, A @ x)


@pytest.mark.parametrize("scan", [parallel_scan(rows=1), parallel_scan(rows=3), fan_scan(), cone_scan(),
                                  tandem.as_free_views(cone_scan()), tandem.as_free_views(fan_scan())], ids=repr)
@pytest.mark.parametrize("centred", [True, False])
def test_scans_come_back_from_dictionaries(scan, centred):
    if centred and not isinstance(scan, tandem.FlexibleBeam):
        d = scan.detector
        detector = tandem.Detector(d.bins, d.rows, bin_pitch=d.bin_pitch, row_pitch=d.row_pitch)
        more = () if isinstance(scan, tandem.ParallelBeam) else (scan.sod_mm, scan.sdd_mm)
        scan = type(scan)(detector, scan.angles_rad, *more)
    back = tandem.scan_from(tandem.scan_to("astra", scan))
    circle = tandem.as_circle(scan) if isinstance(scan, tandem.FlexibleBeam) else scan
    assert type(back) is type(circle)
    near = np.abs(np.subtract(tandem.as_free_views(back).vectors, tandem.as_free_views(circle).vectors)).max()
    assert near < 1e-9
    grid = tandem.VolumeGrid((5, 7, 3), (2, 2, 0.5), (0.25, -1, 3))
    assert tandem.grid_from(tandem.grid_to("astra", grid)) == grid


def test_what_a_dictionary_of_astra_lacks_is_named_or_its_default():
    with pytest.raises(tandem.GeometryError, match="ASTRA: the geometry 'parallel' has no DetectorWidth; give one of"):
        tandem.scan_from({"type": "parallel", "DetectorCount": 9, "ProjectionAngles": ANGLES})
    assert tandem.grid_from({"GridColCount": 4, "GridRowCount": 6}) == tandem.VolumeGrid((4, 6, 1))


@pytest.mark.parametrize("behind", [0.0, -20.0])
@pytest.mark.parametrize("kind", ["cone", "fanflat"])
def test_a_detector_at_the_axis_or_before_it_is_moved_out_along_its_rays(kind, behind):
    """As the sample s005 of ASTRA has it, and tomosipo by default."""
    sizes = (0.5, 0.7, 9, 40) if kind == "cone" else (0.5, 40)
    near = astra.create_proj_geom(kind, *sizes, ANGLES, 100, behind)
    far = 300 / (100 + behind)
    pitches = [far * size for size in sizes[:len(sizes) // 2]]
    true = astra.create_proj_geom(kind, *pitches, *sizes[len(sizes) // 2:], ANGLES, 100, 200)
    grid = astra.create_vol_geom(12, 14, 6) if kind == "cone" else astra.create_vol_geom(12, 14)
    wanted = tandem.projector(true, grid)
    x = random_array(wanted._domain.inner)
    for geometry in (near, astra.geom_2vec(near)):
        scan = tandem.scan_from(geometry)
        assert type(scan) is (tandem.ConeBeam if kind == "cone" else tandem.FanBeam) and scan.sdd_mm > scan.sod_mm
        assert relative(tandem.projector(geometry, grid) @ x, wanted @ x) < 1e-5


def test_scans_go_to_other_packages_and_back():
    scan = cone_scan()
    geometry, angles = tandem.scan_to("tigre", scan)
    assert np.abs(np.subtract(tandem.as_free_views(tandem.scan_from(geometry, angles)).vectors,
                              tandem.as_free_views(scan).vectors)).max() < 1e-9
    assert "geometry = modular" in tandem.scan_to("leap", scan) and "GantryAngle" in tandem.scan_to("rtk", scan)
    grid = tandem.VolumeGrid((5, 7, 3), (2, 2, 0.5), (0.25, -1, 3))
    assert tandem.grid_from(tandem.grid_to("tigre", grid)) == grid


def test_a_file_of_rtk_needs_its_detector(tmp_path):
    scan = cone_scan()
    path = tmp_path / "geometry.xml"
    path.write_text(tandem.scan_to("rtk", scan))
    found = tandem.scan_from(str(path), scan.detector)
    assert np.abs(np.subtract(tandem.as_free_views(found).vectors, tandem.as_free_views(scan).vectors)).max() < 1e-6
    with pytest.raises(tandem.GeometryError, match="geometry.xml: says nothing of the cells; give detector"):
        tandem.scan_from(str(path))


def test_solvers_and_filters_take_their_arrays():
    """A slice of ASTRA, whose lines go down, from data (view, bin)."""
    scan = {"type": "parallel", "DetectorWidth": 1.0, "DetectorCount": 64,
            "ProjectionAngles": np.linspace(0, np.pi, 90, endpoint=False)}
    grid = {"GridRowCount": 60, "GridColCount": 64,
            "option": {"WindowMinX": -32, "WindowMaxX": 32, "WindowMinY": -30, "WindowMaxY": 30}}
    A = tandem.projector(scan, grid, "joseph")
    ours = tandem.voxelise(tandem.shepp_logan().scaled(25), tandem.VolumeGrid((64, 60, 1)))
    theirs = np.ascontiguousarray(ours[0, ::-1])
    y = A @ theirs
    assert y.shape == (90, 64)
    assert tandem.adjointness(A).mismatch < 1e-5
    solver = tandem.Cgls(A, y)
    tandem.run(solver, 30)
    assert solver.solution.shape == (60, 64) and relative(solver.solution, theirs) < 0.15
    assert relative(tandem.fbp(scan, grid) @ y, theirs) < 0.35
    out = np.empty_like(y)
    np.testing.assert_array_equal(A.apply(theirs, out=out, alpha=2), 2 * y)
    np.testing.assert_array_equal((A * A.T) @ y, A @ (A.T @ y))
    np.testing.assert_array_equal(A.matvec(theirs.ravel()), y.ravel())
    with pytest.raises(TypeError, match="vstack: an operator takes arrays of another package"):
        tandem.vstack([A, A])


def test_what_is_no_geometry_is_said():
    with pytest.raises(TypeError, match="scan_from: geometry is 3; give ParallelBeam.* or a geometry of ASTRA"):
        tandem.scan_from(3)
    with pytest.raises(TypeError, match="projector: grid is 3; give VolumeGrid"):
        tandem.projector({"type": "parallel", "DetectorWidth": 1.0, "DetectorCount": 8, "ProjectionAngles": [0, 1]}, 3)
    with pytest.raises(tandem.GeometryError, match="ASTRA: the type 'sparse_matrix' is not known; parallel"):
        tandem.scan_from({"type": "sparse_matrix", "Vectors": None})
    with pytest.raises(ValueError, match="package 'astro' is not known; astra"):
        tandem.scan_to("astro", parallel_scan())


def smooth(shape, seed=1):
    from scipy.ndimage import gaussian_filter
    x = gaussian_filter(np.random.default_rng(seed).uniform(0, 1, shape), 2)
    return np.pad(x[tuple(slice(4, -4) for _ in shape)], 4).astype(np.float32)


@pytest.mark.parametrize("kind", ["parallel", "fanflat"])
@pytest.mark.parametrize("wanders", [False, True])
def test_the_arrays_of_astra_are_those_of_astra(kind, wanders):
    """The lines of its fans meet the middles of bins alone: a hundredth forward, and ragged back. What is upside down
    or turned the other way differs by a third and more."""
    astra = pytest.importorskip("astra")
    random, views = np.random.default_rng(3), 31
    angles = np.linspace(0, 2 * np.pi, views, endpoint=False) + 0.1
    grid = astra.create_vol_geom(37, 40, -19.0, 21.0, -18.0, 19.0)
    scan = (astra.create_proj_geom("parallel", 1.1, 57, angles) if kind == "parallel" else
            astra.create_proj_geom("fanflat", 1.3, 61, angles, 80.0, 40.0))
    if wanders:
        scan = astra.geom_2vec(scan)
        scan["Vectors"][:, 2:4] += random.uniform(-1, 1, (views, 2))
        scan["Vectors"][:, 4:] *= 1 + 0.05 * random.uniform(-1, 1, (views, 1))
    number = astra.create_projector("linear" if kind == "parallel" else "line_fanflat", scan, grid)
    x = smooth((37, 40))
    wanted = astra.create_sino(x, number)[1]
    exact = kind == "parallel" and not wanders
    A = tandem.projector(scan, grid, "joseph" if exact else None)
    assert relative(A @ x, wanted) < (1e-5 if exact else 0.01)
    assert relative(A.T @ wanted, astra.create_backprojection(wanted, number)[1]) < (1e-5 if exact else 0.05)


def test_the_arrays_of_rtk_are_those_of_rtk():
    itk = pytest.importorskip("itk")
    rtk = pytest.importorskip("itk.RTK")
    image = itk.Image[itk.F, 3]

    def image_of(array, pitch, off=(0, 0, 0)):
        made = itk.image_from_array(np.ascontiguousarray(array, np.float32))
        made.SetSpacing(pitch)
        made.SetOrigin([-p * (n - 1) / 2 + o for p, n, o in zip(pitch, array.shape[::-1], off)])
        return made

    volume = image_of(smooth((26, 22, 24)), [1.0, 1.1, 1.0], (1.5, -1.0, 0.7))
    geometry = rtk.ThreeDCircularProjectionGeometry.New()
    for k in range(8):
        geometry.AddProjection(90.0, 140.0, 10 + 44.0 * k, 1 + 0.1 * k, -2.0, 3.0 * (k % 3), 2.0 * (k % 2), 0.5, -0.7)
    data = image_of(np.zeros((8, 30, 36)), [1.6, 1.7, 1.0])
    zeros = rtk.ConstantImageSource[image].New()
    zeros.SetInformationFromImage(data)
    work = rtk.JosephForwardProjectionImageFilter[image, image].New()
    work.SetGeometry(geometry)
    work.SetInput(0, zeros.GetOutput())
    work.SetInput(1, volume)
    work.Update()
    A = tandem.projector((geometry, data), volume)
    assert relative(A @ itk.array_from_image(volume), itk.array_from_image(work.GetOutput())) < 0.01
