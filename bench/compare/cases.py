"""The scans on which packages are compared, with their volumes and data in closed form.

Lengths are in voxels. A volume is (slice, y, x), and projections are (view, row, bin). The frame is defined in
docs/conventions.md: in a parallel beam, a view at angle a sees the point (x, y) at x cos a + y sin a.
"""
import dataclasses
import math

import numpy as np

SUBDIVISION = 4  # parts of a bin, and of a voxel's sides: exact values are means


@dataclasses.dataclass(frozen=True)
class Case:
    beam: str  # parallel, fan, cone, fan_vectors or cone_vectors
    size: int  # voxels along x and y
    slices: int
    views: int
    rows: int
    bins: int
    cell: float = 1.0  # between centres of cells, along rows and bins
    sod: float = 0.0
    sdd: float = 0.0
    off: float = 0.0  # the axis is so far above the middle of pixels and bins: 0.5 if a package has it at n / 2

    @property
    def angles(self):
        return np.linspace(0, math.pi if self.beam == "parallel" else 2 * math.pi, self.views, endpoint=False)

    @property
    def volume_shape(self):
        return self.slices, self.size, self.size

    @property
    def data_shape(self):
        return self.views, self.rows, self.bins

    def with_slices(self, count):
        """Fewer slices of a beam whose slices are independent."""
        return dataclasses.replace(self, slices=count, rows=count)

    def described(self):
        updates = f"{self.slices} × {self.size} × {self.size} voxels, {self.views} views"
        cells = f"{self.rows} × {self.bins} cells"
        if self.beam == "parallel":
            return f"{updates} over 180°, {cells}"
        return f"{updates} over 360°, {cells} of {self.cell:g}, sod {self.sod:g}, sdd {self.sdd:g}"


def parallel(size, slices, views):
    return Case("parallel", size, slices, views, slices, size)


