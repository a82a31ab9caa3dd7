#include "scan_geometry.hpp"

#include <cmath>
#include <numbers>

#include "tandem/io/scan_reader.hpp"

namespace tandem::apps {

namespace {

constexpr double radians = std::numbers::pi / 180;

}  // namespace

void add_geometry(CLI::App& c, GeometryOptions& o) {
  c.add_option("--geometry", o.geometry, "parallel")->check(CLI::IsMember({"parallel"}));
  c.add_option("--bins", o.bins, "detector bins (default: voxels along x)")->check(CLI::PositiveNumber);
  c.add_option("--views", o.views, "views (default: pi/2 times the bins)")->check(CLI::PositiveNumber);
  c.add_option("--arc", o.arc, "degrees that the views fill in equal steps (default 180)");
  c.add_option("--start", o.start, "degrees, angle of the first view (default 0)");
  c.add_option("--angles", o.angles_file,
               "file with one angle in degrees a line, in the place of views, arc and start");
  c.add_option("--axis-bin", o.axis_bin, "where the rotation axis falls (default: the middle)");
  c.add_option("--pixel-size", o.pixel_size_mm, "detector pitch, mm (default: unknown, lengths in bins)")
      ->check(positive());
  c.parse_complete_callback([&c, &o] {
    if (c.count("--angles") && (c.count("--views") || c.count("--arc") || c.count("--start")))
      throw UsageError("--angles does not go with --views, --arc or --start");
    if (!(std::abs(o.arc) > 0 && std::abs(o.arc) <= 36000))
      throw UsageError("--arc must be an angle other than 0, degrees");
  });
}

ParallelBeam scan_of(const GeometryOptions& o, Index size, Index rows, double pitch_mm) {
  ParallelBeam scan;
  Detector& d = scan.detector;
  d.bins = o.bins.value_or(size);
  d.rows = rows;
  d.bin_pitch = d.row_pitch = pitch_mm;
  d.axis_bin = o.axis_bin.value_or(0.5 * static_cast<double>(d.bins - 1));
  if (!o.angles_file.empty()) {
    scan.angles = io::read_angles(o.angles_file);
  } else {
    const Index views =
        o.views.value_or(static_cast<Index>(std::ceil(0.5 * std::numbers::pi * static_cast<double>(d.bins))));
    for (Index v = 0; v < views; ++v)
      scan.angles.push_back((o.start + o.arc * static_cast<double>(v) / static_cast<double>(views)) *
                            radians);
  }
  validate(scan);
  return scan;
}

}  // namespace tandem::apps
