#pragma once

#include <cmath>

#include "../geometry/beams/flexible.hpp"

namespace tandem::calibration {

/// A ray, seen along z: the points with the product `offset` with a unit vector, which points to higher bins.
struct RayAcross {
  double x, y, offset;
  double slope;  ///< its length over that which is seen
};

/// The ray to a place in a row of a view, in bins.
inline RayAcross ray_across(const FlexibleBeam& scan, Index view, Index row, double bin) {
  const FlexibleView& v = scan.views[view];
  const Vector3 cell =
      point_on(scan, v, row - 0.5 * (scan.detector.rows - 1), bin - 0.5 * (scan.detector.bins - 1));
  Vector3 along = v.source;
  if (!scan.parallel)
    for (int i = 0; i < 3; ++i) along[i] = cell[i] - v.source[i];
  const double length = std::hypot(along[0], along[1]);
  const double side = -along[1] * v.bin_step[0] + along[0] * v.bin_step[1] < 0 ? -1 : 1;
  const double x = -side * along[1] / length, y = side * along[0] / length;
  return {x, y, x * cell[0] + y * cell[1], std::hypot(length, along[2]) / length};
}

/// The width of a bin of a row at the axis, in the first view.
inline double width_of_bin(const FlexibleBeam& scan, Index row) {
  return std::abs(ray_across(scan, 0, row, 1).offset - ray_across(scan, 0, row, 0).offset);
}

}  // namespace tandem::calibration
