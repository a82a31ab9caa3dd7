#pragma once

namespace tandem::calibration {

/// Where the axis falls: at `axis_bin` in `row`, and leaning by `roll` towards higher bins at higher rows,
/// rad.
struct AxisLine {
  double axis_bin = 0, row = 0, roll = 0;
};

}  // namespace tandem::calibration
