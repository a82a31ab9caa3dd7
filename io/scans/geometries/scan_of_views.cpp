// Makes a scan on a detector from the views of a file.

#include <cmath>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../../../geometry/free_views.hpp"
#include "../../../geometry/vector3.hpp"
#include "geometry_file.hpp"

namespace tandem::io {

namespace {

void require_fitting(const ViewGeometry& given, const Detector& detector) {
  const Index rows = given.rows.value_or(detector.rows), bins = given.bins.value_or(detector.bins);
  require<FileError>(rows == detector.rows && bins == detector.bins, given.where, ": says a detector of ",
                     rows, " rows x ", bins, " bins; there are ", detector.rows, " x ", detector.bins);
}

void scale_lengths(ViewGeometry& given, const Detector& detector, const std::optional<double>& pitch_mm,
                   bool is_unit) {
  if (given.unit_steps) {
    require<GeometryError>(pitch_mm.has_value(), given.where,
                           ": has no pitch of the detector; give " + spelled("pixel-size") + " MM");
    for (FlexibleView& view : given.views)
      view.bin_step = detector.bin_pitch * view.bin_step, view.row_step = detector.row_pitch * view.row_step;
    return;
  }
  if (!pitch_mm || !is_unit) return;
  const double unit = *pitch_mm / length(given.views.front().bin_step);
  for (FlexibleView& view : given.views) {
    if (!given.parallel) view.source = unit * view.source;
    for (Vector3* each : {&view.detector, &view.bin_step, &view.row_step}) *each = unit * *each;
  }
}

void require_possible_lengths(const FlexibleBeam& scan, const std::string& where) {
  constexpr double least = 1e-8, most = 100;  // mm; bounds of a pitch
  const double pitch = scan.detector.bin_pitch;
  const auto away = [&](std::size_t k) {  // from the source to the detector
    return scan.parallel ? 1 : length(scan.views[k].detector - scan.views[k].source);
  };
  require<GeometryError>(
      pitch >= least && pitch <= most, where, ": bins are ", pitch,
      " mm wide; no detector has such: lengths are in mm, or give " + spelled("pixel-size") + " MM");
  for (std::size_t k = 0; k < scan.views.size(); ++k) {
    const double ratio = length(scan.views[k].bin_step) / pitch;
    require<GeometryError>(ratio > 0.1 && ratio < 10, where, ": view ", k, ": bins are ", ratio,
                           " times as wide as in view 0; lengths of one unit are needed");
    const double farther = away(k) / away(0);
    require<GeometryError>(farther > 0.1 && farther < 10, where, ": view ", k, ": the detector is ", farther,
                           " times as far from the source as in view 0; lengths of one unit are needed");
  }
}

/// Requires that the origin, about which the volume lies, is between each source and its detector. A grid
/// that reaches a source is refused later, when the grid is known.
void require_origin_between(const FlexibleBeam& scan, const ViewGeometry& given) {
  constexpr double rounding = 1e-6;
  const std::string& where = given.where;
  const std::string directions = given.says_rays
                                     ? ""
                                     : "; if the first vectors are directions of parallel rays, give " +
                                           spelled("geometry") + " " + where + ":parallel";
  for (std::size_t k = 0; k < scan.views.size() && !scan.parallel; ++k) {
    const FlexibleView& view = scan.views[k];
    const Vector3 normal = cross(view.bin_step, view.row_step);
    const double away = dot(view.detector - view.source, normal), before = -dot(view.source, normal);
    require<GeometryError>(before / away > 0, where, ": view ", k,
                           ": the origin, where the volume is, lies behind the source or beside it, ",
                           before / std::copysign(length(normal), away),
                           " mm before it along the normal of the detector", directions);
    require<GeometryError>(before / away < 1 - rounding, where, ": view ", k,
                           ": the detector lies on the source's side of the origin, where the volume is: ",
                           away / std::copysign(length(normal), away),
                           " mm before the source, and the origin ",
                           before / std::copysign(length(normal), away), " mm", directions);
  }
}

FlexibleBeam beam_of(const ViewGeometry& given, const Detector& detector) {
  try {
    return flexible_beam(detector.rows, detector.bins, given.views, given.parallel, given.curved);
  } catch (const GeometryError& fault) {
    throw GeometryError(given.where + ": " + fault.what());
  }
}

}  // namespace

Scan scan_of_views(ViewGeometry given, const Detector& detector, const std::optional<double>& pitch_mm,
                   bool is_unit) {
  require_fitting(given, detector);
  scale_lengths(given, detector, pitch_mm, is_unit);
  const FlexibleBeam scan = beam_of(given, detector);
  require_possible_lengths(scan, given.where);
  require_origin_between(scan, given);
  return as_circle(scan).value_or(scan);
}

}  // namespace tandem::io
