#pragma once

// The value that the coefficient of a voxel and a cell stands for: the chord of the voxel, averaged over the
// rays from the source to the cell. It is exact but for rounding: between the kinks of the chord by Gauss's
// rule.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "../../geometry/volume_grid.hpp"

namespace tandem::test {

/// Integral over [from, to] of a function that is smooth between `kinks`.
inline double integral(double from, double to, std::vector<double> kinks,
                       const std::function<double(double)>& f) {
  constexpr std::array<double, 4> at{0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                     0.9602898564975363},
      weight{0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  kinks.push_back(from), kinks.push_back(to);
  for (double& k : kinks) k = std::clamp(k, from, to);
  std::sort(kinks.begin(), kinks.end());
  double sum = 0;
  for (std::size_t k = 1; k < kinks.size(); ++k) {
    const double half = 0.5 * (kinks[k] - kinks[k - 1]), middle = kinks[k - 1] + half;
    for (std::size_t i = 0; i < at.size(); ++i)
      sum += half * weight[i] * (f(middle - half * at[i]) + f(middle + half * at[i]));
  }
  return sum;
}

/// The part of a ray, by its horizontal length from the source, in a square; empty: last <= first.
struct Stretch {
  double first, last;
};

inline Stretch stretch_in(double x, double half, double source, double direction) {
  if (direction == 0) return std::abs(x - source) < half ? Stretch{-INFINITY, INFINITY} : Stretch{0, 0};
  const double a = (x - half - source) / direction, b = (x + half - source) / direction;
  return {std::min(a, b), std::max(a, b)};
}

/// The chord of voxel (0, 0, 0) of `grid`, averaged over the cell (row, bin) in the view at `angle`; mm.
inline double mean_chord(const ConeBeam& scan, double angle, const VolumeGrid& grid, double row, double bin) {
  const double c = std::cos(angle), s = std::sin(angle), x = grid.x(0), y = grid.y(0), z = grid.z(0);
  const double half = 0.5 * grid.pitch[0], half_z = 0.5 * grid.pitch[2];
  const Detector& d = scan.detector;
  std::vector<double> corners;
  for (const double cx : {x - half, x + half})
    for (const double cy : {y - half, y + half})
      corners.push_back(scan.sdd * (cx * c + cy * s) / (scan.sod - cx * s + cy * c));
  const auto along_bin = [&](double u) {
    const double level = std::hypot(u, scan.sdd);
    const double dx = (u * c - scan.sdd * s) / level, dy = (u * s + scan.sdd * c) / level;
    const Stretch in_x = stretch_in(x, half, scan.sod * s, dx), in_y = stretch_in(y, half, -scan.sod * c, dy);
    const double first = std::max(in_x.first, in_y.first), last = std::min(in_x.last, in_y.last);
    if (last <= first) return 0.0;
    std::vector<double> kinks;
    for (const double edge : {z - half_z, z + half_z})
      for (const double at : {first, last}) kinks.push_back(edge * level / at);
    const auto chord = [&](double v) {
      const double slope = v / level;  // slope of the ray, upwards
      const Stretch in_z = stretch_in(z, half_z, 0, slope);
      return std::max(0.0, std::min(last, in_z.last) - std::max(first, in_z.first)) * std::hypot(1, slope);
    };
    const double v = (row - scan.midplane_row) * d.row_pitch, h = 0.5 * d.row_pitch;
    return integral(v - h, v + h, kinks, chord) / d.row_pitch;
  };
  const double u = (bin - d.axis_bin) * d.bin_pitch, h = 0.5 * d.bin_pitch;
  return integral(u - h, u + h, corners, along_bin) / d.bin_pitch;
}

}  // namespace tandem::test
