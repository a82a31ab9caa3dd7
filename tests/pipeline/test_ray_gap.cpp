#include "../../pipeline/beams/ray_gap.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../support/scans.hpp"

namespace tandem::pipeline {
namespace {

/// Whether a direction is that of a line, whose ends count as one.
bool is_along(double direction, double line) { return std::abs(std::sin(direction - line)) < 1e-9; }

/// 31 views from 20 to 50 degrees, as a fan, a parallel beam, and views of any geometry.
TEST(RayGap, IsWhatAnArcLeavesOpen) {
  std::vector<double> angles;
  for (int k = 0; k <= 30; ++k) angles.push_back(in_radians(20.0 + k));
  const Scan fan = FanBeam{{Detector{.bins = 9, .axis_bin = 4}, angles, 100, 150}},
             parallel = ParallelBeam{Detector{.bins = 9, .axis_bin = 4}, angles};
  for (const Scan& scan : {fan, parallel, Scan(as_free_views(fan)), Scan(as_free_views(parallel))}) {
    const RayGap gap = widest_ray_gap(scan);
    EXPECT_NEAR(in_degrees(gap.width), 150, 1e-6);
    EXPECT_TRUE(gap.is_hole);
    EXPECT_TRUE(is_along(gap.middle_of_arc, in_radians(35 + 90)));
  }
}

TEST(RayGap, IsAStepWhereViewsAreAllAround) {
  const Scan scan = ParallelBeam{Detector{.bins = 9, .axis_bin = 4}, test::regular_angles(90, half_turn)};
  EXPECT_NEAR(in_degrees(widest_ray_gap(scan).width), 2, 1e-6);
  const Scan few = ParallelBeam{Detector{.bins = 9, .axis_bin = 4}, test::regular_angles(15, half_turn)};
  EXPECT_FALSE(widest_ray_gap(few).is_hole);
}

}  // namespace
}  // namespace tandem::pipeline
