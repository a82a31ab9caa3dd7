// Plans of tiles: pure arithmetic.

#include <gtest/gtest.h>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/tiling.hpp"
#include "../support/scans.hpp"

namespace tandem::test {
namespace {

ConeBeam cone(Index views, Index rows, Index bins) {
  const double n = static_cast<double>(bins);
  return {{bins, rows, 1, 1, 0.5 * (n - 1)},
          regular_angles(views, whole_turn),
          3 * n,
          6 * n,
          0.5 * static_cast<double>(rows - 1)};
}

/// One more copy of the input in either direction, as on the CPU.
WorkingMemory copies(Shape volume, Shape projections) {
  return {4.0 * static_cast<double>(volume[0] * volume[1] * volume[2]),
          4.0 * static_cast<double>(projections[0] * projections[1] * projections[2])};
}

/// The size of the largest piece; all pieces make up 0 .. count.
Index largest_of(const std::vector<Range>& all, Index count) {
  Index next = 0, most = 0;
  for (const Range r : all) {
    EXPECT_EQ(r.first, next);
    EXPECT_GT(r.size(), 0);
    next = r.last, most = std::max(most, r.size());
  }
  EXPECT_EQ(next, count);
  return most;
}

void expect_multiple(const std::vector<Range>& outputs, Index devices, Index count) {
  const auto n = static_cast<Index>(outputs.size());
  EXPECT_TRUE(n % devices == 0 || n == count) << n << " for " << devices << " devices";
}

TEST(PlanTiles, CoversEverythingWithinTheMemory) {
  const ConeBeam scan = cone(97, 64, 80);
  const VolumeGrid grid = grid_of(64, 50, 63);
  const double line = 4.0 * 64 * 63, view = 4.0 * 64 * 80, least = 3 * (line + view);
  for (const double bytes : {least, 3.3 * least, 20 * least, 1e9})
    for (const Index devices : {1, 2, 8}) {
      const auto [forward, backward] = plan_tiles(scan, grid, devices, bytes, copies);
      const auto needed = [&](Index strip, Index block, bool back) {
        const WorkingMemory beside = copies({63, strip, 64}, {block, 64, 80});
        return (back ? 1 : 2) * line * static_cast<double>(strip) +
               (back ? 2 : 1) * view * static_cast<double>(block) + (back ? beside.backward : beside.forward);
      };
      EXPECT_LE(needed(largest_of(forward.strips, 50), largest_of(forward.views, 97), false), bytes);
      EXPECT_LE(needed(largest_of(backward.strips, 50), largest_of(backward.views, 97), true), bytes);
      expect_multiple(forward.views, devices, 97);
      expect_multiple(backward.strips, devices, 50);
    }
}

TEST(PlanTiles, TooLittleMemoryIsAnError) {
  const ConeBeam scan = cone(97, 64, 80);
  const VolumeGrid grid = grid_of(64, 50, 63);
  const double line = 4.0 * 64 * 63, view = 4.0 * 64 * 80;
  EXPECT_NO_THROW(plan_tiles(scan, grid, 1, 3 * std::max(line, view) + std::min(line, view), copies));
  EXPECT_THROW(plan_tiles(scan, grid, 1, 3 * std::max(line, view) + std::min(line, view) - 1, copies),
               DeviceError);
}

/// The order of sums is that of the inputs.
TEST(PlanTiles, InputsDoNotDependOnTheNumberOfDevices) {
  const ConeBeam scan = cone(1024, 1152, 1536);
  const VolumeGrid grid = grid_of(1024, 1024, 1024);
  for (const double gib : {8.0, 16.0, 100.0}) {
    const double bytes = gib * bytes_per_gib;
    const auto one = plan_tiles(scan, grid, 1, bytes, copies),
               four = plan_tiles(scan, grid, 4, bytes, copies);
    EXPECT_TRUE(one.forward.strips == four.forward.strips);
    EXPECT_TRUE(one.backward.views == four.backward.views);
  }
}

/// Voxels of a brick share numbers, so strips of a flexible beam begin between bricks, of any size and
/// number.
TEST(PlanTiles, OfAnyGeometryCutBetweenBricks) {
  const FlexibleBeam scan = as_free_views(cone(97, 64, 80));
  for (const Index ny : {3, 8, 50, 64, 100}) {
    const VolumeGrid grid = grid_of(64, ny, 63);
    const Index unit = lines_together(scan), fewest = std::min(unit, ny);
    const double line = 4.0 * 64 * 63 * static_cast<double>(fewest), view = 4.0 * 64 * 80;
    const double least = 3 * std::max(line, view) + std::min(line, view);
    EXPECT_THROW(plan_tiles(scan, grid, 1, least - 1, copies), DeviceError) << ny;
    for (const double bytes : {least, 1.7 * least, 5 * least, 1e9})
      for (const Index devices : {1, 2, 3, 8}) {
        const auto [forward, backward] = plan_tiles(scan, grid, devices, bytes, copies);
        largest_of(forward.views, 97), largest_of(backward.views, 97);
        for (const std::vector<Range>& strips : {forward.strips, backward.strips}) {
          largest_of(strips, ny);
          for (const Range strip : strips) EXPECT_EQ(strip.first % unit, 0) << ny;
        }
        EXPECT_LE(
            2 * line / static_cast<double>(fewest) * static_cast<double>(largest_of(forward.strips, ny)) +
                view * static_cast<double>(largest_of(forward.views, 97)),
            bytes);
      }
  }
}

/// Where all fits, a device reads each byte once, and what is first and last is small.
TEST(PlanTiles, OutputsStayWhereTheyFit) {
  const auto [forward, backward] =
      plan_tiles(cone(1024, 1152, 1536), grid_of(1024, 1024, 1024), 4, 1e11, copies);
  EXPECT_EQ(forward.views.size(), 4u);
  EXPECT_EQ(backward.strips.size(), 4u);
  EXPECT_EQ(forward.strips.size(), 8u);
  EXPECT_EQ(backward.views.size(), 9u);
  EXPECT_EQ(backward.views.front(), (Range{0, 32}));  // a quarter of the first of eight, to begin early
}

/// 3 x 10^9 voxels and more are planned, not made.
TEST(PlanTiles, CountsBeyond32Bits) {
  for (const double bytes : {4e9, 1e11}) {
    const auto [forward, backward] =
        plan_tiles(cone(3000, 2000, 3000), grid_of(1500, 1500, 1400), 4, bytes, copies);
    largest_of(forward.strips, 1500), largest_of(backward.strips, 1500);
    largest_of(forward.views, 3000), largest_of(backward.views, 3000);
  }
}

TEST(Pieces, BeginAtMultiplesOfEightWhereTheyAreLarge) {
  EXPECT_EQ(pieces({0, 1000}, 128).size(), 8u);
  for (const Range r : pieces({16, 1000}, 100)) EXPECT_EQ(r.first % 8, 0);
  for (const Range r : pieces({0, 1000}, 300, 3)) EXPECT_EQ(r.first % 8, 0);
  EXPECT_EQ(pieces({0, 1000}, 300, 3).size(), 6u);
  EXPECT_EQ(pieces({0, 5}, 5, 3).size(), 3u);
  EXPECT_EQ(pieces({0, 2}, 2, 3).size(), 2u);
  EXPECT_EQ(in_pieces({0, 256}, 8).size(), 8u);
  EXPECT_EQ(in_pieces({3, 6}, 8), (std::vector<Range>{{3, 6}}));
}

}  // namespace
}  // namespace tandem::test
