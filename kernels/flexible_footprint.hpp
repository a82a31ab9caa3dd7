#pragma once

// The coefficient of a voxel and a cell in any geometry: a = r mass / depth^2 F_bin F_row, mm. F_bin and
// F_row are the shares of the cell under trapezoids of area 1, one along the bins and one along the rows. The
// shadow of a voxel along one direction is the convolution of the shadows of its three edges. The trapezoid
// has the widest of these as one side, and as the other side what gives it the variance of all three: so
// mass, mean and variance are exact. If one edge has no shadow, the trapezoid is exact too. r is the distance
// of the cell from the source. The coefficient stands only here: forward and back are loops around these
// functions.
//
// Voxels of a brick share the widths of their trapezoids, up to a factor: the share of their depth in that of
// the middle of the brick. Their positions are exact.

#include <algorithm>
#include <cmath>

#include "../core/host_device.hpp"
#include "../geometry/flexible_views.hpp"

namespace tandem::kernels {

/// Edge of a brick in voxels; at the ends of a volume bricks may be smaller.
constexpr int brick_edge = 8;

/// A trapezoid of area 1 about 0, in cells.
struct Profile {
  float outer, inner;  ///< where its flanks end and begin
  float height;        ///< between the inner ends
  float rise;          ///< 1 / (2 width of a flank)
};

TANDEM_HOST_DEVICE inline Profile profile_of(float a, float b, float c) {
  a = std::fabs(a), b = std::fabs(b), c = std::fabs(c);
  constexpr float steep = 1e-3f, narrow = 1e-6f;  // flanks, as a share of the widest edge; cells
  const float widest = std::max(std::max(std::max(a, b), c), narrow);
  const float rest = std::max(a * a + b * b + c * c - widest * widest, 0.0f);
  const float flank = std::max(std::sqrt(rest), steep * widest);
  return {0.5f * (widest + flank), 0.5f * (widest - flank), 1 / widest, 0.5f / flank};
}

/// What of a trapezoid lies before a place, up to a number that is the same for all places.
TANDEM_HOST_DEVICE inline float share_before(const Profile& p, float place) {
  const float at = std::max(-p.outer, std::min(p.outer, place));
  const float risen = std::min(at, -p.inner), falling = std::max(at, p.inner);
  const float before = risen + p.outer, left = p.outer - falling;
  return p.height * (before * before * p.rise + (at - risen) + (p.inner - falling) - left * left * p.rise);
}

/// What the voxels of a brick have in common in a view. A voxel is given by its distance from the middle of
/// the brick, in voxels.
struct BrickShadow {
  float depth[3];            ///< slopes of the depth, as a share of that of the middle
  float bin[3], row[3];      ///< slopes of the place, in cells, before the division by the depth
  float bin_here, row_here;  ///< the place of the middle, in cells from the first cell
  float mass;                ///< mass / depth^2 at the middle
  Profile along_bins, along_rows;
  Index first_bin, first_row;  ///< the cell from which places count: near it float has all digits that matter
};

/// `middle` in voxels from voxel (0, 0, 0).
TANDEM_HOST_DEVICE inline BrickShadow shadow_of(const FlexiblePlace& view, double ix, double iy, double iz) {
  const double inverse = 1 / view.depth.at(ix, iy, iz);
  const double bin = view.bin.at(ix, iy, iz) * inverse, row = view.row.at(ix, iy, iz) * inverse;
  constexpr double far = 1e9;  // cells; no detector has such
  const double first_bin = std::floor(std::clamp(bin, -far, far)),
               first_row = std::floor(std::clamp(row, -far, far));
  BrickShadow s{};
  for (int k = 0; k < 3; ++k) {
    s.depth[k] = static_cast<float>(view.depth.step[k] * inverse);
    s.bin[k] = static_cast<float>((view.bin.step[k] - bin * view.depth.step[k]) * inverse);
    s.row[k] = static_cast<float>((view.row.step[k] - row * view.depth.step[k]) * inverse);
  }
  s.bin_here = static_cast<float>(bin - first_bin), s.row_here = static_cast<float>(row - first_row);
  s.mass = static_cast<float>(view.mass * inverse * inverse);
  s.along_bins = profile_of(s.bin[0], s.bin[1], s.bin[2]);
  s.along_rows = profile_of(s.row[0], s.row[1], s.row[2]);
  s.first_bin = static_cast<Index>(first_bin), s.first_row = static_cast<Index>(first_row);
  return s;
}

/// Where one voxel falls, in cells from the first cell, and what its profiles are stretched by.
struct VoxelShadow {
  float bin, row;
  float stretch;  ///< its depth, as a share of that of the middle: cells times this are those of the profile
  float mass;
};

TANDEM_HOST_DEVICE inline VoxelShadow shadow_in(const BrickShadow& s, float x, float y, float z) {
  constexpr float least = 1e-3f;  // of places that hold no voxel
  const float depth = std::max(1 + (s.depth[0] * x + s.depth[1] * y + s.depth[2] * z), least),
              inverse = 1 / depth;
  return {s.bin_here + (s.bin[0] * x + s.bin[1] * y + s.bin[2] * z) * inverse,
          s.row_here + (s.row[0] * x + s.row[1] * y + s.row[2] * z) * inverse, depth,
          s.mass * inverse * inverse};
}

/// How many cells a shadow can meet, if voxels of the brick are at least `nearest` of its middle's depth.
TANDEM_HOST_DEVICE inline int cells_met(const Profile& p, float nearest) {
  return static_cast<int>(2 * p.outer / nearest) + 2;
}

/// The first cell that the shadow meets.
TANDEM_HOST_DEVICE inline int first_cell(const Profile& p, float place, float stretch) {
  return static_cast<int>(std::floor(place - p.outer / stretch + 0.5f));
}

/// The least depth in a brick, as a share of that of its middle; `half` edges in voxels.
TANDEM_HOST_DEVICE inline float nearest_of(const BrickShadow& s, const float* half) {
  return 1 - (half[0] * std::fabs(s.depth[0]) + half[1] * std::fabs(s.depth[1]) +
              half[2] * std::fabs(s.depth[2]));
}

/// r: the distance of a cell from the source, mm; 1 for parallel rays.
TANDEM_HOST_DEVICE inline double distance_of(const FlexiblePlace& view, Index row, Index bin) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    const double at = view.to_first_cell[k] + static_cast<double>(bin) * view.to_next_bin[k] +
                      static_cast<double>(row) * view.to_next_row[k];
    sum += at * at;
  }
  return std::sqrt(sum);
}

}  // namespace tandem::kernels
