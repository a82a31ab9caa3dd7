#pragma once

// The coefficient of a voxel and a cell in any geometry: a = r mass / depth^2 F_bin F_row, mm. F_bin and
// F_row are the shares of the cell under trapezoids of area 1, one along the bins and one along the rows. The
// shadow of a voxel along one direction is the convolution of the shadows of its three edges. The trapezoid
// has the widest of these as one side, and as the other side what gives it the variance of all three: so
// mass, mean and variance are exact. If one edge has no shadow, the trapezoid is exact too. Its flanks are as
// wide as the shorter side: two short edges together may be longer than the widest one. r is the distance
// of the cell from the source. The coefficient stands only here: forward and back are loops around these
// functions.
//
// Voxels of a brick share the widths of their trapezoids, up to a factor: the share of their depth in that of
// the middle of the brick. Their positions are exact.

#include <algorithm>
#include <bit>
#include <cmath>

#include "../core/host_device.hpp"
#include "../core/rounding.hpp"
#include "../geometry/flexible_views.hpp"

namespace tandem::kernels {

/// Edge of a brick in voxels; at the ends of a volume bricks may be smaller.
constexpr int brick_edge = 8;

/// a b + c. On a GPU it is fused, the same wherever it stands.
TANDEM_HOST_DEVICE inline float fused(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return a * b + c;
#endif
}

TANDEM_HOST_DEVICE inline float product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);  // and not fused with a sum
#else
  return a * b;
#endif
}

TANDEM_HOST_DEVICE inline float reciprocal(float a) {
#ifdef __CUDA_ARCH__
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
#else
  return 1 / a;
#endif
}

/// A trapezoid of area 1 about 0, along bins or rows.
struct Profile {
  float outer;      ///< end of the flanks, in widths of a flank
  float per_flank;  ///< 1 / width of a flank, 1 / cells
  float whole;      ///< the area, in areas of a flank
};

TANDEM_HOST_DEVICE inline Profile profile_of(float a, float b, float c) {
  a = std::fabs(a), b = std::fabs(b), c = std::fabs(c);
  constexpr float steep = 1e-3f, narrow = 1e-6f;  // flanks, as a share of the longer side; cells
  const float widest = std::max(std::max(std::max(a, b), c), narrow);
  const float other = std::sqrt(std::max(a * a + b * b + c * c - widest * widest, 0.0f));
  const float side = std::max(widest, other);
  const float flank = std::max(std::min(widest, other), steep * side), per_flank = 1 / flank;
  return {0.5f * (side + flank) * per_flank, per_flank, 2 * side * per_flank};
}

/// The area of a trapezoid beyond an edge that lies so many widths of a flank within its outer end; at most
/// in its middle. In areas of a flank.
TANDEM_HOST_DEVICE inline float beyond(float within) {
#ifdef __CUDA_ARCH__
  const float risen = __saturatef(within);
#else
  const float risen = std::min(std::max(within, 0.0f), 1.0f);
#endif
  return product(risen, fused(2, within, -risen));
}

/// The numbers that the voxels of a brick share in a view. A voxel is given by its distance from the middle
/// of the brick, in voxels.
struct BrickShadow {
  float depth[3];            ///< slopes of the depth, as a share of that of the middle
  float bin[3], row[3];      ///< slopes of the place, in cells, before the division by the depth
  float bin_here, row_here;  ///< the place of the middle, in cells from the first cell
  float mass;                ///< mass / depth^2 at the middle
  Profile along_bins, along_rows;
  Index first_bin, first_row;  ///< the cell from which places count: near it float has all digits that matter
};

TANDEM_HOST_DEVICE inline void add_profiles(BrickShadow& s) {
  s.along_bins = profile_of(s.bin[0], s.bin[1], s.bin[2]);
  s.along_rows = profile_of(s.row[0], s.row[1], s.row[2]);
}

/// The shadow of a brick without its profiles. `middle` in voxels from voxel (0, 0, 0).
TANDEM_HOST_DEVICE inline BrickShadow shadow_about(const FlexiblePlace& view, double ix, double iy,
                                                   double iz) {
  const double inverse = 1 / view.depth.at(ix, iy, iz);
  const double bin = view.bin.at(ix, iy, iz) * inverse, row = view.row.at(ix, iy, iz) * inverse;
  constexpr double far = 1e9;  // cells; no detector has such
  const double first_bin = std::floor(std::min(std::max(bin, -far), far)),
               first_row = std::floor(std::min(std::max(row, -far), far));
  BrickShadow s{};
  for (int k = 0; k < 3; ++k) {
    s.depth[k] = static_cast<float>(view.depth.step[k] * inverse);
    s.bin[k] = static_cast<float>((view.bin.step[k] - bin * view.depth.step[k]) * inverse);
    s.row[k] = static_cast<float>((view.row.step[k] - row * view.depth.step[k]) * inverse);
  }
  s.bin_here = static_cast<float>(bin - first_bin), s.row_here = static_cast<float>(row - first_row);
  s.mass = static_cast<float>(view.mass * inverse * inverse);
  s.first_bin = static_cast<Index>(first_bin), s.first_row = static_cast<Index>(first_row);
  return s;
}

