// Windows, batches and memory of the tiled footprint kernels; needs no GPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "../../geometry/flexible_views.hpp"
#include "../../kernels/cuda/footprint/batches.hpp"
#include "../../kernels/footprint.hpp"
#include "../support/cone_scans.hpp"
#include "../support/flexible_scans.hpp"

namespace tandem::test {
namespace {

using namespace kernels;
using namespace kernels::cuda;

constexpr int shared_memory = 227 * 1024;  // bytes, on an H200

struct Case {
  ConeViews views;
  Index rows;
  Shape volume;
  Reach reach() const { return {views, volume, rows}; }
};

/// Cases off the middle, at odd angles; voxels from a tenth of a cell to the largest that a tile bears.
std::vector<Case> cases() {
  std::vector<Case> all;
  Random random(5);
  for (const double pitch : {0.1, 0.4, 0.7})
    for (const double high : {0.2, 1.0, 2.5})
      for (const Index rows : {40, 300}) {
        ConeBeam scan = odd_cone(31, rows, 83);
        scan.sod = 90, scan.sdd = 170, scan.midplane_row += 20 * (random.uniform() - 0.5);
        const VolumeGrid grid{{37, 41, 129}, {pitch, pitch, high * pitch}, {0.3, -0.2, 4 * random.uniform()}};
        all.push_back({pack(scan, grid), rows, {129, 41, 37}});
        const FlexibleBeam free = random_upright_views(7, rows, 83, 30, random),
                           helix = jittered_helix(120, rows, 83, 1.5, 20, 0.5, random);
        for (const FlexibleBeam& each : {free, helix})
          all.push_back({*pack(each, grid).upright, rows, {129, 41, 37}});
      }
  return all;
}

/// Calls with the columns of each tile that lie in the volume.
template <class Visit>
void for_each_tile(const Shape& volume, const Visit& visit) {
  for (Index y = 0; y < volume[1]; y += edge)
    for (Index x = 0; x < volume[2]; x += edge) visit(x, y);
}

double depth_of(const ConeView& n, double x, double y) {
  return n.sod - (n.x0 + n.pitch * x) * n.sin + (n.y0 + n.pitch * y) * n.cos;
}

TEST(FootprintBatches, ViewsAreInOrderFromTheWidestGapOn) {
  for (const Index count : {1, 2, 7, 90}) {
    ConeBeam scan = odd_cone(count, 3, 5);
    for (double& a : scan.angles) a *= 0.8;
    const ConeViews packed = pack(scan, {{3, 3, 3}, {1, 1, 1}, {0, 0, 0}});
    const std::vector<ConeView>& views = packed.views;
    const OrderedViews ordered(packed, {packed, {3, 3, 3}, 3});
    std::vector<int> times(views.size());
    for (const int v : ordered.order) ++times[static_cast<std::size_t>(v)];
    EXPECT_EQ(times, std::vector<int>(times.size(), 1));
    double turned = 0;
    std::vector<double> gaps;
    for (std::size_t k = 0; k < views.size(); ++k) {
      const ConeView &a = ordered.list[k], &b = ordered.list[(k + 1) % views.size()];
      EXPECT_EQ(a.cos, views[static_cast<std::size_t>(ordered.order[k])].cos);
      const double gap = std::atan2(a.cos * b.sin - a.sin * b.cos, a.cos * b.cos + a.sin * b.sin);
      gaps.push_back(gap <= 0 ? gap + 2 * std::numbers::pi : gap);
      turned += gaps.back();
    }
    EXPECT_NEAR(turned, 2 * std::numbers::pi, 1e-9);
    EXPECT_EQ(gaps.back(), *std::max_element(gaps.begin(), gaps.end()));
  }
}

/// A window holds what a block of the projection meets of a column: from the first row of its lowest group to
/// the last, in all its views, counted from the lowest voxel of the tile in whole pieces, and what a read
/// takes beyond.
TEST(FootprintBatches, WindowsOfTheProjectionHoldWhatRowsMeet) {
  for (const Case& c : cases()) {
    const OrderedViews ordered(c.views, c.reach());
    for (const int wanted : {0, 2, 4, 8}) {
      const ForwardLayout layout = forward_layout(c.reach(), ordered, wanted, shared_memory);
      if (layout.row_groups == 0) continue;
      EXPECT_LE(layout.window, 2 * most_of_box);
      EXPECT_LE(layout.shared_bytes(most_lines) + kept_bytes, half_of_shared);
      const auto in_block = static_cast<std::size_t>(layout.views_a_block());
      const int rows = layout.row_groups * warp_rows;
      const auto widest = [&](std::size_t first, Index row0, Index x, Index y) {
        double low = INFINITY, high = -INFINITY;
        for (std::size_t v = first; v < std::min(first + in_block, ordered.list.size()); ++v)
          for (int k = 0; k < columns; ++k) {
            const Column along =
                column_at(ordered.list[v], depth_of(ordered.list[v], static_cast<double>(x + k % edge),
                                                    static_cast<double>(y + k / edge)));
            for (const Index row : {row0, row0 + rows}) {
              const double voxel = (static_cast<double>(row) - 0.5 - along.first) / along.step;
              low = std::min(low, voxel), high = std::max(high, voxel);
            }
          }
        // windows that miss all voxels are not looked at
        return low >= static_cast<double>(c.volume[0]) || high <= 0 ? 0 : high - low;
      };
      for (std::size_t first = 0; first < ordered.list.size(); first += in_block)
        for (Index row0 = 0; row0 < c.rows; row0 += rows)
          for_each_tile(c.volume, [&](Index x, Index y) {
            ASSERT_LE(widest(first, row0, x, y) + 3 + 2, layout.window) << rows << " rows";
          });
    }
  }
}

/// Cells that a tile and a chunk of its slices meet.
TEST(FootprintBatches, WindowsOfTheBackProjectionHoldWhatAChunkMeets) {
  for (const Case& c : cases())
    for (const int per_lane : {1, 2, 3}) {
      const BackwardLayout layout = backward_layout(c.reach(), per_lane);
      if (!c.reach().fits_window() || !layout.fits(half_of_shared)) continue;
      EXPECT_EQ(layout.window_rows / 8 % 2, 1);
      EXPECT_EQ(layout.profile_rows / 8 % 2, 1);
      const int chunk = 32 * per_lane;
      for (const ConeView& view : c.views.views)
        for (Index z = 0; z < c.volume[0]; z += chunk)
          for_each_tile(c.volume, [&](Index x, Index y) {
            double bins[2] = {INFINITY, -INFINITY}, rows[2] = {INFINITY, -INFINITY};
            for (int k = 0; k < columns; ++k) {
              const Trapezoid<double> t = trapezoid_of(view, x + k % edge, y + k / edge);
              const Column along = column_at(view, t.distance);
              const double low = along.first + 0.5 + along.step * static_cast<double>(z);
              bins[0] = std::min(bins[0], t.corners[0] + 0.5),
              bins[1] = std::max(bins[1], t.corners[3] + 0.5);
              rows[0] = std::min(rows[0], low), rows[1] = std::max(rows[1], low + along.step * chunk);
            }
            ASSERT_LE(std::ceil(bins[1]) - std::floor(bins[0]), layout.tile_bins);
            if (rows[0] < static_cast<double>(c.rows) && rows[1] > 0) {
              ASSERT_LE(std::ceil(rows[1]) + 2 - std::floor(rows[0] / 8) * 8, layout.profile_rows);
            }
          });
    }
}

/// A view that is left out shows no row of any slice of the chunk. Most views of a helix are left out.
TEST(FootprintBatches, ChunksLeaveOutViewsThatTheyDoNotMeet) {
  constexpr Index chunk = 32;
  Random random(6);
  std::vector<Case> all = cases();
  const VolumeGrid high{{37, 41, 400}, {0.5, 0.5, 0.5}, {}};
  all.push_back({*pack(jittered_helix(300, 40, 83, 9, 20, 0.5, random), high).upright, 40, {400, 41, 37}});
  Index left_out = 0;
  for (const Case& c : all) {
    const auto count = static_cast<Index>(c.views.views.size());
    const Range some{count / 5, count};
    const std::vector<Range> met = views_met(c.views, c.reach(), some, c.volume[0], chunk);
    ASSERT_EQ(static_cast<Index>(met.size()), ceil_div(c.volume[0], chunk));
    for (Index v = 0; v < some.size(); ++v)
      for (std::size_t k = 0; k < met.size(); ++k) {
        if (met[k].first <= v && v < met[k].last) continue;
        left_out += &c == &all.back();
        const ConeView& view = c.views.views[static_cast<std::size_t>(some.first + v)];
        for_each_tile(c.volume, [&](Index x, Index y) {
          const Column along =
              column_at(view, depth_of(view, static_cast<double>(x), static_cast<double>(y)));
          const double low = along.first + along.step * static_cast<double>(k) * chunk;
          ASSERT_TRUE(low + along.step * chunk <= -0.5 || low >= static_cast<double>(c.rows) - 0.5);
        });
      }
  }
  EXPECT_GT(left_out, 300 * 13 / 2);
}

/// Odd sizes and large ones.
std::vector<std::pair<Shape, Shape>> sizes() {
  std::vector<std::pair<Shape, Shape>> all;
  Random random(11);
  const auto up_to = [&](double most) { return 1 + static_cast<Index>(std::pow(most, random.uniform())); };
  for (int trial = 0; trial < 400; ++trial)
    all.push_back({{up_to(3000), up_to(14'000), up_to(4000)}, {up_to(5000), up_to(3000), up_to(5000)}});
  return all;
}

double bytes_of(const ForwardBatches& n, Index views, const Shape& projections) {
  const auto tiles = static_cast<double>(n.lines * n.across);
  return static_cast<double>(n.lines * n.line_bytes) +
         static_cast<double>(views) * (tiles * static_cast<double>(record_bytes(Direction::forward)) +
                                       8.0 * static_cast<double>(n.lines * ((projections[2] + 63) / 64)));
}

TEST(FootprintBatches, FitTheirMemory) {
  for (const auto& [volume, projections] : sizes()) {
    const WorkingMemory most = footprint_memory(volume, projections);
    const ForwardBatches forward(volume, projections);
    EXPECT_GE(forward.lines, 1);
    EXPECT_LE(forward.lines, std::min(forward.all_lines, most_lines));
    for (const int views_a_block : {1, 2, 4}) {
      const Index views = forward.views(projections[0], views_a_block);
      EXPECT_TRUE(views == projections[0] || (views > 0 && views % views_a_block == 0));
      EXPECT_LE(views, 65'535);
      EXPECT_LE(bytes_of(forward, views, projections), most.forward);
    }
    const BackwardBatches backward(volume, projections);
    EXPECT_GE(backward.views, 1);
    EXPECT_TRUE(backward.lines == backward.down || backward.lines % tiles_y == 0);
    EXPECT_LE(ceil_div<Index>(backward.across, tiles_x) * ceil_div(backward.lines, tiles_y), 65'535);
    EXPECT_LE(
        static_cast<double>(backward.views * backward.view_bytes + backward.lines * backward.line_bytes()),
        most.backward);
  }
}

/// Tiles of a volume and of a scan are found by that.
TEST(FootprintBatches, TakeMoreMemoryTheMoreLinesAndViews) {
  for (const auto& [volume, projections] : sizes()) {
    const WorkingMemory all = footprint_memory(volume, projections);
    Shape fewer_lines = volume, fewer_views = projections;
    fewer_lines[1] = (volume[1] + 1) / 2, fewer_views[0] = projections[0] - projections[0] / 3;
    for (const WorkingMemory& less :
         {footprint_memory(fewer_lines, projections), footprint_memory(volume, fewer_views)}) {
      EXPECT_LE(less.forward, all.forward);
      EXPECT_LE(less.backward, all.backward);
    }
  }
}

}  // namespace
}  // namespace tandem::test
