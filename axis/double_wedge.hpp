#pragma once

#include <array>
#include <span>

#include "center.hpp"

namespace tandem::pipeline {

/// The axis for which views, with their mirror images as the other half turn, have the least energy outside
/// the double wedge. It is searched between two bins. Line integrals are (view, row, bin), and angles are in
/// rad. The uncertainty is infinite if the rows do not tell the axis. @throws GeometryError for too few
/// views, or for a gap
AxisEstimate axis_by_double_wedge(std::span<const float> line_integrals, std::span<const double> angles,
                                  Index rows, Index bins, const std::array<double, 2>& between);

}  // namespace tandem::pipeline
