// The pair for any geometry in tiles and on teams is the whole one, and what it meets is known before.

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <limits>

#include "../../core/error.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/tiled_projector.hpp"
#include "../../operators/vector.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/operators.hpp"
#include "../support/tiles.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

const Device cpu = Device::cpu();

/// Views of any orientation. Five bricks along y, the last one of three lines.
struct Whole {
  FlexibleBeam scan;
  VolumeGrid grid{{11, 35, 13}, {1, 1, 0.9}, {0.3, -0.2, 0.1}};
  LinearOperator A;
  Array x, y;
  explicit Whole(bool parallel)
      : scan([&] {
          Random random(5);
          return random_views(21, 31, 37, 30, random, parallel);
        }()),
        A(projector(scan, grid)),
        x(random_array(A.domain(), 5)),
        y(random_array(A.range(), 6)) {}
  LinearOperator tiled(double bytes, std::size_t devices = 1, TileRun run = {}) const {
    return tiled_projector(scan, grid, std::vector<Device>(devices, cpu), bytes, std::move(run));
  }
  double least() const { return smallest_tile(scan, grid, cpu); }
};

TEST(FlexibleTiles, AreTheWholeWhateverTheirSize) {
  for (const bool parallel : {false, true}) {
    const Whole w(parallel);
    const Array forward = w.A * w.x, back = adjoint(w.A) * w.y;
    for (const double bytes : {w.least(), 1.5 * w.least(), 4 * w.least(), 1e9})
      for (const std::size_t devices : {1, 2, 3}) {
        const LinearOperator A = w.tiled(bytes, devices);
        EXPECT_LE(relative_error(A * w.x, forward), tolerance::tiles) << bytes;
        EXPECT_LE(relative_error(adjoint(A) * w.y, back), tolerance::tiles) << bytes;
        EXPECT_LE(adjointness(A).mismatch, tolerance::mismatch) << bytes;
      }
  }
}

/// The order of sums does not depend on which device has a block of views.
TEST(FlexibleTiles, ProjectWithTheSameBitsOnAnyNumberOfDevices) {
  const Whole w(false);
  for (const double bytes : {w.least(), 4 * w.least(), 1e9}) {
    const Array one = w.tiled(bytes) * w.x, back = adjoint(w.tiled(bytes, 3)) * w.y;
    for (const std::size_t devices : {2, 3, 8}) EXPECT_TRUE(same_bits(w.tiled(bytes, devices) * w.x, one));
    for (int run = 0; run < 3; ++run) EXPECT_TRUE(same_bits(adjoint(w.tiled(bytes, 3)) * w.y, back));
  }
}

TEST(FlexibleTiles, AddToWhatIsThere) {
  const Whole w(false);
  for (const double bytes : {w.least(), 3 * w.least(), 1e9})
    for (const LinearOperator& A : {w.tiled(bytes, 2), adjoint(w.tiled(bytes, 2))}) {
      const Array in = random_array(A.domain(), 5), truth = A * in;
      Array out = truth.clone();
      A.apply(2, in, -1, out, default_stream(cpu));
      EXPECT_LE(relative_error(out, truth), tolerance::tiles);
      fill(out, std::numeric_limits<float>::quiet_NaN(), default_stream(cpu));
      A.apply(1, in, 0, out, default_stream(cpu));
      EXPECT_LE(relative_error(out, truth), tolerance::tiles);
    }
}

TEST(FlexibleTiles, AFailureEndsTheApplicationAlone) {
  const Whole w(false);
  std::atomic<int> left = 0;
  const auto fail = [&](Device) { require<DeviceError>(left-- != 0, "planted"); };
  const LinearOperator A = w.tiled(1.5 * w.least(), 2, {.on_tile = fail});
  const Array truth = w.A * w.x;
  for (const int tile : {0, 1, 5}) {
    left = tile;
    EXPECT_THROW(A * w.x, DeviceError) << tile;
    left = -1;  // never
    EXPECT_LE(relative_error(A * w.x, truth), tolerance::tiles) << tile;
  }
}

TEST(FlexibleTiles, WhatTheyCannotDoIsAnError) {
  const Whole w(false);
  EXPECT_THROW(tiled_projector(w.scan, w.grid, {}, 1e9), DeviceError);
  EXPECT_THROW(w.tiled(w.least() - 1), DeviceError);
  EXPECT_THROW(tiled_projector(w.scan, w.grid, {Device::cuda(1000)}, 1e9), DeviceError);
  const VolumeGrid around{{11, 900, 13}, {1, 1, 1}, {}};  // the source in it
  EXPECT_THROW(tiled_projector(w.scan, around, {cpu}, 1e9), GeometryError);
}

Device team_of(std::size_t members) { return Device::team(std::vector<Device>(members, cpu)); }

