#pragma once

#include <cmath>

#include "frame_stack.hpp"
#include "sharpness.hpp"

namespace tandem::calibration {

/// Where the axis falls: at `axis_bin` in `row`, and leaning by `roll` towards higher bins at higher rows,
/// rad.
struct AxisLine {
  double axis_bin = 0, row = 0, roll = 0;
};

struct AxisLineEstimate {
  AxisLine line;                                      ///< the axis in the row of the midplane
  double axis_uncertainty = 0, roll_uncertainty = 0;  ///< one standard deviation; bins and rad
  /// Rows; infinite where opposite rays do not tell the midplane: the row of the start is then kept.
  double row_uncertainty = INFINITY;
  double misfit = 1;  ///< what differs between opposite rays, as a share of what they see: 0 to about 1
  /// Whether opposite rays tell axis and roll. `flat`: nothing changes with them. `railed`: the roll runs
  /// away.
  Verdict verdict = Verdict::flat;
  Index pairs = 0;  ///< views that have an opposite one
};

struct LineSearch {
  bool reversed = false;  ///< views go round against their angles
  Index finest = 1;       ///< how many cells are joined along bins and rows at last: 4 or 1
};

/// Finds axis and roll together, from a start that is a few bins off.
///
/// Model: a frame, turned upright and mirrored about the axis, is the frame half a turn away. For a point
/// source this holds in the midplane only, which falls on `start.row`. There the opposite ray of a bin lies
/// in the view that its fan angle says. Beside the midplane opposite rays cross.
///
/// What is fitted besides: over a whole turn, views tell by what crossing rays differ (`CrossingRays`). Then
/// the midplane is found for a point source, and the lean of the axis along the beam for parallel rays.
///
/// Rows that count: over a whole turn those where opposite rays come up to two rows apart at the edge of the
/// field, elsewhere up to half a row.
///
/// Pairs: opposite views are interpolated between neighbours. Where the views end they are continued by up to
/// a step and a half, so half a turn of parallel rays has a few pairs.
///
/// Steps: the method of Gauss and Newton lowers the sum of squared differences, at cells joined four by four
/// and then at single cells, each time with rays paired anew.
///
/// Uncertainties: how much groups of views, rows and distances from the axis differ (`axis_spread`), at the
/// curvature of that sum, which noise does not change. If the midplane is not told, its uncertainty is
/// contained in those of axis and roll.
AxisLineEstimate find_axis_line(const FrameStack& frames, const AxisLine& start, const LineSearch& how = {});

/// What differs between opposite rays about a line, as the misfit of an estimate.
double misfit_at(const FrameStack& frames, const AxisLine& line);

}  // namespace tandem::calibration