def fan(size, views):
    """One slice, whose circle a detector of twice the magnification just sees."""
    return Case("fan", size, 1, views, 1, size + size // 4, 2.0, 2.0 * size, 4.0 * size)


def cone(size, views):
    return Case("cone", size, size, views, size + size // 8, size + size // 2, 2.0, 2.0 * size, 4.0 * size)


def fan_vectors(size, views):
    """The fan, each view with a place of its own."""
    return dataclasses.replace(fan(size, views), beam="fan_vectors")


def cone_vectors(size, views):
    """The cone, each view with a place and an orientation of its own."""
    return dataclasses.replace(cone(size, views), beam="cone_vectors")


def vectors(case):
    """12 numbers a view: source, middle of the detector, steps along bins and rows. Distances differ by up to 5 %, the
    detector is up to 3 % of its width aside and yawed by up to 10 degrees; that of a cone is also rolled by up to 20
    degrees, and its source up to 20 degrees above the plane of the slices or below it."""
    random, cone, rows = np.random.default_rng(7), case.beam == "cone_vectors", []
    for angle in case.angles:
        far, near, aside, above, yaw, roll, rise = random.uniform(-1, 1, 7)
        turn, lift = math.radians(10 * yaw), math.radians(20 * rise) * cone
        along, level, up = (np.array(v) for v in [(math.cos(angle), math.sin(angle), 0),
                                                  (-math.sin(angle), math.cos(angle), 0), (0, 0, 1)])
        ray, up = math.cos(lift) * level + math.sin(lift) * up, math.cos(lift) * up - math.sin(lift) * level
        across, lean = math.cos(turn) * along + math.sin(turn) * ray, math.radians(20 * roll) * cone
        u, v = math.cos(lean) * across + math.sin(lean) * up, math.cos(lean) * up - math.sin(lean) * across
        source = -case.sod * (1 + 0.05 * near) * ray
        off = 0.03 * case.bins * case.cell * (aside * u + above * cone * v)
        middle = source + case.sdd * (1 + 0.05 * far) * ray + off
        rows.append(np.concatenate([source, middle, case.cell * u, case.cell * v]))
    return np.array(rows)


def smaller(case):
    """The same kind of scan, small enough to try how well a pair matches."""
    if case.beam == "parallel":
        return parallel(min(case.size, 128), case.slices, min(case.views, 90))
    make, size = {"fan": (fan, 128), "cone": (cone, 48), "fan_vectors": (fan_vectors, 128),
                  "cone_vectors": (cone_vectors, 48)}[case.beam]
    return make(min(case.size, size), min(case.views, 60))


def geometry(case, parts=1):
    """Scan and grid in tandem's terms. Each bin of a line, or the height of each voxel, is divided into `parts`."""
    import tandem
    if case.beam in ("fan_vectors", "cone_vectors"):
        height = 1 / parts if case.beam == "cone_vectors" else 16  # a row sees no end of voxels so tall
        scan = tandem.FlexibleBeam(case.bins, case.rows, vectors(case).tolist())
        size = (case.size, case.size, case.slices * parts if case.beam == "cone_vectors" else 1)
        return scan, tandem.VolumeGrid(size, (1, 1, height))
    bins, heights = (1, parts) if case.beam == "cone" else (parts, 1)
    detector = tandem.Detector(bins=case.bins * bins, rows=case.rows, bin_pitch=case.cell / bins, row_pitch=case.cell,
                               axis_bin=(case.bins / 2 + case.off) * bins - 0.5)
    if case.beam == "parallel":
        scan = tandem.ParallelBeam(detector, case.angles)
    else:
        kind = tandem.FanBeam if case.beam == "fan" else tandem.ConeBeam
        scan = kind(detector, case.angles, sod_mm=case.sod, sdd_mm=case.sdd)
    return scan, tandem.VolumeGrid((case.size, case.size, case.slices * heights), (1, 1, 1 / heights),
                                   (-case.off, -case.off, 0))


def is_cone(case):
    return case.beam in ("cone", "cone_vectors")


def phantom(case):
    """Shepp and Logan's ellipses, or ellipsoids of which no two slices are alike; well within the field of view."""
    import tandem
    body = tandem.ellipsoids() if is_cone(case) else tandem.shepp_logan()
    return body.scaled(0.45 * case.size, 2 / case.size)


def exact_volume(case):
    """The means of the voxels, 1/voxel. All slices of a cylinder are one."""
    import tandem
    if not is_cone(case):
        one = tandem.voxelise(phantom(case), geometry(case.with_slices(1))[1])
        return np.broadcast_to(one, case.volume_shape)
    fine = tandem.voxelise(phantom(case), geometry(case, SUBDIVISION)[1], samples=SUBDIVISION)
    return fine.reshape(case.slices, SUBDIVISION, case.size, case.size).mean(1)


def exact_data(case):
    """The means of the line integrals over the cells."""
    import tandem
    if case.beam in ("cone", "fan_vectors", "cone_vectors"):
        return tandem.project(phantom(case), geometry(case)[0], samples=4 if case.beam == "fan_vectors" else 2)
    one = case.with_slices(1)
    fine = tandem.project(phantom(case), geometry(one, SUBDIVISION)[0])
    return np.broadcast_to(fine.reshape(*one.data_shape, SUBDIVISION).mean(3), case.data_shape)


def exact_back(case, count=2000):
    """(pixels, values) of a parallel beam: in the middle of a pixel, back-projection is the sum over the views of the
    line integrals through it. Of a slice, at random pixels. None for beams where packages weigh rays in their own ways.
    """
    if case.beam != "parallel":
        return None
    inside = np.flatnonzero(circle(case))
    pixels = np.random.default_rng(1).choice(inside, min(count, len(inside)), replace=False)
    middle = (case.size - 1) / 2 + case.off
    y, x = (index[:, None] - middle for index in np.divmod(pixels, case.size))
    total = np.zeros(len(pixels))
    for e in phantom(case).ellipsoids:  # Kak and Slaney 1988, section 3.1
        u = (x - e.centre[0]) * np.cos(case.angles) + (y - e.centre[1]) * np.sin(case.angles)
        turned = case.angles - e.rotation_rad
        a, b = e.semi_axes[:2]
        squared = (a * np.cos(turned)) ** 2 + (b * np.sin(turned)) ** 2
        total += (2 * e.attenuation * a * b * np.sqrt(np.maximum(squared - u * u, 0)) / squared).sum(1)
    return pixels, total


def circle(case):
    """Pixels whose values a reconstruction is judged by: within 0.95 of the field of view."""
    c = np.arange(case.size) - (case.size - 1) / 2 - case.off
    return c[None, :] ** 2 + c[:, None] ** 2 < (0.475 * case.size) ** 2


def judged(case, volume):
    """These pixels of the slices that an FDK can get right: of a cone the middle one, else all."""
    slices = volume[case.slices // 2 - 1:case.slices // 2 + 1] if case.beam == "cone" else volume
    return np.asarray(slices, np.float64)[:, circle(case)]


def error(found, exact):
    """Relative difference in L2."""
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def scale(found, exact):
    """How many times too large values are, by their sums, which blurred edges keep."""
    return float(np.sum(found) / np.sum(exact))
