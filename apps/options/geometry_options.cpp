#include "geometry_options.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/rounding.hpp"
#include "../../core/units.hpp"
#include "../../geometry/trajectories.hpp"
#include "../../io/scans/geometries/geometry_file.hpp"
#include "../../io/scans/scan_reader.hpp"
#include "../../options/scan.hpp"
#include "../beams/beam.hpp"

namespace tandem::apps {

namespace {

constexpr double radians = in_radians(1);  // radians in a degree

/// The options in words: "--sod MM, --sdd MM and --pixel-size MM".
std::string listed_with_and(const std::vector<const char*>& options) {
  std::string list;
  for (std::size_t k = 0; k < options.size(); ++k)
    list += (k == 0 ? "" : k + 1 < options.size() ? ", " : " and ") + std::string(options[k]) + " MM";
  return list;
}

bool is_free(const GeometryOptions& o) { return o.trajectory != "circle" || o.jitter_mm || o.curved; }

/// Takes --geometry, which is a kind of beam or a file.
void parse(const Table& c, GeometryOptions& o) {
  if (!c.given("--geometry")) return;
  const std::string kind(kind_called(o.geometry));
  o.is_fan = in_lower_case(o.geometry) == "fan";
  if (kind.empty()) o.views_file = io::geometry_named(o.geometry);
  o.geometry = kind;
}

/// Refuses options that say what the geometry file says already.
void check_file(const Table& c) {
  for (const char* option : {"--views", "--arc", "--start", "--angles", "--axis-bin", "--midplane-row",
                             "--sod", "--sdd", "--curved-detector", "--trajectory", "--jitter"})
    if (c.given(option)) throw UsageError(std::string(option) + " does not go with a file as --geometry");
}

void check_trajectory(const Table& c, const GeometryOptions& o) {
  if (!c.find("--trajectory")) return;
  for (const auto& [option, trajectory] : {std::pair{"--pitch", "helix"}, {"--elevation", "laminography"}})
    if (c.given(option) && o.trajectory != trajectory)
      throw UsageError(std::string(option) + " goes with --trajectory " + trajectory + " alone");
  if (o.trajectory == "helix" && !o.pitch_mm) throw UsageError("--trajectory helix needs --pitch MM");
  if (is_free(o) && !o.pixel_size_mm)
    throw UsageError(std::string(o.jitter_mm ? "--jitter" : "--trajectory " + o.trajectory) +
                     " needs --pixel-size MM");
}

/// Refuses options that do not go together, or lack others.
void check(const Table& c, GeometryOptions& o) {
  parse(c, o);
  if (!o.views_file.path.empty()) return check_file(c);
  check_trajectory(c, o);
  if (c.given("--angles") && (c.given("--views") || c.given("--arc") || c.given("--start")))
    throw UsageError("--angles does not go with --views, --arc or --start");
  if (o.arc && !(std::abs(*o.arc) > 0 && std::abs(*o.arc) <= 36000))
    throw UsageError("--arc must be an angle in degrees, at most 36000 and not 0");
  const bool free_rows = is_free(o);  // then a parallel detector may also be raised
  for (const Beam& beam : beams())
    for (const char* option : beam.options)
      if (beam.kind != o.geometry && c.given(option) &&
          !(free_rows && option == std::string("--midplane-row")))
        throw UsageError(std::string(option) + " goes with --geometry " + std::string(beam.kind) + " alone");
  const std::vector<const char*>& needed = beam_named(o.geometry).needed;
  if (std::ranges::any_of(needed, [&](const char* option) { return !c.given(option); }))
    throw UsageError("--geometry " + o.geometry + " needs " + listed_with_and(needed));
}

/// The default arc of the views, degrees.
double usual_arc(const GeometryOptions& o) {
  if (o.trajectory == "helix") return 1080;
  if (o.trajectory == "laminography") return 360;
  if (o.trajectory == "tomosynthesis") return 60;
  return beam_named(o.geometry).arc_deg;
}

std::vector<double> angles_of_views(const GeometryOptions& o, Index bins, std::string& note) {
  if (!o.list.angles.empty()) {
    io::GivenAngles given = io::read_angles(o.list);
    note = std::move(given.note);
    return std::move(given.radians);
  }
  std::vector<double> angles;
  const Index views = o.views.value_or(ceil_index(0.5 * std::numbers::pi * bins));
  const double arc = o.arc.value_or(usual_arc(o));
  const bool about_zero = o.trajectory == "tomosynthesis";  // the middle view looks straight down
  const double step = arc / views, start = o.start + (about_zero ? -0.5 * arc + 0.5 * step : 0);
  for (Index v = 0; v < views; ++v) angles.push_back((start + arc * v / views) * radians);
  return angles;
}

Scan scan_on_trajectory(const GeometryOptions& o, const Detector& d, std::vector<double> angles) {
  return views_along({.name = o.trajectory,
                      .angles = std::move(angles),
                      .parallel = o.geometry == ParallelBeam::kind,
                      .sod = o.sod_mm.value_or(0),
                      .sdd = o.sdd_mm.value_or(0),
                      .midplane_row = o.midplane_row.value_or(0.5 * (d.rows - 1)),
                      .pitch = o.pitch_mm.value_or(0),
                      .elevation = in_radians(o.elevation_deg.value_or(30)),
                      .curved = o.curved,
                      .jitter = o.jitter_mm.value_or(0),
                      .seed = o.seed},
                     d);
}

}  // namespace

void add_geometry(Table& c, GeometryOptions& o) {
  c.heading("Geometry");
  c.add("--geometry", On::result, o.geometry,
        "default parallel; cone: one row of it is a fan beam; or a file that says where each view is "
        "taken from (*.npy, *.geom, *.xml, *.cfg), with :cone or :parallel if vectors do not say it")
      .of_kind("parallel|cone|FILE|FILE:cone|FILE:parallel");
  if (c.command == "simulate") add_trajectory(c, o);
  c.add("--bins", On::result, o.bins, "detector bins (default: voxels along x)").check(count());
  const char* rows = c.command == "simulate" ? "1" : "one per slice";
  c.add("--rows", On::result, o.rows, std::string("detector rows (default: ") + rows + ")").check(count());
  c.add("--views", On::result, o.views, "views (default: pi/2 times the bins)").check(count());
  c.add("--arc", On::result, o.arc, "degrees that the views fill in equal steps (default 180, cone 360)")
      .in("degrees");
  c.add("--start", On::result, o.start, "degrees, angle of the first view (default 0)")
      .called("first angle")
      .in("degrees")
      .check(within(-36000, 36000));
  add_angles(c, o.list);
  c.add("--axis-bin", On::result, o.axis_bin, "bin where the rotation axis falls (default: the middle)")
      .called("rotation axis")
      .in("bin");
  c.add("--midplane-row", On::result, o.midplane_row,
        "cone: row at the height of the source (default: the middle)")
      .called("midplane")
      .in("row");
  c.add("--sod", On::result, o.sod_mm, "cone: from source to rotation axis, mm")
      .called("source to axis")
      .in("mm")
      .check(length());
  c.add("--sdd", On::result, o.sdd_mm, "cone: from source to detector, mm")
      .called("source to detector")
      .in("mm")
      .check(length());
  c.add("--curved-detector", On::result, o.curved, "cone: the detector lies on a cylinder about the source");
  c.add("--pixel-size", On::result, o.pixel_size_mm, "detector pitch, mm (default: unknown, lengths in bins)")
      .in("mm")
      .check(length());
  c.at_end([&c, &o] { check(c, o); });
}

void add_trajectory(Table& c, GeometryOptions& o) {
  const std::vector<std::string> names(trajectory_names().begin(), trajectory_names().end());
  add_choice(c, "--trajectory", On::result, o.trajectory, names,
             "how source and detector go about the sample (default circle)");
  c.add("--pitch", On::result, o.pitch_mm, "helix: how far it rises in a turn, mm")
      .in("mm")
      .check(within(-1e6, 1e6));
  c.add("--elevation", On::result, o.elevation_deg,
        "laminography: by how much rays rise over the plane of slices, degrees (default 30)")
      .in("degrees")
      .check(within(-89, 89));
  c.add("--jitter", On::result, o.jitter_mm,
        "moves source and detector of each view off their places by up to so much, mm, and turns the "
        "detector")
      .in("mm")
      .check(length());
}

bool is_in_mm(const GeometryOptions& o) { return !o.views_file.path.empty() || o.pixel_size_mm; }

Scan scan_of(const GeometryOptions& o, Index size, Index slices, double pitch_mm, std::string& note) {
  const bool many_rows = o.trajectory == "laminography" || o.trajectory == "tomosynthesis";
  Detector d{.bins = o.bins.value_or(size), .rows = o.rows.value_or(many_rows ? size : slices)};
  require<GeometryError>(!o.is_fan || d.rows == 1, "--geometry fan: the detector has ", d.rows,
                         " rows, and that of a fan beam has one; give --rows 1, or --geometry cone");
  d.bin_pitch = d.row_pitch = pitch_mm;
  d.axis_bin = o.axis_bin.value_or(0.5 * (d.bins - 1));
  if (!o.views_file.path.empty()) {
    const io::ViewGeometry given = io::read_geometry_file(o.views_file);
    d.rows = o.rows.value_or(given.rows.value_or(d.rows)),
    d.bins = o.bins.value_or(given.bins.value_or(d.bins));
    return io::scan_of_views(given, d, o.pixel_size_mm, o.pixel_size_mm.has_value());
  }
  std::vector<double> angles = angles_of_views(o, d.bins, note);
  Scan scan = is_free(o) ? scan_on_trajectory(o, d, std::move(angles))
                         : beam_named(o.geometry).scan(o, d, std::move(angles));
  validate(scan);
  return scan;
}

}  // namespace tandem::apps
