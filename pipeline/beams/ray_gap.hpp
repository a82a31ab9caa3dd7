#pragma once

#include "../../geometry/scan.hpp"

namespace tandem::pipeline {

/// The widest range of directions, among those of lines across z, along which no view looks.
struct RayGap {
  double width;          ///< rad
  bool is_hole;          ///< whether it is much wider than the usual step of views
  double middle_of_arc;  ///< the middle direction of those along which views look, rad from x towards y
};

/// The gap between the central rays of views. Rays that run in opposite directions count as one.
RayGap widest_ray_gap(const Scan& scan);

}  // namespace tandem::pipeline
