#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "../../core/error.hpp"
#include "../support/property.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

void expect_refused(const VolumeGrid& grid, const std::string& words) {
  try {
    validate(grid);
    ADD_FAILURE() << "accepted: " << words;
  } catch (const GeometryError& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

TEST(VolumeGrid, NamesEachBadFieldItsValueAndUnit) {
  EXPECT_NO_THROW(validate(test::grid_of(7, 5, 3)));
  expect_refused(test::grid_of(7, 0, 3), "0 voxels along y");
  VolumeGrid grid = test::grid_of(7, 5, 3);
  grid.pitch[2] = -1;
  expect_refused(grid, "pitch along z = -1 mm");
  grid = test::grid_of(7, 5, 3);
  grid.pitch[1] = 1.5;
  expect_refused(grid, "pitch 1 mm along x, 1.5 mm along y");
  grid = test::grid_of(7, 5, 3);
  grid.centre[0] = std::numeric_limits<double>::infinity();
  expect_refused(grid, "centre along x = inf mm");
}

TEST(VolumeGrid, RefusesMoreVoxelsThanCanBeCounted) {
  EXPECT_THROW(validate(VolumeGrid{{10'000'000, 10'000'000, 10'000'000}, {1, 1, 1}, {}}), GeometryError);
  EXPECT_NO_THROW(validate(VolumeGrid{{1 << 20, 1 << 20, 1 << 20}, {1, 1, 1}, {}}));
}

TEST(VolumeGrid, HasTheAxisInItsMiddle) {
  for (Index n : {8, 9}) {
    const VolumeGrid grid = test::grid_of(n, n, n, 0.3);
    EXPECT_NEAR(grid.x(0.5 * static_cast<double>(n - 1)), 0, tolerance::double_rounding);
    EXPECT_NEAR(grid.y(0), -0.15 * static_cast<double>(n - 1), tolerance::double_rounding);
    EXPECT_NEAR(grid.z(1) - grid.z(0), 0.3, tolerance::double_rounding);
  }
}

TEST(FittingGrid, HasABinsVoxelsAndARowsSlices) {
  ParallelBeam scan = test::scan_of(5, 3, 11, 0.25);
  scan.detector.row_pitch = 0.5;
  const VolumeGrid grid = fitting_grid(scan);
  EXPECT_EQ(grid.size, (std::array<Index, 3>{11, 11, 3}));
  EXPECT_EQ(grid.pitch, (std::array<double, 3>{0.25, 0.25, 0.5}));
  EXPECT_EQ(grid.centre, (std::array<double, 3>{0, 0, 0}));
  EXPECT_EQ(grid.shape(), (Shape{3, 11, 11}));
}

/// The voxel farthest out along x, seen with the detector along x, and where the next one would fall.
void expect_to_fill(const Detector& d, const VolumeGrid& grid) {
  const double step = grid.pitch[0] / d.bin_pitch, out = grid.x(static_cast<double>(grid.size[0] - 1)),
               farther = sides(d).farther;
  EXPECT_EQ(grid.size[0], grid.size[1]);
  EXPECT_LE(out / d.bin_pitch, farther + 1e-6);
  EXPECT_GT(out / d.bin_pitch + 0.5 * step, farther - 1e-6);
}

TEST(FittingGrid, HoldsTheFieldOfAHalfAcquisition) {
  ParallelBeam scan = test::scan_of(1, 3, 298, 0.25);
  for (const double axis : {39.8, 258.1, 60.0, 12.25}) {
    scan.detector.axis_bin = axis;
    scan.angles = test::regular_angles(90, 2 * std::numbers::pi);
    expect_to_fill(scan.detector, fitting_grid(scan));
    scan.angles = test::regular_angles(90);  // nothing is seen twice
    EXPECT_EQ(fitting_grid(scan).size[0], 298);
  }
  scan.detector.axis_bin = 39.8;
  scan.angles = test::regular_angles(90, 2 * std::numbers::pi);
  EXPECT_EQ(fitting_grid(scan).size, (std::array<Index, 3>{515, 515, 3}));
  scan.detector.axis_bin = 150;  // a bin and a half off the middle
  EXPECT_EQ(fitting_grid(scan).size[0], 298);
}

TEST(FittingGrid, HoldsTheFieldOfAOneSidedFan) {
  const ConeBeam scan{{298, 1, 0.25, 0.25, 39.8}, test::regular_angles(90, whole_turn), 200, 300, 0};
  const VolumeGrid grid = fitting_grid(scan);
  const double rim = 200 * std::sin(std::atan(257.2 * 0.25 / 300));  // radius of the field
  const double out = grid.x(static_cast<double>(grid.size[0] - 1));
  EXPECT_LE(out, rim);
  EXPECT_GT(out + 0.5 * grid.pitch[0], rim);
  EXPECT_NEAR(grid.pitch[0], 0.25 / 1.5, tolerance::double_rounding);
}

TEST(FittingGrid, HasSlicesWhereRowsMeetTheAxis) {
  const ConeBeam scan{{60, 21, 0.5, 0.7, 29.5}, test::regular_angles(90, whole_turn), 200, 300, 3.4};
  const VolumeGrid grid = fitting_grid(scan);
  ASSERT_EQ(grid.size[2], 21);
  for (int row : {0, 10, 20}) EXPECT_NEAR(scan.midplane_row + 300 * grid.z(row) / (200 * 0.7), row, 1e-9);
}

TEST(Region, KeepsVoxelsInSpace) {
  EXPECT_TRUE(test::holds("voxels of a region lie where they lay", [] {
    VolumeGrid grid =
        test::grid_of(*rc::gen::inRange(1, 40), *rc::gen::inRange(1, 40), *rc::gen::inRange(1, 40), 0.7);
    grid.centre = {3, -2, 1};
    std::array<Range, 3> r;
    for (std::size_t i = 0; i < 3; ++i) {
      r[i].first = *rc::gen::inRange<Index>(0, grid.size[i]);
      r[i].last = *rc::gen::inRange<Index>(r[i].first + 1, grid.size[i] + 1);
    }
    const VolumeGrid part = region(grid, r[0], r[1], r[2]);
    RC_ASSERT(part.size[0] == r[0].size());
    const auto same = [](double a, double b) { return std::abs(a - b) < 100 * tolerance::double_rounding; };
    RC_ASSERT(same(part.x(0), grid.x(static_cast<double>(r[0].first))));
    RC_ASSERT(same(part.y(1), grid.y(static_cast<double>(r[1].first + 1))));
    RC_ASSERT(same(part.z(static_cast<double>(r[2].size() - 1)), grid.z(static_cast<double>(r[2].last - 1))));
  }));
}

TEST(Region, RefusesEmptyAndOutsideRanges) {
  const VolumeGrid grid = test::grid_of(7, 5, 3);
  EXPECT_THROW(region(grid, {2, 2}, {0, 5}, {0, 3}), GeometryError);
  EXPECT_THROW(region(grid, {0, 7}, {0, 6}, {0, 3}), GeometryError);
  EXPECT_THROW(region(grid, {0, 7}, {0, 5}, {-1, 3}), GeometryError);
}

TEST(Spaces, HaveABlockForEachSliceAndRow) {
  const ParallelBeam scan = test::scan_of(5, 3, 11);
  const Space volume = volume_space(fitting_grid(scan)), projections = projection_space(scan);
  EXPECT_EQ(volume.shape(), (Shape{3, 11, 11}));
  EXPECT_EQ(projections.shape(), (Shape{5, 3, 11}));
  EXPECT_EQ(volume.block_count(), 3);
  EXPECT_EQ(projections.block_count(), 3);
}

TEST(Spaces, OfOneScanAreNotThoseOfAnother) {
  ParallelBeam scan = test::scan_of(5, 3, 11);
  const Space before = projection_space(scan);
  scan.detector.axis_bin += 0.5;
  EXPECT_NE(before, projection_space(scan));
}

}  // namespace
}  // namespace tandem
