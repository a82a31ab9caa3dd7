#pragma once

#include "../../core/units.hpp"
#include "../../geometry/scan.hpp"

namespace tandem::pipeline {

/// The widest range of directions, among those of lines across z, along which no view looks.
struct RayGap {
  double width;          ///< rad
  bool is_hole;          ///< whether it is much wider than the usual step of views
  double middle_of_arc;  ///< the middle direction of those along which views look, rad from x towards y
  /// Whether the views look from a part of all directions, so that their middle means something.
  bool is_wide() const { return is_hole && width >= least; }
  static constexpr double least = in_radians(10);
};

/// The gap between the central rays of views. Rays that run in opposite directions count as one.
RayGap widest_ray_gap(const Scan& scan);

}  // namespace tandem::pipeline
