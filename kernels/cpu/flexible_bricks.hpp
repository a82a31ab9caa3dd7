#pragma once

// How a volume is cut for the pair for any geometry on the CPU, and which cells a brick can meet.

#include <algorithm>
#include <array>
#include <cmath>

#include "../../core/ceil_div.hpp"
#include "../../core/rounding.hpp"
#include "../../core/space.hpp"
#include "../curved_footprint.hpp"
#include "../flexible_footprint.hpp"

namespace tandem::kernels::cpu {

constexpr int slab = brick_edge * brick_edge;  // voxels

/// Cells of a view in memory.
struct Cells {
  Index rows, bins;
  Index size() const { return rows * bins; }
};

/// One of the bricks of a volume (slice, y, x).
struct Brick {
  Brick(Shape volume, Index number) {
    const std::array<Index, 3> size{volume[2], volume[1], volume[0]};
    for (std::size_t k = 0; k < 3; ++k) {
      const Index along = bricks_along(size[k]), first = number % along * brick_edge;
      part[k] = {first, std::min(first + brick_edge, size[k])};
      half[k] = 0.5f * part[k].size();
      number /= along;
    }
  }
  static Index bricks_along(Index voxels) { return ceil_div<Index>(voxels, brick_edge); }
  static Index count(Shape volume) {
    return bricks_along(volume[0]) * bricks_along(volume[1]) * bricks_along(volume[2]);
  }
  double middle(std::size_t axis) const { return 0.5 * (part[axis].first + part[axis].last - 1); }
  /// Distance of voxel i from the middle along an axis.
  float away(std::size_t axis, Index i) const { return static_cast<float>(i - middle(axis)); }
  BrickShadow shadow(const FlexiblePlace& view) const {
    return shadow_of(view, middle(0), middle(1), middle(2));
  }
  CurvedBrick curved(const FlexiblePlace& view) const {
    const std::array<double, 3> at{middle(0), middle(1), middle(2)};
    return curved_brick(view, at.data(), half.data());
  }
  /// The place of a voxel among (z, y, x) of 8 x 8 x 8.
  std::size_t place(Index z, Index y, Index x) const {
    return ((z - part[2].first) * brick_edge + y - part[1].first) * brick_edge + x - part[0].first;
  }

  std::array<Range, 3> part;  ///< x, y, z
  std::array<float, 3> half;  ///< edges, voxels
};

/// A number of cells, along one direction of the detector, within which a brick surely stays from its middle.
/// Before the division by the depth, its voxels lie up to `away` cells from the middle.
inline double reach_of_brick(const Profile& p, float away, float nearest) {
  return double{(away + p.outer / p.per_flank) / nearest} + 2;
}

/// The cells that a brick surely does not leave.
struct Reached {
  Reached() = default;
  Reached(const Brick& brick, const BrickShadow& s) : Reached(brick, s, 1, 0) {}
  Reached(const Brick& brick, const CurvedBrick& c)
      : Reached(brick, c.shadow, 1 / nearest_of(c.shadow, brick.half.data()),
                rows_beyond_slopes(c, brick.half.data())) {}
  bool misses(Cells cells) const {
    return bins.last < 0 || bins.first > cells.bins || rows.last < 0 || rows.first > cells.rows;
  }
  Range bins{}, rows{};

 private:
  /// Voxels may lie a factor `farther` from the middle than slopes say, and so many rows beyond.
  Reached(const Brick& brick, const BrickShadow& s, float farther, float rows_beyond) {
    const float* half = brick.half.data();
    const float nearest = nearest_of(s, half);
    const auto about = [](Index middle, double reach) {
      const auto cells = floor_index(std::min(reach, 1e9));
      return Range{middle - cells - 1, middle + cells + 2};
    };
    bins = about(s.first_bin, reach_of_brick(s.along_bins, farther * spread_of(half, s.bin), nearest));
    rows = about(s.first_row,
                 reach_of_brick(s.along_rows, farther * spread_of(half, s.row) + rows_beyond, nearest));
  }
};

}  // namespace tandem::kernels::cpu
