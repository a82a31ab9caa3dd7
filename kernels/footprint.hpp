#pragma once

// The coefficient of a voxel and a cell: a = l_phi l_theta F1 F2, mm (Long, Fessler, Balter, IEEE TMI 29(11)
// 1839, 2010, SF-TR with amplitude A2). F1 is the share of the cell under a trapezoid along the bins. F2 is
// the share of the cell under a rectangle along the rows. l_phi is the chord of the voxel seen from above.
// l_theta is the slant of the ray to the cell. The coefficient stands only here: forward and back are loops
// around these functions.

#include <algorithm>
#include <cmath>
#include <utility>

#include "../core/host_device.hpp"
#include "../geometry/views.hpp"

namespace tandem::kernels {

/// The cells that the interval [from, to] of positions meets, cut to [0, count).
TANDEM_HOST_DEVICE inline Range cells_between(double from, double to, Index count) {
  const auto at = [&](double position) {
    return static_cast<Index>(std::clamp(position, 0.0, static_cast<double>(count)));
  };
  return {at(std::floor(from + 0.5)), at(std::ceil(to + 0.5))};
}

/// The shadow of a column of voxels along the bins of a view. It has the height l_phi between the inner
/// corners.
template <class Real>
struct Trapezoid {
  Real corners[4];  ///< ascending, bins
  Real height;      ///< mm
  Real rise, fall;  ///< 1 / (2 width of the flank)
  Real distance;    ///< from the source to the column's axis, along the normal of the detector, mm
};

/// The shadow of column (ix, iy). Here and in `mean_around` there is no branch, so that loops over columns
/// become SIMD.
TANDEM_HOST_DEVICE inline Trapezoid<double> trapezoid_of(const ConeFrame& n, const ConeView& view, double ix,
                                                         double iy) {
  const double x = n.x0 + n.pitch * ix, y = n.y0 + n.pitch * iy;
  const double half = 0.5 * n.pitch, magnified = n.sdd / n.bin_pitch;
  Trapezoid<double> t;
  for (int k = 0; k < 4; ++k) {
    const double cx = x + (k % 2 ? half : -half), cy = y + (k / 2 ? half : -half);
    t.corners[k] =
        n.axis_bin + magnified * (cx * view.cos + cy * view.sin) / (n.sod - cx * view.sin + cy * view.cos);
  }
  const auto order = [&](int a, int b) {
    const double low = std::min(t.corners[a], t.corners[b]);
    t.corners[b] = std::max(t.corners[a], t.corners[b]), t.corners[a] = low;
  };
  order(0, 1), order(2, 3), order(0, 2), order(1, 3), order(1, 2);
  const double ray_x = x - n.sod * view.sin, ray_y = y + n.sod * view.cos;
  t.height = n.pitch * std::sqrt(ray_x * ray_x + ray_y * ray_y) / std::max(std::abs(ray_x), std::abs(ray_y));
  const auto half_over = [](double width) {
    constexpr double steep = 1e-6;  // bins, at least so wide; written so that it is no branch
    return 1 / (width + steep + std::abs(width - steep));
  };
  t.rise = half_over(t.corners[1] - t.corners[0]), t.fall = half_over(t.corners[3] - t.corners[2]);
  t.distance = n.sod - x * view.sin + y * view.cos;
  return t;
}

/// The same shadow in bins counted from `bin`: near it float has all the digits that matter.
TANDEM_HOST_DEVICE inline Trapezoid<float> counted_from(const Trapezoid<double>& t, Index bin) {
  Trapezoid<float> near{{},
                        static_cast<float>(t.height),
                        static_cast<float>(t.rise),
                        static_cast<float>(t.fall),
                        static_cast<float>(t.distance)};
  for (int k = 0; k < 4; ++k) near.corners[k] = static_cast<float>(t.corners[k] - static_cast<double>(bin));
  return near;
}

/// l_phi F1: the mean height of the shadow over the bin around this position.
template <class Real>
TANDEM_HOST_DEVICE inline Real mean_around(const Trapezoid<Real>& t, Real bin) {
  constexpr Real half = 0.5;
  const Real from = bin - half, to = bin + half;
  const auto& c = t.corners;
  const auto cut = [&](Real a, Real b) {
    const Real begin = std::max(from, a);
    return std::pair{begin, std::max(begin, std::min(to, b))};
  };
  const auto [a, b] = cut(c[0], c[1]);
  const auto [d, e] = cut(c[1], c[2]);
  const auto [f, g] = cut(c[2], c[3]);
  const Real area = (b - a) * (a + b - 2 * c[0]) * t.rise + (e - d) + (g - f) * (2 * c[3] - f - g) * t.fall;
  return t.height * area;
}

template <class Real>
TANDEM_HOST_DEVICE inline Real mean_over(const Trapezoid<Real>& t, Index bin) {
  return mean_around(t, static_cast<Real>(bin));
}

/// The rows that a column of voxels covers: voxel iz covers [first + step iz, first + step (iz + 1)].
struct Column {
  double first, step;
};

TANDEM_HOST_DEVICE inline Column column_at(const ConeFrame& n, double distance) {
  const double magnified = n.sdd / (distance * n.row_pitch);
  return {n.midplane_row + magnified * (n.z0 - 0.5 * n.pitch_z), magnified * n.pitch_z};
}

/// F2: the share of a row between the edges of a voxel.
TANDEM_HOST_DEVICE inline double share_of(double low, double high, Index row) {
  const auto centre = static_cast<double>(row);
  return std::max(std::min(high, centre + 0.5) - std::max(low, centre - 0.5), 0.0);
}

/// l_theta: the slant of the ray to a cell.
TANDEM_HOST_DEVICE inline double slant_of(const ConeFrame& n, Index row, Index bin) {
  const double s = (static_cast<double>(bin) - n.axis_bin) * n.bin_pitch,
               t = (static_cast<double>(row) - n.midplane_row) * n.row_pitch;
  const double level = std::hypot(s, n.sdd);
  return std::hypot(level, t) / level;
}

}  // namespace tandem::kernels
