// A cone-beam projection in tiles is the whole one, whatever the tiles.

#include <gtest/gtest.h>

#include <numbers>

#include "../support/operators.hpp"
#include "../support/tolerances.hpp"
#include "tandem/core/error.hpp"
#include "tandem/geometry/coverage.hpp"
#include "tandem/operators/adjointness.hpp"
#include "tandem/operators/algebra.hpp"
#include "tandem/operators/projector.hpp"
#include "tandem/operators/random.hpp"
#include "tandem/operators/tiled_projector.hpp"

namespace tandem::test {
namespace {

ConeBeam small_cone(Index views, Index rows, Index bins, double midplane) {
  Random random(3);
  std::vector<double> angles = irregular_angles(views, random);
  for (double& a : angles) a *= 2;
  return {{bins, rows, 1, 1, 0.5 * static_cast<double>(bins - 1) + 0.7}, angles, 40, 75, midplane};
}

TEST(Coverage, NeverMissesACoefficient) {
  for (const double midplane : {8.0, -3.0, 30.0})
    for (const double centre : {0.0, 6.0, -25.0}) {
      const ConeBeam scan = small_cone(31, 17, 25, midplane);
      VolumeGrid grid = grid_of(11, 9, 13);
      grid.centre = {1, -2, centre};
      const LinearOperator A = projector(scan, grid);
      Index first_seen = grid.size[2], last_seen = 0;
      for (Index z = 0; z < grid.size[2]; ++z) {
        Array slice(A.domain());
        std::fill_n(slice.data() + z * 99, 99, 1.0f);
        const Array y = A * slice;
        const Range met = rows_met(scan, grid, {z, z + 1});
        Index low = 17, high = 0;
        for (Index i = 0; i < y.size(); ++i)
          if (y.data()[i] != 0) low = std::min(low, i / 25 % 17), high = std::max(high, i / 25 % 17 + 1);
        if (high > low) {
          EXPECT_LE(met.first, low);
          EXPECT_GE(met.last, high);
          EXPECT_LE(met.size(), high - low + 4) << "too generous";
          const Range back = slices_met(scan, grid, {low, high});
          EXPECT_LE(back.first, z);
          EXPECT_GT(back.last, z);
          first_seen = std::min(first_seen, z), last_seen = z + 1;
        }
      }
      const Range all = slices_met(scan, grid, {0, 17});
      EXPECT_LE(all.first, first_seen);
      EXPECT_GE(all.last, last_seen);
    }
}

TEST(TiledProjector, IsTheWholeOneWhateverTheTiles) {
  for (const double centre : {0.0, 9.0}) {
    const ConeBeam scan = small_cone(13, 17, 25, 8.0);
    VolumeGrid grid = grid_of(11, 9, 23);
    grid.centre[2] = centre;
    const LinearOperator whole = projector(scan, grid);
    const Array x = random_array(whole.domain(), 5), y = random_array(whole.range(), 5);
    const Array forward = whole * x, back = adjoint(whole) * y;
    const double least = 8.0 * (99 + 17 * 25);
    for (const double bytes : {least, 2 * least, 4 * least, 1e9})
      for (const std::size_t devices : {1, 2, 3}) {
        const LinearOperator A =
            tiled_projector(scan, grid, std::vector<Device>(devices, Device::cpu()), bytes);
        EXPECT_LE(relative_error(A * x, forward), tolerance::tiles) << bytes;
        EXPECT_LE(relative_error(adjoint(A) * y, back), tolerance::tiles) << bytes;
        EXPECT_LE(adjointness(A).mismatch, tolerance::mismatch) << bytes;
      }
  }
}

TEST(TiledProjector, BetaScalesWhatWasThere) {
  const ConeBeam scan = small_cone(7, 9, 13, 4.0);
  const VolumeGrid grid = grid_of(5, 6, 7);
  const LinearOperator A = tiled_projector(scan, grid, {Device::cpu()}, 8.0 * (2 * 30 + 2 * 9 * 13));
  const Array x = random_array(A.domain(), 5), truth = A * x;
  Array y = truth.clone();
  A.apply(2, x, -1, y, default_stream(Device::cpu()));
  EXPECT_LE(relative_error(y, truth), tolerance::tiles);
}

TEST(PlanTiles, CoversEverythingWithinTheMemory) {
  const ConeBeam scan = small_cone(97, 64, 80, 31.5);
  const VolumeGrid grid = grid_of(64, 64, 50);
  const double slice = 8.0 * 64 * 64, view = 8.0 * 64 * 80;
  for (const double bytes : {slice + view, 3.3 * (slice + view), 20 * (slice + view), 1e9})
    for (const Index devices : {1, 2, 8}) {
      const Tiling t = plan_tiles(scan, grid, devices, bytes);
      const auto check = [&](const std::vector<Range>& all, Index count) {
        Index next = 0, most = 0;
        for (const Range r : all) {
          EXPECT_EQ(r.first, next);
          EXPECT_GT(r.size(), 0);
          next = r.last, most = std::max(most, r.size());
        }
        EXPECT_EQ(next, count);
        const auto pieces = static_cast<Index>(all.size());
        EXPECT_TRUE(pieces % devices == 0 || pieces == count) << pieces << " for " << devices << " devices";
        return static_cast<double>(most);
      };
      EXPECT_LE(slice * check(t.slabs, 50) + view * check(t.views, 97), bytes);
    }
  EXPECT_THROW(plan_tiles(scan, grid, 1, slice + view - 1), DeviceError);
}

/// 3 x 10^9 voxels are planned, not made.
TEST(PlanTiles, CountsBeyond32Bits) {
  const ConeBeam scan = {{3000, 2000, 1, 1, 1499.5}, regular_angles(3000, whole_turn), 3000, 6000, 999.5};
  const VolumeGrid grid = grid_of(1500, 1500, 1400);
  const Tiling t = plan_tiles(scan, grid, 4, 4.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(t.slabs.back().last, 1400);
  EXPECT_EQ(t.views.back().last, 3000);
}

}  // namespace
}  // namespace tandem::test
