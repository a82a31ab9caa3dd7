#pragma once

#include <array>
#include <span>

#include "center.hpp"

namespace tandem::pipeline {

/// Some rows of a parallel beam or of a fan beam.
struct Rays {
  std::span<const float> line_integrals;  ///< (view, row, bin)
  std::span<const double> angles;         ///< rad, one per view
  Index rows, bins;
  double bin_angle = 0;  ///< pitch of a bin over the distance from source to detector; 0: parallel
};

/// The share of parallel views that have a view half a turn away, or one on each side of that place.
double share_with_opposites(std::span<const double> angles);

/// The axis for which rays that are measured twice agree best, searched between two bins. With `aside` it is
/// searched only where the axis of a half acquisition can be. The uncertainty is infinite if no rays are
/// measured twice, or if such rays do not tell the axis.
AxisEstimate axis_by_opposite_rays(const Rays& rays, const std::array<double, 2>& between,
                                   bool aside = false);

}  // namespace tandem::pipeline
