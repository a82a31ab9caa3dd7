#pragma once

#include <optional>
#include <string_view>

#include "axis_line.hpp"
#include "center.hpp"

namespace tandem::calibration {

/// The place of the last view among the angles. `as_said`: where its recorded angle puts it. `doubled`: the
/// view repeats the first one, and its recorded angle is one step earlier. `missing`: by its recorded angle
/// the view repeats the first one, and it is a step away.
enum class LastView { unknown, as_said, doubled, missing };
std::string_view name_of(LastView view);

struct FrameCalibration {
  AxisLineEstimate line;  ///< in cells of the stack; its axis is the surer one of both
  AxisEstimate center;    ///< by some rows alone; the search begins there
  bool reversed = false;  ///< views go round against their angles
  /// By how much more the other sense of rotation leaves; none of parallel rays, where a mirror image fits as
  /// well, and where the other sense has no axis.
  std::optional<double> other_sense{};
  LastView last_view = LastView::unknown;
};

/// Finds the axis as `find_axis` does, from some rows, then axis and roll together from whole frames. Of a
/// point source it tries both senses of rotation. `row`: at which the axis is asked for, of a point source
/// its midplane. @throws GeometryError as `find_axis` does, and if the axis is uncertain by a twentieth of
/// the width, or by a hundredth where opposite rays have nothing in common
FrameCalibration calibrate_by_frames(const FrameStack& frames, double row);

/// @see LastView. `axis`: bin about which a view half a turn away is mirrored, of parallel rays.
LastView last_view_of(const FrameStack& frames, double axis);

}  // namespace tandem::calibration
