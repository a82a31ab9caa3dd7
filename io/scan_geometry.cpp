// From what a layout found and what the user gives to a scan: shared by all layouts.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "../core/error.hpp"
#include "frame_source.hpp"

namespace tandem::io {

namespace {

constexpr double radian = std::numbers::pi / 180;  // for each degree

std::vector<double> arc(const OpenOptions& options, Index views) {
  const double degrees = *options.arc_deg;
  require<GeometryError>(std::isfinite(degrees) && degrees != 0, "open_scan: arc = ", degrees,
                         " deg; a finite arc other than 0 is needed");
  const double steps = static_cast<double>(std::max<Index>(options.arc_inclusive ? views - 1 : views, 1));
  std::vector<double> angles;
  for (Index k = 0; k < views; ++k) angles.push_back(degrees * radian * static_cast<double>(k) / steps);
  return angles;
}

/// The user's angles before the file's.
std::vector<double> chosen_angles(Acquisition& found, const OpenOptions& options, Index views) {
  const bool given = !options.angles.empty() || options.arc_deg;
  require<FileError>(given || !found.angles.empty(), found.angles_where,
                     ": missing; give --angles FILE or --arc DEG");
  if (given && !found.angles.empty())
    found.info.notes.push_back("the scan's own angles are not used: others are given");
  if (options.angles.empty() && options.arc_deg) return arc(options, views);

  const std::vector<double> angles =
      options.angles.empty() ? found.angles : read_angles(options.angles, options.angle_lines);
  const std::string where = options.angles.empty() ? found.angles_where : options.angles.string();
  require<FileError>(static_cast<Index>(angles.size()) == views, where, ": ", angles.size(), " angles for ",
                     views, " views; one a view is needed, give --angles FILE[A:B] or --arc DEG");
  for (std::size_t k = 0; k < angles.size(); ++k)
    require<FileError>(std::isfinite(angles[k]), where, ": the angle of view ", k, " is ", angles[k] / radian,
                       " deg; a finite number is needed");
  return angles;
}

/// Recorded positions of the axis may be up to a detector's width outside it. False for nan.
bool near_detector(double axis, Index bins) {
  const double width = static_cast<double>(bins);
  return axis >= -width && axis <= 2 * width - 1;
}

Detector found_detector(Acquisition& found, const OpenOptions& options, const Shape& shape) {
  ScanInfo& info = found.info;
  if (options.pixel_size_mm) info.pixel_size_mm = found.row_pitch_mm = options.pixel_size_mm;
  if (info.axis_bin && !near_detector(*info.axis_bin, shape[2])) {
    info.notes.push_back("the recorded rotation axis is left out: it is far outside the detector");
    info.axis_bin.reset();
  }
  Detector detector{.bins = shape[2], .rows = shape[1]};
  detector.bin_pitch = info.pixel_size_mm.value_or(1);
  detector.row_pitch = info.pixel_size_mm ? found.row_pitch_mm.value_or(detector.bin_pitch) : 1;
  detector.axis_bin = info.axis_bin.value_or(0.5 * static_cast<double>(shape[2] - 1));
  return detector;
}

std::vector<double> known_row_axes(Acquisition& found, const Shape& shape) {
  const std::vector<double>& axes = found.row_axis_bins;
  const auto known = [&](double axis) { return near_detector(axis, shape[2]); };
  if (axes.empty()) return {};
  if (!found.cone && static_cast<Index>(axes.size()) == shape[1] &&
      std::all_of(axes.begin(), axes.end(), known))
    return axes;
  found.info.notes.push_back(
      found.cone ? "the recorded axes of the rows are left out: a cone beam has one"
                 : "the recorded axes of the rows are left out: not one a row, or outside the detector");
  return {};
}

ConeBeam cone_beam(Acquisition& found, const OpenOptions& options, Detector detector,
                   std::vector<double> angles) {
  const auto given = [](const std::optional<double>& value, const char* what) {
    require<GeometryError>(value.has_value(), "cone beam: ", what);
    return *value;
  };
  const auto either = [](const std::optional<double>& user, const std::optional<double>& file) {
    return user ? user : file;
  };
  ConeBeam cone{detector, std::move(angles)};
  cone.sod = given(either(options.sod_mm, found.sod_mm), "no distance from source to axis; give --sod MM");
  cone.sdd =
      given(either(options.sdd_mm, found.sdd_mm), "no distance from source to detector; give --sdd MM");
  given(found.info.pixel_size_mm, "no pitch of the detector; give --pixel-size MM");
  const std::optional<double> midplane = either(options.midplane_row, found.midplane_row);
  cone.midplane_row = midplane.value_or(0.5 * static_cast<double>(detector.rows - 1));
  if (!midplane && detector.rows > 1) {
    std::ostringstream text;
    text << "the scan records no midplane row; the middle, row " << cone.midplane_row
         << ", is taken (give --midplane-row Y)";
    found.info.notes.push_back(text.str());
  }
  validate(cone);
  return cone;
}

}  // namespace

void complete_geometry(Acquisition& found, const OpenOptions& options, const Shape& shape) {
  std::vector<double> angles = chosen_angles(found, options, shape[0]);
  if (options.reverse_rotation)
    for (double& angle : angles) angle = -angle;
  found.cone = found.cone || options.sod_mm || options.sdd_mm;
  require<GeometryError>(found.cone || !options.midplane_row, "--midplane-row ",
                         options.midplane_row.value_or(0),
                         ": the scan is a parallel beam; give --sod MM and --sdd MM too");
  const Detector detector = found_detector(found, options, shape);
  std::vector<double> axes = known_row_axes(found, shape);
  if (found.cone)
    found.info.scan = cone_beam(found, options, detector, std::move(angles));
  else
    found.info.scan = ParallelBeam{detector, std::move(angles), std::move(axes)};
}

}  // namespace tandem::io
