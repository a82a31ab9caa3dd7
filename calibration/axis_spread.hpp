#pragma once

#include <array>
#include <vector>

namespace tandem::calibration {

/// How much axis, roll or midplane spreads by what views, rows and distances from the axis pull it. Sixteen
/// groups of neighbouring views are compared: the noise of groups is independent, although neighbours share
/// the frames between which opposite rays are interpolated, and what is left between rays changes from group
/// to group. Rows and distances tell the spread where their pulls differ by more than chance, since views do
/// not show such an error, and where few views have an opposite one.
double axis_spread(const std::array<std::vector<double>, 3>& pulls);

}  // namespace tandem::calibration
