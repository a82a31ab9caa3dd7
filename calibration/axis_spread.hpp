#pragma once

#include <array>
#include <vector>

namespace tandem::calibration {

/// How much axis, roll or midplane spreads by what views, rows and distances from the axis pull it. The noise
/// of views is independent. With a point source, rays cross out of the midplane; what is left between them
/// pulls to and fro, and changes slowly from view to view: there the pulls of views that are two apart are
/// compared. Rows and distances tell the spread where their pulls differ by more than chance, since views do
/// not show such an error, and where few views have an opposite one.
double axis_spread(const std::array<std::vector<double>, 3>& pulls, bool cross_in_midplane);

}  // namespace tandem::calibration
