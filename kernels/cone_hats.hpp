#pragma once

// The coefficients of the two cone-beam models that interpolate, in mm. Each is a product of two hats: one
// for a position between two neighbours across, one for a position between two neighbours along z:
//
//   Joseph (1982)   a = r step hat(across - j) hat(along - k)
//   pixel_driven    a = r V sdd / (cell d^2) hat(u - bin) hat(v - row)
//
// r is the distance from the source to the cell.
//
// Joseph: the rays of a view to all rows of a bin lie in one upright sheet. The sheet crosses the planes x =
// const or y = const, whichever it crosses more steeply, at voxel `across`. The ray to a row crosses a plane
// at slice `along`. r step is the length of that ray from plane to plane.
//
// pixel_driven: the centre of a voxel falls on bin u and row v. V is the volume of the voxel, d its distance
// from the source along the detector's normal. Its coefficients have the same sum as its exact chords, V sdd
// r / (cell d^2) (docs/kernels.md).
//
// The coefficients stand only here: forward and back are loops around these functions.

#include <cmath>

#include "../core/host_device.hpp"
#include "../core/rounding.hpp"
#include "../geometry/views.hpp"
#include "line.hpp"

namespace tandem::kernels {

/// The weight of a neighbour in linear interpolation.
TANDEM_HOST_DEVICE inline float hat(double position, Index neighbour) {
  return static_cast<float>(std::fmax(0.0, 1 - std::fabs(position - neighbour)));
}

TANDEM_HOST_DEVICE inline Range both(Range a, Range b) {
  return {a.first > b.first ? a.first : b.first, a.last < b.last ? a.last : b.last};
}

/// The indices in [0, count) where a line is positive, and up to two more.
TANDEM_HOST_DEVICE inline Range where_positive(Line line, Index count) {
  if (line.step == 0) return {0, line.first > 0 ? count : 0};
  const double end = count, root = -line.first / line.step;
  const auto whole = floor_index(std::fmin(std::fmax(root, 0.0), end));
  return line.step > 0 ? Range{whole, count} : both({0, whole + 2}, {0, count});
}

/// The indices in [0, count) whose positions lie between `low` and `high`, and a few more.
TANDEM_HOST_DEVICE inline Range where_between(double low, Line line, double high, Index count) {
  return both(where_positive({line.first - low, line.step}, count),
              where_positive({high - line.first, -line.step}, count));
}

/// r: the distance from the source to a cell, mm.
TANDEM_HOST_DEVICE inline double ray_length(const ConeFrame& n, Index row, Index bin) {
  const double s = (bin - n.axis_bin) * n.bin_pitch, t = (row - n.midplane_row) * n.row_pitch;
  return std::sqrt(n.sdd * n.sdd + s * s + t * t);
}

// ---- Joseph

struct Sheet {
  bool along_x;  ///< whether it crosses planes x = const; else y = const
  Line across;   ///< place where it crosses plane i, in voxels along the other axis
  Line depth;    ///< the distance of that place from the source, as a share of the way to the detector
  double step;   ///< from plane to plane, mm, divided by the length of the ray
};

TANDEM_HOST_DEVICE inline Sheet sheet_of(const ConeFrame& n, const ConeView& view, Index bin) {
  const double s = (bin - n.axis_bin) * n.bin_pitch;
  // fused as written, so that the steeper axis is the same one wherever this is compiled
  const double ray_x = std::fma(s, view.cos, -(n.sdd * view.sin)),
               ray_y = std::fma(s, view.sin, n.sdd * view.cos);
  const double from_x = n.x0 - n.sod * view.sin, from_y = n.y0 + n.sod * view.cos;
  const bool along_x = std::fabs(ray_x) >= std::fabs(ray_y);
  const double major = along_x ? ray_x : ray_y, minor = along_x ? ray_y : ray_x;
  const Line depth{(along_x ? from_x : from_y) / major, n.pitch / major};
  return {along_x,
          {(depth.first * minor - (along_x ? from_y : from_x)) / n.pitch, minor / major},
          depth,
          n.pitch / std::fabs(major)};
}

/// The slice at which the ray to a row passes, by depth.
TANDEM_HOST_DEVICE inline Line slices_by_depth(const ConeFrame& n, Index row) {
  return {-n.z0 / n.pitch_z, (row - n.midplane_row) * n.row_pitch / n.pitch_z};
}

/// The slices at which the rays to all rows pass at this depth.
TANDEM_HOST_DEVICE inline Line slices_at(const ConeFrame& n, double depth) {
  const double step = n.row_pitch * depth / n.pitch_z;
  return {-n.midplane_row * step - n.z0 / n.pitch_z, step};
}

/// The bins whose sheets pass a column of voxels by less than a voxel along x or y; no other bins reach it.
/// They lie between the four neighbours of the column.
TANDEM_HOST_DEVICE inline Range bins_about(const ConeFrame& n, const ConeView& view, Index ix, Index iy,
                                           Index bins) {
  const double end = bins;
  double low = end, high = -1;
  for (int k = 0; k < 4; ++k) {
    const int away = k % 2 ? 1 : -1;
    const double x = n.x0 + n.pitch * (ix + (k / 2 ? away : 0)),
                 y = n.y0 + n.pitch * (iy + (k / 2 ? 0 : away));
    const double d = n.sod - x * view.sin + y * view.cos;
    const double bin = n.axis_bin + n.sdd / n.bin_pitch * (x * view.cos + y * view.sin) / d;
    low = std::fmin(low, bin), high = std::fmax(high, bin);
  }
  return {static_cast<Index>(std::fmax(low, 0.0)), ceil_index(std::fmin(high, end - 1)) + 1};
}

// ---- pixel_driven

/// A column of voxels in a view.
struct VoxelColumn {
  double bin;
  Line rows;      ///< row on which each slice falls
  double weight;  ///< V sdd / (cell d^2)
};

TANDEM_HOST_DEVICE inline VoxelColumn column_of(const ConeFrame& n, const ConeView& view, Index ix,
                                                Index iy) {
  const double x = n.x0 + n.pitch * ix, y = n.y0 + n.pitch * iy;
  const double d = n.sod - x * view.sin + y * view.cos;
  const double bins = n.sdd / (d * n.bin_pitch), rows = n.sdd / (d * n.row_pitch);  // a mm
  return {n.axis_bin + bins * (x * view.cos + y * view.sin),
          {n.midplane_row + rows * n.z0, rows * n.pitch_z},
          n.pitch * n.pitch * n.pitch_z * bins * rows / n.sdd};
}

/// A line that is positive where voxel i of a plane falls beyond `bin`.
TANDEM_HOST_DEVICE inline Line beyond(const ConeFrame& n, const ConeView& view, bool along_x, Index plane,
                                      double bin) {
  const double slope = (bin - n.axis_bin) * n.bin_pitch / n.sdd;
  const double by_x = view.cos + slope * view.sin, by_y = view.sin - slope * view.cos;
  const double there = n.pitch * plane * (along_x ? by_x : by_y);
  return {n.x0 * by_x + n.y0 * by_y - slope * n.sod + there, n.pitch * (along_x ? by_y : by_x)};
}

}  // namespace tandem::kernels
