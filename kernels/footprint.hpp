#pragma once

// The coefficient of a voxel and a cell: a = l_phi l_theta F1 F2, mm (Long, Fessler, Balter, IEEE TMI 29(11)
// 1839, 2010, SF-TR with amplitude A2). F1 is the share of the cell under a trapezoid along the bins. F2 is
// the share of the cell under a rectangle along the rows. l_phi is the chord of the voxel seen from above.
// l_theta is the slant of the ray to the cell. The coefficient stands only here: forward and back are loops
// around these functions.

#include <algorithm>
#include <cmath>

#include "../core/host_device.hpp"
#include "../geometry/views.hpp"

namespace tandem::kernels {

/// The cells that the interval [from, to] of positions meets, cut to [0, count).
TANDEM_HOST_DEVICE inline Range cells_between(double from, double to, Index count) {
  const auto at = [&](double position) { return static_cast<Index>(std::clamp<double>(position, 0, count)); };
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

/// The shadow between its corners, in any order, of a column of edge 1; the ray leads from the source to its
/// middle. Here, in `area_before` and in `share_of` there is no branch, so that loops over columns become
/// SIMD.
template <class Real>
TANDEM_HOST_DEVICE inline Trapezoid<Real> trapezoid_between(Real a, Real b, Real c, Real d, Real ray_x,
                                                            Real ray_y, Real distance) {
  Trapezoid<Real> t{{a, b, c, d}, 0, 0, 0, distance};
  const auto order = [&](int i, int k) {
    const Real low = std::min(t.corners[i], t.corners[k]);
    t.corners[k] = std::max(t.corners[i], t.corners[k]), t.corners[i] = low;
  };
  order(0, 1), order(2, 3), order(0, 2), order(1, 3), order(1, 2);
  const auto twice = [](Real width) {
    constexpr Real steep =
        static_cast<Real>(1e-6);  // bins, at least so wide; written so that it is no branch
    return width + steep + std::abs(width - steep);
  };
  const Real rise = twice(t.corners[1] - t.corners[0]), fall = twice(t.corners[3] - t.corners[2]),
             steps = std::max(std::abs(ray_x), std::abs(ray_y));
  const Real over = 1 / (rise * fall * steps);  // one division for all three
  t.rise = over * fall * steps, t.fall = over * rise * steps;
  t.height = std::sqrt(ray_x * ray_x + ray_y * ray_y) * (over * rise * fall);
  return t;
}

/// The shadow of column (ix, iy).
TANDEM_HOST_DEVICE inline Trapezoid<double> trapezoid_of(const ConeView& n, double ix, double iy) {
  const double x = n.x0 + n.pitch * ix, y = n.y0 + n.pitch * iy;
  const double half = 0.5 * n.pitch, magnified = n.sdd / n.bin_pitch;
  const auto corner = [&](double cx, double cy) {
    return n.axis_bin + magnified * (cx * n.cos + cy * n.sin) / (n.sod - cx * n.sin + cy * n.cos);
  };
  Trapezoid<double> t = trapezoid_between(
      corner(x - half, y - half), corner(x + half, y - half), corner(x - half, y + half),
      corner(x + half, y + half), x - n.sod * n.sin, y + n.sod * n.cos, n.sod - x * n.sin + y * n.cos);
  t.height *= n.pitch;
  return t;
}

/// The same shadow in bins counted from `bin`: near it float has all the digits that matter.
TANDEM_HOST_DEVICE inline Trapezoid<float> counted_from(const Trapezoid<double>& t, Index bin) {
  Trapezoid<float> near{{},
                        static_cast<float>(t.height),
                        static_cast<float>(t.rise),
                        static_cast<float>(t.fall),
                        static_cast<float>(t.distance)};
  for (int k = 0; k < 4; ++k) near.corners[k] = static_cast<float>(t.corners[k] - bin);
  return near;
}

/// The part of a shadow of height 1 before a position, up to a number that is the same for all positions.
/// Only the difference of two edges counts, and neighbouring bins share an edge.
template <class Real>
TANDEM_HOST_DEVICE inline Real area_before(const Trapezoid<Real>& t, Real edge) {
  const auto& c = t.corners;
  const Real at = std::max(c[0], std::min(c[3], edge));
  const Real risen = std::min(at, c[1]), falling = std::max(at, c[2]);
  const Real before = risen - c[0], left = c[3] - falling;
  return before * before * t.rise + (at - risen) + (c[2] - falling) - left * left * t.fall;
}

/// l_phi F1: the mean height of the shadow over the bin around this position.
template <class Real>
TANDEM_HOST_DEVICE inline Real mean_around(const Trapezoid<Real>& t, Real bin) {
  constexpr Real half = 0.5;
  return t.height * (area_before(t, bin + half) - area_before(t, bin - half));
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

/// F2: the share of the row around `centre` between the edges of a voxel.
template <class Real>
TANDEM_HOST_DEVICE inline Real share_of(Real low, Real high, Real centre) {
  constexpr Real half = 0.5;
  return std::max(std::min(high, centre + half) - std::max(low, centre - half), Real{0});
}

/// l_theta: the slant of the ray to a cell.
template <class Real>
TANDEM_HOST_DEVICE inline Real slant_of(const ConeFrame& n, Index row, Index bin) {
  const auto s = static_cast<Real>((bin - n.axis_bin) * n.bin_pitch),
             t = static_cast<Real>((row - n.midplane_row) * n.row_pitch), sdd = static_cast<Real>(n.sdd);
  return std::sqrt(1 + t * t / (s * s + sdd * sdd));
}

}  // namespace tandem::kernels
