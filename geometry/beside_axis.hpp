#pragma once

#include <array>
#include <vector>

#include "beams/flexible.hpp"
#include "fitted_orbit.hpp"

namespace tandem {

/// How far beside the axis of an orbit the rays of a view pass: the tangent of the angle to the ray through
/// it, or mm if rays are parallel. The axis of a parallel beam is that of the volume.
class BesideAxis {
 public:
  BesideAxis(const FlexibleView& view, const FittedOrbit& orbit, std::size_t number);

  double of(const Vector3& place) const;  ///< the ray to a place
  /// The bin, from the middle of a detector of the view, at which a ray of its middle row passes so far
  /// beside.
  double bin(double beside, const FlexibleView& on) const;

 private:
  bool parallel_;
  Vector3 from_, aside_, towards_;
};

std::vector<BesideAxis> beside_axis(const std::vector<FlexibleView>& views, const FittedOrbit& orbit);

/// The row of a detector like `d` that faces the axis and sees what views see: on the farther side in their
/// mean and, if one side is nearer, there what all of them see. `corners`: how far beside the axis the
/// corners of each view are, in bins of that detector, from the least on.
Detector facing_detector(Detector d, const std::vector<std::array<double, 4>>& corners);

}  // namespace tandem
