#pragma once

#include <array>
#include <vector>

namespace tandem::calibration {

/// How much axis, roll or midplane spreads by what views, rows and distances from the axis pull it. The noise
/// of views is independent. Of a point source, what is left between rays that cross out of the midplane pulls
/// to and fro, and changes slowly from view to view: there what changes between views that are two apart
/// counts. Rows and distances tell the spread where they differ by more than chance, which is then an error
/// of another kind, and where few views have an opposite one.
double axis_spread(const std::array<std::vector<double>, 3>& pulls, bool cross_in_midplane);

}  // namespace tandem::calibration
