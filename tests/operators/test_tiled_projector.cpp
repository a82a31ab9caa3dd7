// A cone-beam projection in tiles is the whole one, whatever the tiles.

#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#include "../../core/error.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../../operators/tiled_projector.hpp"
#include "../../operators/vector.hpp"
#include "../support/operators.hpp"
#include "../support/tiles.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

const Device cpu = Device::cpu();

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
    const ConeBeam scan = small_cone(21, 17, 25, 8.0);
    VolumeGrid grid = grid_of(11, 19, 23);
    grid.centre[2] = centre;
    const LinearOperator whole = projector(scan, grid);
    const Array x = random_array(whole.domain(), 5), y = random_array(whole.range(), 5);
    const Array forward = whole * x, back = adjoint(whole) * y;
    const double least = smallest_tile(scan, grid, cpu);
    for (const double bytes : {least, 1.5 * least, 4 * least, 1e9})
      for (const std::size_t devices : {1, 2, 3}) {
        const LinearOperator A = tiled_projector(scan, grid, std::vector<Device>(devices, cpu), bytes);
        EXPECT_LE(relative_error(A * x, forward), tolerance::tiles) << bytes;
        EXPECT_LE(relative_error(adjoint(A) * y, back), tolerance::tiles) << bytes;
        EXPECT_LE(adjointness(A).mismatch, tolerance::mismatch) << bytes;
      }
  }
}

TEST(TiledProjector, AddsToWhatIsThere) {
  const ConeBeam scan = small_cone(19, 9, 13, 4.0);
  const VolumeGrid grid = grid_of(5, 21, 7);
  const double least = smallest_tile(scan, grid, cpu);
  for (const double bytes : {least, 3 * least, 1e9})
    for (const LinearOperator& A : {tiled_projector(scan, grid, {cpu, cpu}, bytes),
                                    adjoint(tiled_projector(scan, grid, {cpu, cpu}, bytes))}) {
      const Array x = random_array(A.domain(), 5), truth = A * x;
      Array y = truth.clone();
      A.apply(2, x, -1, y, default_stream(cpu));
      EXPECT_LE(relative_error(y, truth), tolerance::tiles);
      fill(y, std::numeric_limits<float>::quiet_NaN(), default_stream(cpu));
      A.apply(1, x, 0, y, default_stream(cpu));
      EXPECT_LE(relative_error(y, truth), tolerance::tiles);
    }
}

/// A device that is lost at any tile: an error, no hanging threads, and the next application is as ever.
TEST(TiledProjector, AFailureEndsTheApplicationAlone) {
  const ConeBeam scan = small_cone(21, 17, 25, 8.0);
  const VolumeGrid grid = grid_of(11, 19, 23);
  std::atomic<int> left = 0;
  const auto fail = [&](Device) { require<DeviceError>(left-- != 0, "planted"); };
  const LinearOperator whole = projector(scan, grid),
                       A = tiled_projector(scan, grid, {cpu, cpu}, 1.5 * smallest_tile(scan, grid, cpu),
                                           {.on_tile = fail});
  const Array x = random_array(A.domain(), 5), truth = whole * x;
  for (const int tile : {0, 1, 2, 5}) {
    left = tile;
    EXPECT_THROW(A * x, DeviceError) << tile;
    left = tile;
    EXPECT_THROW(adjoint(A) * truth, DeviceError) << tile;
    left = -1;  // never
    EXPECT_LE(relative_error(A * x, truth), tolerance::tiles) << tile;
  }
}

TEST(TiledProjector, WhatItCannotDoIsAnError) {
  const ConeBeam scan = small_cone(7, 9, 13, 4.0);
  const VolumeGrid grid = grid_of(5, 6, 7);
  EXPECT_THROW(tiled_projector(scan, grid, {}, 1e9), DeviceError);
  EXPECT_THROW(tiled_projector(scan, grid, {cpu}, smallest_tile(scan, grid, cpu) - 1), DeviceError);
  EXPECT_THROW(tiled_projector(scan, grid, {Device::cuda(1000)}, 1e9), DeviceError);
  EXPECT_THROW(tiled_projector(scan, grid_of(5, 90, 7), {cpu}, 1e9), GeometryError);  // the source in it
}

}  // namespace
}  // namespace tandem::test
