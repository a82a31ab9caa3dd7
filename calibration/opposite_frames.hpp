#pragma once

#include <cmath>

#include "../pipeline/sharpness.hpp"
#include "axis_line.hpp"
#include "frame_stack.hpp"

namespace tandem::calibration {

using pipeline::Verdict;

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

/// Finds axis and roll together, from a start that is a few bins off. A frame, turned upright and mirrored
/// about the axis, is the frame half a turn away. Of a point source that holds where rays lie in the
/// midplane, which falls on `start.row`, and there the opposite ray of a bin lies in the view that its fan
/// angle says. Beside the midplane opposite rays cross. Over a whole turn views tell what they then differ by
/// (`CrossingRays`), so that rows count where they come up to two rows apart at the edge of the field, and
/// the midplane is found besides; elsewhere only rows where they come half a row apart. Over a whole turn of
/// parallel rays, what they differ by where the axis leans along the beam is fitted, too. Opposite views are
/// interpolated between neighbours, or continued by up to a step and a half where the views end: so half a
/// turn of parallel rays has a few. The sum of squared differences is lowered by Gauss and Newton's steps, at
/// cells joined four by four and then as they are, each time with rays paired anew. Uncertainties come from
/// how much groups of views, rows and distances from the axis differ (`axis_spread`), at the curvature of
/// that sum, which noise does not change; those of axis and roll contain that of a midplane which is not
/// told.
AxisLineEstimate find_axis_line(const FrameStack& frames, const AxisLine& start, const LineSearch& how = {});

/// What differs between opposite rays about a line, as the misfit of an estimate.
double misfit_at(const FrameStack& frames, const AxisLine& line);

}  // namespace tandem::calibration
