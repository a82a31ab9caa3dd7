#pragma once

#include <array>
#include <functional>

#include "../../operators/ramp_filter.hpp"
#include "placement.hpp"

namespace tandem::pipeline {

/// Operators for some views.
struct ByViews {
  FilterOfViews filter;
  std::function<LinearOperator(Range views)> back_projection;
  /// The views that `filter` takes for some: these and others beside them. Empty: these.
  std::function<Range(Range views)> behind = {};
};

/// What the pipeline asks of a kind of beam, beside what a scan answers for itself (geometry/scan.hpp). Each
/// kind has a file in this folder and a line in table.cpp.
struct Beam {
  /// Gives the rows of a detector that is rolled by this angle, rad, their axes, once all bins of a row are
  /// of one height; `bins` are those that are read. The axis of the scan is that of its middle row. Null for
  /// a kind whose rows have one axis.
  void (*roll)(Scan& scan, double angle, Range bins);

  /// Gives the scan the geometry of an upright detector that faces the axis, which leans along the beam by
  /// this angle, rad. Null for a kind whose frames do not become those of an upright detector.
  void (*set_upright)(Scan& scan, double tilt);

  /// What the step `upright` needs to know: where an upright detector stands. Null as for `set_upright`.
  DetectorPose (*pose)(const Scan& scan, double roll, double tilt, Index first_row);

  /// The distance of the sources from the axis, mm. Null for parallel rays.
  double (*source_distance)(const Scan& scan);

  /// The lowest and the highest point, mm above the midplane, that all rows together see up to `radius` mm
  /// from the axis; none where slices are apart, as those of a parallel beam and the one of a fan.
  std::optional<std::array<double, 2>> (*heights_seen)(const Scan& scan, double radius);

  /// Decides who computes, how the projector of the plan runs there, and whether it is a matched pair.
  /// `bytes` tells what kernels may take on the first device.
  /// @throws DeviceError if the devices cannot run it that way; GeometryError if the method needs a matched
  /// pair and this one is not
  void (*choose_execution)(Plan& plan, const Recipe& recipe, const std::function<double()>& bytes);

  /// Adds what the user should know about the views, the volume and the chunks of the plan.
  void (*add_warnings)(Plan& plan, const Recipe& recipe);

  /// Where vectors may lie; null for what a kind does not have. `require_tiles` throws a DeviceError if the
  /// tiles of the plan do not fit its devices.
  const Placement *on_devices, *in_tiles, *over_ranks;
  void (*require_tiles)(const Plan& plan);

  /// How a wave goes on from the sample. `scan`: of a known pitch.
  Optics (*optics)(const Scan& scan);

  /// F and B for some of the views of a problem, which count from 0: the sum of B F y over all views is the
  /// result. Null for a kind whose slices are problems of their own, where B is fast for all views at once.
  ByViews (*of_views)(const Filter& how, const Problem& problem);
};

const Beam& beam_of(const Scan& scan);

/// Warns of a gap between neighbouring views at these angles, rad, if it is a hole, or wider than 5 degrees
/// and than 5 steps; or says that the angles of the scan look like radians. `open` is the part of the period
/// for which no view stands, rad.
void warn_of_gap(std::vector<std::string>& warnings, const Job& job, const std::vector<double>& angles,
                 double gap, double open, double period);

/// Warns of what a short scan from a point source lacks, rad.
void warn_of_missing_arc(std::vector<std::string>& warnings, const Job& job, double missing);

}  // namespace tandem::pipeline
