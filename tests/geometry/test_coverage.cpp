#include "../../geometry/coverage.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "../support/scans.hpp"

namespace tandem {
namespace {

/// Where the lower and the upper end of the one slice fall at a distance from the source, in rows.
std::array<double, 2> ends(const ConeBeam& scan, const VolumeGrid& grid, double distance) {
  const auto row = [&](double iz) {
    return scan.midplane_row + scan.sdd * grid.z(iz) / (distance * scan.detector.row_pitch);
  };
  return {row(-0.5), row(0.5)};
}

TEST(FanGrid, IsTallerThanTheRowOrFlatterAtEveryDistance) {
  for (const double midplane : {0.0, 0.2, -0.45}) {
    const ConeBeam scan{{23, 1, 0.5, 0.4, 10.3}, {0, 1, 2}, 40, 70, midplane};
    const VolumeGrid grid = fitting_grid(scan), tall = tall_for_fan(scan, grid),
                     flat = flat_for_fan(scan, grid);
    const double radius = std::hypot(grid.x(-0.5), grid.y(-0.5));
    for (const double distance : {40 - radius, 40.0, 40 + radius}) {
      EXPECT_LE(ends(scan, tall, distance)[0], -0.5);
      EXPECT_GE(ends(scan, tall, distance)[1], 0.5);
      EXPECT_GE(ends(scan, flat, distance)[0], -0.5);
      EXPECT_LE(ends(scan, flat, distance)[1], 0.5);
      EXPECT_GT(ends(scan, flat, distance)[1], ends(scan, flat, distance)[0]);
    }
    EXPECT_EQ(tall.size, grid.size);
    EXPECT_EQ(tall.pitch[0], grid.pitch[0]);
  }
}

TEST(FanGrid, LeavesOtherGridsAsTheyAre) {
  const auto same = [](const ConeBeam& scan, const VolumeGrid& grid) {
    for (const VolumeGrid& other : {tall_for_fan(scan, grid), flat_for_fan(scan, grid)})
      EXPECT_EQ(other.pitch[2], grid.pitch[2]);
  };
  const ConeBeam two_rows{{23, 2, 0.5, 0.4, 10.3}, {0, 1, 2}, 40, 70, 0.5};
  same(two_rows, test::grid_of(9, 9, 1));
  ConeBeam off_midplane{{23, 1, 0.5, 0.4, 10.3}, {0, 1, 2}, 40, 70, 3};
  same(off_midplane, fitting_grid(off_midplane));
  off_midplane.midplane_row = 0;
  same(off_midplane, test::grid_of(9, 9, 2));
}

}  // namespace
}  // namespace tandem
