#pragma once

// The ways to find an axis, of which `find_axis` takes one.

#include <array>
#include <span>

#include "center.hpp"

namespace tandem::calibration {

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

/// The axis for which views, with their mirror images as the other half turn, have the least energy outside
/// the double wedge. It is searched between two bins. Line integrals are (view, row, bin), and angles are in
/// rad. The uncertainty is infinite if the rows do not tell the axis. @throws GeometryError for too few
/// views, or for a gap
AxisEstimate axis_by_double_wedge(std::span<const float> line_integrals, std::span<const double> angles,
                                  Index rows, Index bins, const std::array<double, 2>& between);

struct MassAxis {
  double axis_bin;
  bool cut_off;  ///< whether the ends of a row differ, so that one of them is not in the air
};

/// The axis by the centre of mass of the body, which moves on a sine about the axis (Helgason 1965, Ludwig
/// 1966: the moments of order 0 and 1). The sine is fitted by least squares to all rows of a parallel beam
/// together, and each view is weighted by its mass. The lower end of a row counts as air, so that wrong flats
/// do not matter. The result is exact for a body that is seen whole. Parts of a body that are not seen move
/// it.
MassAxis axis_by_mass(const Rays& rays);

}  // namespace tandem::calibration
