#include "ray_gap.hpp"

#include <cmath>
#include <vector>

#include "../../core/units.hpp"
#include "../../geometry/circle.hpp"
#include "../../geometry/view_angles.hpp"

namespace tandem::pipeline {

namespace {

std::vector<double> central_rays(const FlexibleBeam& scan) {
  std::vector<double> all;
  for (const FlexibleView& v : scan.views)
    all.push_back(scan.parallel ? std::atan2(v.source[1], v.source[0])
                                : std::atan2(v.detector[1] - v.source[1], v.detector[0] - v.source[0]));
  return all;
}

/// On a circle, rays at the angle t run along (-sin t, cos t).
std::vector<double> central_rays(const Scan& scan) {
  if (const auto* flexible = std::get_if<FlexibleBeam>(&scan)) return central_rays(*flexible);
  std::vector<double> all = angles_of(scan);
  for (double& angle : all) angle += half_turn / 2;
  return all;
}

}  // namespace

RayGap widest_ray_gap(const Scan& scan) {
  const Circle rays(central_rays(scan), half_turn);
  const double seen = half_turn - rays.widest_gap();
  return {rays.widest_gap(), rays.holes() > 0 || rays.directions().size() < 2,
          rays.directions().front() + seen / 2};
}

}  // namespace tandem::pipeline
