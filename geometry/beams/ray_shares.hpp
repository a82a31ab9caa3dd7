#pragma once

#include <functional>

#include "cone.hpp"
#include "parallel.hpp"

namespace tandem {

/// The weights of rays in FBP and FDK, also of rays beyond the ends of the detector: (view, bin) and (row,
/// bin) with `beyond` more bins at either end.
std::vector<float> ray_shares(const ConeBeam& scan, Index beyond);
std::vector<float> bin_shares(const ParallelBeam& scan, Index beyond);

/// Where rays pass the axis: a distance on a detector that faces it, in bins.
using PlacesOfRays = std::function<double(Index view, Index ray)>;

/// The weights of so many rays of each view, (view, ray), also if no detector of the views faces the axis.
std::vector<float> ray_shares(const ConeBeam& scan, Index rays, const PlacesOfRays& from_axis);
std::vector<float> ray_shares(const ParallelBeam& scan, Index rays, const PlacesOfRays& from_axis);

/// The shares of rays in a whole turn, if those on the nearer side of a detector are seen from both sides.
class SidedShares {
 public:
  SidedShares(const Detector& detector, Index views);

  /// Twice the share of a ray that passes so many bins beside the axis. It is 1, but in a band towards the
  /// end of the nearer side it goes to 0 there, and to 2 on the opposite side. It is 1 everywhere if nearly
  /// all rays are seen from both sides.
  double twice(double from_axis) const;

 private:
  bool alike_;
  int direction_ = 1;
  double overlap_ = 0, band_ = 0;  ///< bins
};

}  // namespace tandem