TANDEM_HOST_DEVICE inline BrickShadow shadow_of(const FlexiblePlace& view, double ix, double iy, double iz) {
  BrickShadow s = shadow_about(view, ix, iy, iz);
  add_profiles(s);
  return s;
}

/// The shadow about another middle near by, (x, y, z) voxels away. Places count from the same cell.
TANDEM_HOST_DEVICE inline BrickShadow moved(const BrickShadow& from, float x, float y, float z) {
  const float inverse = 1 / (1 + (from.depth[0] * x + from.depth[1] * y + from.depth[2] * z));
  const float bins = (from.bin[0] * x + from.bin[1] * y + from.bin[2] * z) * inverse,
              rows = (from.row[0] * x + from.row[1] * y + from.row[2] * z) * inverse;
  BrickShadow s = from;
  for (int k = 0; k < 3; ++k) {
    s.depth[k] = from.depth[k] * inverse;
    s.bin[k] = (from.bin[k] - bins * from.depth[k]) * inverse;
    s.row[k] = (from.row[k] - rows * from.depth[k]) * inverse;
  }
  s.bin_here += bins, s.row_here += rows;
  s.mass *= inverse * inverse;
  add_profiles(s);
  return s;
}

/// The place of one voxel, in cells from the first cell, and the stretch of its profiles.
struct VoxelShadow {
  float bin, row;
  float stretch;  ///< its depth, as a share of that of the middle: cells times this are those of the profile
  float inverse;  ///< 1 / stretch
};

TANDEM_HOST_DEVICE inline VoxelShadow shadow_in(const BrickShadow& s, float x, float y, float z) {
  const float depth = fused(s.depth[2], z, fused(s.depth[1], y, fused(s.depth[0], x, 1))),
              inverse = reciprocal(depth);
  return {fused(fused(s.bin[2], z, fused(s.bin[1], y, product(s.bin[0], x))), inverse, s.bin_here),
          fused(fused(s.row[2], z, fused(s.row[1], y, product(s.row[0], x))), inverse, s.row_here), depth,
          inverse};
}

/// The cell that a place lies in, and how far from its middle. A place has fewer than 2^22 cells.
struct NearestCell {
  int number;
  float beside;
};
TANDEM_HOST_DEVICE inline NearestCell nearest_cell(float place) {
  constexpr float whole = 12582912;  // 1.5 * 2^23: a sum with it has no digits behind the point
  const float sum = place + whole;
  return {std::bit_cast<int>(sum) - std::bit_cast<int>(whole), place - (sum - whole)};
}

/// How many cells on either side of the nearest one a shadow can meet, if voxels of the brick are at least
/// `nearest` of its middle's depth.
TANDEM_HOST_DEVICE inline int reach_of(const Profile& p, float nearest) {
  return std::max(ceil_int(p.outer / (p.per_flank * nearest)), 1);
}

/// The shares of the cells from `reach` before the nearest one to `reach` behind it, in areas of a flank. The
/// middle has what the others leave, so that the sum is the whole shadow.
template <class Shares>
TANDEM_HOST_DEVICE inline void share_out(const Profile& p, float beside, float stretch, int reach,
                                         const Shares& share) {
  const float per_cell = product(p.per_flank, stretch);
  float before = 0, behind = 0;
  TANDEM_UNROLL
  for (int k = 0; k < reach; ++k) {
    const float middle = fused(0.5f - (reach - k), per_cell, p.outer);
    const float left = beyond(fused(-beside, per_cell, middle)),
                right = beyond(fused(beside, per_cell, middle));
    share(k, left - before), share(2 * reach - k, right - behind);
    before = left, behind = right;
  }
  share(reach, p.whole - before - behind);
}

/// The factor of shares: the mass of a voxel, and one over the two areas of a shadow.
TANDEM_HOST_DEVICE inline float weight_of(const BrickShadow& s) {
  return s.mass / (s.along_bins.whole * s.along_rows.whole);
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
    const double at = view.to_first_cell[k] + bin * view.to_next_bin[k] + row * view.to_next_row[k];
    sum += at * at;
  }
  return std::sqrt(sum);
}

}  // namespace tandem::kernels
