#include "geometry_options.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "../../core/units.hpp"
#include "../../io/scans/scan_reader.hpp"
#include "../beams/beam.hpp"
#include "command_line.hpp"

namespace tandem::apps {

namespace {

constexpr double radians = in_radians(1);  // of a degree

/// "--sod MM, --sdd MM and --pixel-size MM"
std::string listed_with_and(const std::vector<const char*>& options) {
  std::string list;
  for (std::size_t k = 0; k < options.size(); ++k)
    list += (k == 0 ? "" : k + 1 < options.size() ? ", " : " and ") + std::string(options[k]) + " MM";
  return list;
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const Beam& beam : beams()) names.emplace_back(beam.kind);
  return names;
}

/// What does not go together, or is missing.
void check(const CLI::App& c, const GeometryOptions& o) {
  if (c.count("--angles") && (c.count("--views") || c.count("--arc") || c.count("--start")))
    throw UsageError("--angles does not go with --views, --arc or --start");
  if (o.arc && !(std::abs(*o.arc) > 0 && std::abs(*o.arc) <= 36000))
    throw UsageError("--arc must be an angle in degrees, at most 36000 and not 0");
  for (const Beam& beam : beams())
    for (const char* option : beam.options)
      if (beam.kind != o.geometry && c.count(option))
        throw UsageError(std::string(option) + " goes with --geometry " + std::string(beam.kind) + " alone");
  const std::vector<const char*>& needed = beam_named(o.geometry).needed;
  if (std::ranges::any_of(needed, [&](const char* option) { return c.count(option) == 0; }))
    throw UsageError("--geometry " + o.geometry + " needs " + listed_with_and(needed));
}

}  // namespace

void add_geometry(CLI::App& c, GeometryOptions& o) {
  heading(c, "Geometry");
  add_choice(c, "--geometry", o.geometry, kinds(), "default parallel; cone: one row of it is a fan beam");
  c.add_option("--bins", o.bins, "detector bins (default: voxels along x)")->check(count());
  const char* rows = c.get_name() == "simulate" ? "1" : "one per slice";
  c.add_option("--rows", o.rows, std::string("detector rows (default: ") + rows + ")")->check(count());
  c.add_option("--views", o.views, "views (default: pi/2 times the bins)")->check(count());
  c.add_option("--arc", o.arc, "degrees that the views fill in equal steps (default 180, cone 360)");
  c.add_option("--start", o.start, "degrees, angle of the first view (default 0)")
      ->check(within(-36000, 36000));
  c.add_option("--angles", o.angles_file,
               "file with one angle per line, degrees, instead of --views, --arc and --start");
  c.add_option("--axis-bin", o.axis_bin, "bin where the rotation axis falls (default: the middle)");
  c.add_option("--midplane-row", o.midplane_row,
               "cone: row at the height of the source (default: the middle)");
  c.add_option("--sod", o.sod_mm, "cone: from source to rotation axis, mm")->check(length());
  c.add_option("--sdd", o.sdd_mm, "cone: from source to detector, mm")->check(length());
  c.add_option("--pixel-size", o.pixel_size_mm, "detector pitch, mm (default: unknown, lengths in bins)")
      ->check(length());
  c.parse_complete_callback([&c, &o] { check(c, o); });
}

Scan scan_of(const GeometryOptions& o, Index size, Index slices, double pitch_mm) {
  Detector d{.bins = o.bins.value_or(size), .rows = o.rows.value_or(slices)};
  d.bin_pitch = d.row_pitch = pitch_mm;
  d.axis_bin = o.axis_bin.value_or(0.5 * static_cast<double>(d.bins - 1));
  std::vector<double> angles;
  if (!o.angles_file.empty()) {
    angles = io::read_angles(o.angles_file);
  } else {
    const Index views =
        o.views.value_or(static_cast<Index>(std::ceil(0.5 * std::numbers::pi * static_cast<double>(d.bins))));
    const double arc = o.arc.value_or(beam_named(o.geometry).arc_deg);
    for (Index v = 0; v < views; ++v)
      angles.push_back((o.start + arc * static_cast<double>(v) / static_cast<double>(views)) * radians);
  }
  Scan scan = beam_named(o.geometry).scan(o, d, std::move(angles));
  validate(scan);
  return scan;
}

}  // namespace tandem::apps
