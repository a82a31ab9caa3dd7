#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "../../core/error.hpp"
#include "../../geometry/scan.hpp"
#include "../support/scans.hpp"

namespace tandem {
namespace {

/// The rows on which the lower and the upper end of the one slice fall at a distance from the source.
std::array<double, 2> ends(const ConeBeam& scan, const VolumeGrid& grid, double distance) {
  const auto row = [&](double iz) {
    return scan.midplane_row + scan.sdd * grid.z(iz) / (distance * scan.detector.row_pitch);
  };
  return {row(-0.5), row(0.5)};
}

TEST(FanGrid, IsTallerThanTheRowOrFlatterAtEveryDistance) {
  for (const double midplane : {0.0, 0.2, -0.45}) {
    const FanBeam scan{{{23, 1, 0.5, 0.4, 10.3}, {0, 1, 2}, 40, 70, midplane}};
    const VolumeGrid grid = fitting_grid(scan), tall = tall_voxels(scan, grid),
                     flat = flat_voxels(scan, grid);
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

TEST(FanGrid, LeavesGridsOfSeveralSlicesAsTheyAre) {
  const FanBeam scan{{{23, 1, 0.5, 0.4, 10.3}, {0, 1, 2}, 40, 70, 0}};
  const VolumeGrid grid = test::grid_of(9, 9, 2);
  EXPECT_EQ(tall_voxels(scan, grid).pitch[2], grid.pitch[2]);
  EXPECT_EQ(flat_voxels(scan, grid).pitch[2], grid.pitch[2]);
}

TEST(Fan, IsOneRowAtTheHeightOfItsSource) {
  const auto is_fan = [](Index rows, double midplane) {
    const Scan scan = point_source_scan({{23, rows, 0.5, 0.4, 10.3}, {0, 1, 2}, 40, 70, midplane});
    EXPECT_EQ(kind_of(scan), "cone");  // in files
    return std::holds_alternative<FanBeam>(scan);
  };
  EXPECT_TRUE(is_fan(1, 0));
  EXPECT_TRUE(is_fan(1, -0.45));
  EXPECT_FALSE(is_fan(1, 0.5));
  EXPECT_FALSE(is_fan(1, 3));
  EXPECT_FALSE(is_fan(2, 0.25));
}

TEST(Fan, RefusesMoreRowsAndAnotherHeight) {
  const auto refuses = [](Index rows, double midplane, const std::string& field) {
    try {
      validate(FanBeam{{{23, rows, 0.5, 0.4, 10.3}, {0, 1, 2}, 40, 70, midplane}});
      FAIL() << field << " is taken";
    } catch (const GeometryError& fault) {
      EXPECT_NE(std::string(fault.what()).find(field), std::string::npos) << fault.what();
    }
  };
  refuses(2, 0.25, "2 rows");
  refuses(1, 0.5, "midplane_row = 0.5");
}

/// The middle row of a cone beam that is cut out, and two rows that become one.
TEST(Fan, IsWhatPartsOfAConeBeamBecome) {
  const Scan cone = ConeBeam{{23, 5, 0.5, 0.4, 10.3}, {0, 1, 2}, 40, 70, 2.2};
  EXPECT_TRUE(std::holds_alternative<FanBeam>(crop(cone, {0, 3}, {2, 3}, {0, 23})));
  EXPECT_TRUE(std::holds_alternative<ConeBeam>(crop(cone, {0, 3}, {1, 2}, {0, 23})));
  const Scan two = ConeBeam{{23, 2, 0.5, 0.4, 10.3}, {0, 1, 2}, 40, 70, 0.6};
  EXPECT_TRUE(std::holds_alternative<FanBeam>(bin_down(two, 1, true)));
}

/// Each kind of beam, with what else there is to ask.
std::vector<Scan> each_kind() {
  const Detector d{23, 1, 0.5, 0.4, 10.3};
  Detector tall = d;
  tall.rows = 5;
  const std::vector<double> angles = test::regular_angles(7, whole_turn);
  return {ParallelBeam{tall, angles}, FanBeam{{d, angles, 40, 70, 0}}, ConeBeam{tall, angles, 40, 70, 2}};
}

/// Rays beside the middle of the farthest bins pass the axis as far away as a fitting grid reaches.
TEST(AnyBeam, PassesTheAxisWithinItsFittingGrid) {
  for (const Scan& scan : each_kind()) {
    validate(scan);
    const Detector& d = detector_of(scan);
    const double farthest = sides(d).farther * d.bin_pitch, passes = distance_from_axis(scan, farthest);
    const VolumeGrid grid = fitting_grid(scan);
    EXPECT_GT(passes, 0.9 * 0.5 * static_cast<double>(grid.size[0]) * grid.pitch[0]) << kind_of(scan);
    EXPECT_LT(passes, 1.3 * 0.5 * static_cast<double>(grid.size[0]) * grid.pitch[0]) << kind_of(scan);
  }
}

TEST(AnyBeam, MeetsAllRowsWithAllSlicesOfItsFittingGrid) {
  for (const Scan& scan : each_kind()) {
    const VolumeGrid grid = fitting_grid(scan);
    const Range rows = rows_met(scan, grid, {0, grid.size[2]});
    EXPECT_EQ(rows.first, 0);
    EXPECT_EQ(rows.last, detector_of(scan).rows);
    const Range slices = slices_met(scan, grid, rows);
    EXPECT_EQ(slices.first, 0);
    EXPECT_EQ(slices.last, grid.size[2]);
  }
}

TEST(ParallelBeam, MeetsItsSlicesAlone) {
  const Scan scan = ParallelBeam{{23, 5, 0.5, 0.4, 10.3}, {0, 1, 2}};
  const Range rows = rows_met(scan, fitting_grid(scan), {2, 4});
  EXPECT_EQ(rows.first, 2);
  EXPECT_EQ(rows.last, 4);
}

}  // namespace
}  // namespace tandem
