#pragma once

#include <array>
#include <span>

#include "center.hpp"

namespace tandem::pipeline {

/// Some rows of a parallel beam, or of a fan.
struct Rays {
  std::span<const float> line_integrals;  ///< (view, row, bin)
  std::span<const double> angles;         ///< rad, one a view
  Index rows, bins;
  double bin_angle = 0;  ///< a bin's pitch over the distance from the source to the detector; 0: parallel
};

/// The share of parallel views half a turn from which others lie, or lie on either side.
double share_with_opposites(std::span<const double> angles);

/// The axis about which rays that are measured twice agree best, looked for between two bins. The uncertainty
/// is infinite where none are, or those that are do not tell.
AxisEstimate axis_by_opposite_rays(const Rays& rays, const std::array<double, 2>& between);

}  // namespace tandem::pipeline
