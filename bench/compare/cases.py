"""The scans on which packages are compared, and what is known of them in closed form.

Lengths are in voxels. A volume is (slice, y, x), projections are (view, row, bin), and the frame is that of
docs/conventions.md: a view at angle a sees the point (x, y) of a parallel beam at x cos a + y sin a.
"""
import dataclasses
import math

import numpy as np

SUBDIVISION = 4  # parts of a bin, and of a voxel's sides: exact values are means


@dataclasses.dataclass(frozen=True)
class Case:
    beam: str  # parallel, fan or cone
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


def smaller(case):
    """The same kind of scan, small enough to try how well a pair matches."""
    if case.beam == "parallel":
        return parallel(min(case.size, 128), case.slices, min(case.views, 90))
    make, size = {"fan": (fan, 128), "cone": (cone, 48)}[case.beam]
    return make(min(case.size, size), min(case.views, 60))


def geometry(case, parts=1):
    """Scan and grid in tandem's terms, with the bins of a line or the heights of voxels in so many parts."""
    import tandem
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


def phantom(case):
    """Shepp and Logan's ellipses, or ellipsoids of which no two slices are alike; well within the field of view."""
    import tandem
    body = tandem.ellipsoids() if case.beam == "cone" else tandem.shepp_logan()
    return body.scaled(0.45 * case.size, 2 / case.size)


def exact_volume(case):
    """The means of the voxels, 1/voxel. All slices of a cylinder are one."""
    import tandem
    if case.beam != "cone":
        one = tandem.voxelise(phantom(case), geometry(case.with_slices(1))[1])
        return np.broadcast_to(one, case.volume_shape)
    fine = tandem.voxelise(phantom(case), geometry(case, SUBDIVISION)[1], samples=SUBDIVISION)
    return fine.reshape(case.slices, SUBDIVISION, case.size, case.size).mean(1)


def exact_data(case):
    """The means of the line integrals over the cells."""
    import tandem
    if case.beam == "cone":
        return tandem.project(phantom(case), geometry(case)[0], samples=2)
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
