#include <algorithm>
#include <cmath>
#include <sstream>

#include "../../apps/pages/geometry_page.hpp"
#include "../../apps/reports/scan_report.hpp"
#include "../../geometry/free_views.hpp"
#include "../../geometry/scan.hpp"
#include "bindings.hpp"

namespace tandem::python {

namespace {

using Ends = std::pair<Index, Index>;

Range range_of(const std::optional<Ends>& ends, Index count) {
  return ends ? Range{ends->first, ends->second} : Range{0, count};
}

Detector make_detector(Index bins, Index rows, std::optional<double> bin_pitch,
                       std::optional<double> row_pitch, std::optional<double> axis_bin) {
  const double pitch = bin_pitch.value_or(1);
  const Detector detector{bins, rows, pitch, row_pitch.value_or(pitch), axis_bin.value_or(0.5 * (bins - 1))};
  validate(detector);
  return detector;
}

/// Warns of angles that look like degrees, since few scans go round more than twice.
void warn_of_degrees(const std::vector<double>& angles) {
  constexpr double two_turns = 12.567;
  double largest = 0;
  for (const double angle : angles) largest = std::max(largest, std::abs(angle));
  if (!(largest > two_turns)) return;
  std::ostringstream text;
  text << "angles_rad: up to " << largest << " rad, which is more than two turns; if these are degrees, give "
       << "numpy.radians(angles)";
  nb::module_::import_("tandem._arrays").attr("warn")(text.str());
}

ParallelBeam make_parallel(const Detector& detector, std::vector<double> angles,
                           std::vector<double> row_axis_bins, std::vector<double> view_shift_bins) {
  const ParallelBeam scan{detector, std::move(angles), std::move(row_axis_bins), std::move(view_shift_bins)};
  validate(scan);
  warn_of_degrees(scan.angles);
  return scan;
}

template <class Kind>
Kind make_cone(const Detector& detector, std::vector<double> angles, double sod_mm, double sdd_mm,
               std::optional<double> midplane_row) {
  Kind scan;
  static_cast<ConeBeam&>(scan) = {detector, std::move(angles), sod_mm, sdd_mm,
                                  midplane_row.value_or(0.5 * (detector.rows - 1))};
  validate(scan);
  warn_of_degrees(scan.angles);
  return scan;
}

using Numbers = std::vector<std::array<double, 12>>;

FlexibleBeam make_flexible(Index bins, Index rows, const Numbers& vectors, bool parallel, bool curved) {
  std::vector<FlexibleView> views;
  for (const auto& v : vectors)
    views.push_back({{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, {v[6], v[7], v[8]}, {v[9], v[10], v[11]}});
  return flexible_beam(rows, bins, std::move(views), parallel, curved);
}

Numbers vectors_of(const FlexibleBeam& scan) {
  Numbers all;
  for (const auto& [s, d, u, v] : scan.views)
    all.push_back({s[0], s[1], s[2], d[0], d[1], d[2], u[0], u[1], u[2], v[0], v[1], v[2]});
  return all;
}

VolumeGrid make_grid(const std::array<Index, 3>& size, const std::array<double, 3>& pitch,
                     const std::array<double, 3>& centre) {
  const VolumeGrid grid{size, pitch, centre};
  validate(grid);
  return grid;
}

/// Scans are equal if their fingerprints are.
template <class Beam, class Class>
void add_equality(Class& c) {
  c.def(
       "__eq__", [](const Beam& a, const Beam& b) { return fingerprint(a) == fingerprint(b); },
       nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Beam& s) { return fingerprint(s); });
}

/// The page of `tandem info --picture`.
template <class Beam>
std::string page_of(const Beam& scan, const std::optional<VolumeGrid>& grid) {
  const Released released;
  const std::string words = apps::words_of(scan);
  return apps::geometry_page(words, words, scan, grid ? *grid : fitting_grid(scan));
}

/// Adds the functions by which a scan shows itself.
template <class Beam, class Class>
void add_picture(Class& c) {
  c.def("page", &page_of<Beam>, "grid"_a = nb::none(),
        "A page of HTML that shows sources, detector, rays and volume, and turns with the mouse: that of "
        "`tandem info --picture`. grid: default `fitting_grid`.");
  c.def(
      "show",
      [](const nb::object& scan, const std::optional<VolumeGrid>& grid) {
        return nb::module_::import_("tandem._show").attr("show")(scan, grid);
      },
      nb::sig("def show(self, grid: VolumeGrid | None = None) -> typing.Any"), "grid"_a = nb::none(),
      "Opens that page in a browser, or returns it to the notebook that it is called in.");
  c.def(
      "replace",
      [](const nb::object& scan, const nb::kwargs& changes) {
        return nb::module_::import_("tandem._tomography").attr("replaced")(scan, changes);
      },
      nb::sig("def replace(self, **changes: typing.Any) -> typing.Self"),
      "The scan with other values: those of its constructor, and those of its detector, for example "
      "replace(axis_bin=30.5, angles_rad=angles).");
  c.def("_repr_html_", [](const nb::object& scan) {
    return nb::module_::import_("tandem._show").attr("in_notebook")(scan.attr("page")());
  });
}

void add_parallel(nb::module_& m) {
  auto beam = nb::class_<ParallelBeam>(
                  m, "ParallelBeam",
                  "A scan with parallel rays: a point (x, y) falls on bin axis_bin + (x cos a + y sin a) / "
                  "bin_pitch for the view angle a. Each detector row sees one slice.\n\n"
                  "angles_rad: one for each view, rad, in any order. row_axis_bins: the axis of each row, if "
                  "they differ. view_shift_bins: how far each view lies towards higher bins.")
                  .def_ro("detector", &ParallelBeam::detector, "Bins, rows and pitches.")
                  .def_ro("angles_rad", &ParallelBeam::angles, "Of the views, rad.")
                  .def_ro("row_axis_bins", &ParallelBeam::row_axis_bins,
                          "The axis of each row, bins; empty if they have one.")
                  .def_ro("view_shift_bins", &ParallelBeam::view_shift_bins,
                          "How far each view lies towards higher bins; empty if none does.");
  add_constructor<ParallelBeam>(
      m, beam, "ParallelBeam",
      "detector: Detector, angles_rad: numpy.typing.ArrayLike, *, row_axis_bins: numpy.typing.ArrayLike = "
      "(), view_shift_bins: numpy.typing.ArrayLike = ()",
      &make_parallel, "detector"_a, "angles_rad"_a, nb::kw_only(), "row_axis_bins"_a = std::vector<double>{},
      "view_shift_bins"_a = std::vector<double>{});
  add_equality<ParallelBeam>(beam);
  add_picture<ParallelBeam>(beam);
}

void add_cone(nb::module_& m) {
  auto beam =
      nb::class_<ConeBeam>(
          m, "ConeBeam",
          "A scan with a point source on a circle and a flat detector. The source is at sod (sin a, "
          "-cos a, 0) for the view angle a.\n\n"
          "angles_rad: one for each view, rad. sod_mm, sdd_mm: from the source to the axis, and to the "
          "detector. midplane_row: the row at the height of the source; default: the middle.")
          .def_ro("detector", &ConeBeam::detector, "Bins, rows and pitches.")
          .def_ro("angles_rad", &ConeBeam::angles, "Of the views, rad.")
          .def_ro("sod_mm", &ConeBeam::sod, "From the source to the axis, mm.")
          .def_ro("sdd_mm", &ConeBeam::sdd, "From the source to the detector, mm.")
          .def_ro("midplane_row", &ConeBeam::midplane_row, "The row at the height of the source.")
          .def_prop_ro("magnification", &ConeBeam::magnification, "sdd / sod.");
  const char* parameters =
      "detector: Detector, angles_rad: numpy.typing.ArrayLike, sod_mm: float, sdd_mm: float, midplane_row: "
      "float | None = None";
  add_constructor<ConeBeam>(m, beam, "ConeBeam", parameters, &make_cone<ConeBeam>, "detector"_a,
                            "angles_rad"_a, "sod_mm"_a, "sdd_mm"_a, "midplane_row"_a = nb::none());
  add_equality<ConeBeam>(beam);
  add_picture<ConeBeam>(beam);
  auto fan = nb::class_<FanBeam, ConeBeam>(
      m, "FanBeam",
      "A cone beam with one detector row, at the height of its source. A grid of one slice "
      "gets voxels of which the row sees no end.");
  add_constructor<FanBeam>(m, fan, "FanBeam", parameters, &make_cone<FanBeam>, "detector"_a, "angles_rad"_a,
                           "sod_mm"_a, "sdd_mm"_a, "midplane_row"_a = nb::none());
}

void add_flexible(nb::module_& m) {
  auto beam =
      nb::class_<FlexibleBeam>(
          m, "FlexibleBeam",
          "A scan of any geometry, view by view: a helix, laminography, tomosynthesis, a detector that "
          "leans.\n\n"
          "vectors: 12 numbers a view in mm, as ASTRA has them (cone_vec, parallel3d_vec): the source, or "
          "the direction of parallel rays; the middle of the detector; the steps from bin to bin and from "
          "row to row. Solvers take it, and filters if sources go nearly along a circle or a helix.\n\n"
          "curved: the detector lies on a cylinder about the source, with equal angles between bins; steps "
          "are those in its middle.")
          .def_prop_ro(
              "bins", [](const FlexibleBeam& s) { return s.detector.bins; }, "Cells of a row.")
          .def_prop_ro(
              "rows", [](const FlexibleBeam& s) { return s.detector.rows; }, "Rows of cells.")
          .def_ro("detector", &FlexibleBeam::detector, "Bins, rows and pitches.")
          .def_prop_ro("vectors", &vectors_of, "12 numbers a view, mm.")
          .def_ro("parallel", &FlexibleBeam::parallel, "Whether rays are parallel in each view.")
          .def_ro("curved", &FlexibleBeam::curved,
                  "Whether the detector lies on a cylinder about the source.");
  add_constructor<FlexibleBeam>(
      m, beam, "FlexibleBeam",
      "bins: int, rows: int, vectors: numpy.typing.ArrayLike, parallel: bool = False, curved: bool = False",
      &make_flexible, "bins"_a, "rows"_a, "vectors"_a, "parallel"_a = false, "curved"_a = false);
  add_equality<FlexibleBeam>(beam);
  add_picture<FlexibleBeam>(beam);
  m.def(
      "as_free_views",
      [](const Scan& scan, bool curved) {
        OffCircle off;
        off.curved = curved;
        return as_free_views(scan, off);
      },
      "scan"_a, nb::kw_only(), "curved"_a = false,
      "Any scan, view by view, as a FlexibleBeam. curved: the detector of a cone or a fan beam lies on a "
      "cylinder about the source, with its pitches along the arc and the axis on the same bin.");
  m.def(
      "as_circle", [](const FlexibleBeam& scan) { return as_circle(scan); }, "scan"_a,
      "The scan as a parallel, fan or cone beam, if its views lie on an exact circle; else None.");
}

void add_parts(nb::module_& m) {
  auto detector =
      nb::class_<Detector>(
          m, "Detector",
          "A flat detector. Positions count from 0 at the centres of cells. row_pitch: default bin_pitch. "
          "axis_bin: where the rotation axis falls; default: the middle, (bins - 1) / 2. Pitches are in "
          "mm; None, the default, says that they are not known: they are 1 then, and lengths are in bins.")
          .def_ro("bins", &Detector::bins, "Cells of a row.")
          .def_ro("rows", &Detector::rows, "Rows of cells.")
          .def_ro("bin_pitch", &Detector::bin_pitch, "From bin to bin, mm.")
          .def_ro("row_pitch", &Detector::row_pitch, "From row to row, mm.")
          .def_ro("axis_bin", &Detector::axis_bin, "Where the rotation axis falls, bins from 0.");
  add_constructor<Detector>(
      m, detector, "Detector",
      "bins: int, rows: int = 1, *, bin_pitch: float | None = None, row_pitch: float | None = None, "
      "axis_bin: float | None = None",
      &make_detector, "bins"_a, "rows"_a = 1, nb::kw_only(), "bin_pitch"_a = nb::none(),
      "row_pitch"_a = nb::none(), "axis_bin"_a = nb::none());
}

void add_grid(nb::module_& m) {
  auto grid = nb::class_<VolumeGrid>(
                  m, "VolumeGrid",
                  "The voxels of a volume: size (nx, ny, nz), pitch and centre in mm. Arrays have the shape "
                  "(nz, ny, nx). The rotation axis is z, through the origin.")
                  .def_ro("size", &VolumeGrid::size, "(nx, ny, nz), voxels.")
                  .def_ro("pitch", &VolumeGrid::pitch, "Along x, y and z, mm.")
                  .def_ro("centre", &VolumeGrid::centre, "(x, y, z), mm.")
                  .def_prop_ro(
                      "shape", [](const VolumeGrid& g) { return std::tuple_cat(g.shape()); },
                      "Of arrays: (nz, ny, nx).")
                  .def("x", &VolumeGrid::x, "ix"_a, "Of the middle of voxel ix, mm.")
                  .def("y", &VolumeGrid::y, "iy"_a, "Likewise, of voxel iy.")
                  .def("z", &VolumeGrid::z, "iz"_a, "Likewise, of voxel iz.");
  add_constructor<VolumeGrid>(
      m, grid, "VolumeGrid",
      "size: typing.Sequence[int], pitch: float | typing.Sequence[float] = (1.0, 1.0, 1.0), centre: "
      "typing.Sequence[float] = (0.0, 0.0, 0.0)",
      &make_grid, "size"_a, "pitch"_a = std::array<double, 3>{1, 1, 1}, "centre"_a = std::array<double, 3>{});
}

void add_views(nb::module_& m) {
  m.def(
      "view_subsets",
      [](const std::vector<double>& angles, double period, Index count) {
        return view_subsets(angles, period, count);
      },
      "angles_rad"_a, "period_rad"_a, "count"_a,
      "Deals views out to subsets, each of which sees the object from all around. Lists of numbers of "
      "views.");
  m.def(
      "view_subsets", [](const Scan& scan, Index count) { return view_subsets(scan, count); }, "scan"_a,
      "count"_a, "The same for the views of a scan.");
  m.def(
      "with_views", [](const Scan& scan, const std::vector<Index>& views) { return with_views(scan, views); },
      "scan"_a, "views"_a, "The scan with these of its views, in this order.");
  m.def(
      "projection_shape",
      [](const Scan& scan) {
        const Shape shape = projection_space(scan).shape();
        return std::tuple_cat(shape);
      },
      "scan"_a, "The shape (view, row, bin) of the data of a scan.");
}

}  // namespace

void add_geometry(nb::module_& m) {
  add_parts(m);
  add_grid(m);
  add_parallel(m);
  add_cone(m);
  add_flexible(m);
  m.def(
      "fitting_grid", [](const Scan& scan) { return fitting_grid(scan); }, "scan"_a,
      "A grid of square voxels as large as a bin appears at the axis, which is all that the detector sees.");
  m.def(
      "symmetric", [](const Scan& scan) { return symmetric(scan); }, "scan"_a,
      "The scan with bins added on the nearer side of its detector, if that is needed for a half "
      "acquisition.");
  m.def(
      "half_acquisition", [](const Scan& scan) { return half_acquisition(scan); }, "scan"_a,
      "Whether the views go all round and one side of the detector is clearly shorter than the other.");
  m.def(
      "crop",
      [](const Scan& scan, std::optional<Ends> views, std::optional<Ends> rows, std::optional<Ends> bins) {
        const Detector& detector = detector_of(scan);
        return crop(scan, range_of(views, views_of(scan)), range_of(rows, detector.rows),
                    range_of(bins, detector.bins));
      },
      "scan"_a, "views"_a = nb::none(), "rows"_a = nb::none(), "bins"_a = nb::none(),
      "The part of a scan with these views, rows and bins: half-open ranges (first, end). It keeps its "
      "place.");
  m.def(
      "bin_down",
      [](const Scan& scan, int level, bool pitch_known) { return bin_down(scan, level, pitch_known); },
      "scan"_a, "level"_a, "pitch_known"_a = true, "The scan after averaging 2^level x 2^level cells.");
  add_views(m);
}

}  // namespace tandem::python