TEST(FlexibleTeam, ProjectsAsOneDeviceDoes) {
  for (const bool parallel : {false, true}) {
    const Whole w(parallel);
    const Array forward = w.A * w.x, back = adjoint(w.A) * w.y;
    for (const std::size_t members : {2, 3, 21}) {
      const Device team = team_of(members);
      const LinearOperator A = projector(w.scan, w.grid, Model::separable_footprint, team);
      EXPECT_TRUE(same_bits(A * on_device(w.x, team), forward)) << members;
      const Array there = adjoint(A) * on_device(w.y, team);
      EXPECT_LE(relative_error(there, back), tolerance::tiles) << members;
      for (int run = 0; run < 3; ++run)
        EXPECT_TRUE(same_bits(adjoint(A) * on_device(w.y, team), there)) << members;
      EXPECT_LE(adjointness(A).mismatch, tolerance::mismatch) << members;
    }
    EXPECT_THROW(projector(w.scan, w.grid, Model::separable_footprint, team_of(22)), SpaceError);
  }
}

/// A part that begins between bricks has its coefficients of the whole.
TEST(FlexibleParts, AreBlocksOfTheWholeBetweenBricks) {
  const Whole w(false);
  const Index unit = lines_together(w.scan);
  const Range lines{unit, 3 * unit}, views{4, 9};
  const VolumeGrid part = region(w.grid, {0, 11}, lines, {0, 13});
  Array x(w.A.domain());
  for (Index z = 0; z < 13; ++z)
    std::copy_n(w.x.data() + (z * 35 + lines.first) * 11, lines.size() * 11,
                x.data() + (z * 35 + lines.first) * 11);
  const LinearOperator A = projector(crop(w.scan, views, {0, 31}, {0, 37}), part);
  Array some(A.domain());
  for (Index z = 0; z < 13; ++z)
    std::copy_n(w.x.data() + (z * 35 + lines.first) * 11, lines.size() * 11,
                some.data() + z * lines.size() * 11);
  const Array whole = w.A * x;
  Array expected(A.range());
  std::copy_n(whole.data() + views.first * 31 * 37, expected.size(), expected.data());
  EXPECT_LE(relative_error(A * some, expected), tolerance::tiles);
}

/// Slices, rows and bins without a shadow have no coefficient.
TEST(FlexibleCoverage, NeverMissesACoefficient) {
  for (const bool parallel : {false, true}) {
    Random random(9);
    const FlexibleBeam scan = random_views(5, 17, 19, 12, random, parallel);
    const VolumeGrid grid{{9, 8, 11}, {1, 1, 1}, {0.3, -0.2, 4}};
    const LinearOperator A = projector(scan, grid);
    for (Index z = 0; z < 11; ++z) {
      Array slice(A.domain());
      std::fill_n(slice.data() + z * 72, 72, 1.0f);
      const Array y = A * slice;
      const Range met = rows_met(scan, grid, {z, z + 1});
      for (Index i = 0; i < y.size(); ++i) {
        const Index row = i / 19 % 17;
        if (y.data()[i] == 0) continue;
        EXPECT_LE(met.first, row) << z;
        EXPECT_GT(met.last, row) << z;
        const Range back = slices_met(scan, grid, {row, row + 1});
        ASSERT_TRUE(back.first <= z && z < back.last) << z;
      }
    }
  }
}

/// One view, one row, one bin, one voxel.
TEST(FlexibleEdges, TheSmallestIsAsGoodAsAny) {
  Random random(10);
  struct Case {
    Index views, rows, bins;
    std::array<Index, 3> size;
  };
  for (const Case& c : {Case{1, 31, 37, {9, 10, 11}}, Case{7, 1, 37, {9, 10, 11}},
                        Case{7, 31, 1, {9, 10, 11}}, Case{1, 1, 1, {9, 10, 11}}, Case{7, 31, 37, {1, 1, 1}},
                        Case{1, 1, 1, {1, 1, 1}}, Case{3, 31, 37, {1, 20, 1}}}) {
    const FlexibleBeam scan = random_views(c.views, c.rows, c.bins, 9, random, false);
    const VolumeGrid grid{c.size, {1, 1, 1}, {}};
    const LinearOperator A = projector(scan, grid);
    EXPECT_LE(adjointness(A).mismatch, tolerance::mismatch) << c.views << ' ' << c.rows << ' ' << c.bins;
    const Array x = random_array(A.domain(), 3), truth = A * x;
    const LinearOperator tiled = tiled_projector(scan, grid, {cpu, cpu}, smallest_tile(scan, grid, cpu));
    EXPECT_LE(relative_error(tiled * x, truth), tolerance::tiles) << c.views << ' ' << c.rows;
  }
}

}  // namespace
}  // namespace tandem::test
