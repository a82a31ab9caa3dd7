#pragma once

#include <array>
#include <span>

#include "center.hpp"

namespace tandem::pipeline {

/// The axis about which views and their mirror images, as those of the other half turn, leave least outside
/// the double wedge, looked for between two bins. Line integrals are (view, row, bin), angles in rad. The
/// uncertainty is infinite where rows do not tell. @throws GeometryError for too few views, or a gap
AxisEstimate axis_by_double_wedge(std::span<const float> line_integrals, std::span<const double> angles,
                                  Index rows, Index bins, const std::array<double, 2>& between);

}  // namespace tandem::pipeline
