#pragma once

// One view of any geometry, and what its bricks and voxels have in double: the numbers of
// flexible_footprint.hpp, and how they change with the 12 numbers of the view.

#include <array>
#include <cmath>

#include "../../geometry/dual.hpp"
#include "../../geometry/place_of_view.hpp"
#include "../flexible_derivatives.hpp"
#include "flexible_bricks.hpp"

namespace tandem::kernels::cpu {

/// What the voxels of a brick have in common in a view, as `BrickShadow`, but for the choice of a cell to
/// count from. Trapezoids along bins and rows have a longer side and flanks.
template <class T>
struct BrickNumbers {
  std::array<T, 3> depth, bin, row;
  T bin_here, row_here, mass, bin_side, bin_flank, row_side, row_flank;
};
constexpr std::size_t numbers_of_brick = 16;
using BrickValues = BrickNumbers<double>;

/// The same numbers in a row, in the order in which they stand.
template <class T>
std::array<T, numbers_of_brick> in_a_row(const BrickNumbers<T>& b) {
  return {b.depth[0], b.depth[1], b.depth[2], b.bin[0], b.bin[1],   b.bin[2],    b.row[0],   b.row[1],
          b.row[2],   b.bin_here, b.row_here, b.mass,   b.bin_side, b.bin_flank, b.row_side, b.row_flank};
}
inline BrickValues from_a_row(const std::array<double, numbers_of_brick>& n) {
  return {{n[0], n[1], n[2]},
          {n[3], n[4], n[5]},
          {n[6], n[7], n[8]},
          n[9],
          n[10],
          n[11],
          n[12],
          n[13],
          n[14],
          n[15]};
}

/// As `profile_of`.
template <class T>
void add_profile(const std::array<T, 3>& slopes, T& side, T& flank) {
  using std::abs, std::sqrt;
  const auto larger = [](const T& a, const T& b) { return a < b ? b : a; };
  const auto smaller = [](const T& a, const T& b) { return b < a ? b : a; };
  constexpr double steep = 1e-3, narrow = 1e-6;
  const T a = abs(slopes[0]), b = abs(slopes[1]), c = abs(slopes[2]);
  const T widest = larger(larger(larger(a, b), c), T(narrow));
  const T other = sqrt(larger(a * a + b * b + c * c - widest * widest, T(0)));
  side = larger(widest, other), flank = larger(smaller(widest, other), T(steep) * side);
}

template <class T>
BrickNumbers<T> brick_numbers(const PlaceNumbers<T>& view, double voxel, const Brick& brick) {
  const auto at_middle = [&](const std::array<T, 4>& n) {
    return n[0] + n[1] * T(brick.middle(0)) + n[2] * T(brick.middle(1)) + n[3] * T(brick.middle(2));
  };
  const T inverse = T(1) / at_middle(view.depth);
  BrickNumbers<T> b;
  b.bin_here = at_middle(view.bin) * inverse, b.row_here = at_middle(view.row) * inverse;
  for (std::size_t k = 0; k < 3; ++k) {
    b.depth[k] = view.depth[k + 1] * inverse;
    b.bin[k] = (view.bin[k + 1] - b.bin_here * view.depth[k + 1]) * inverse;
    b.row[k] = (view.row[k + 1] - b.row_here * view.depth[k + 1]) * inverse;
  }
  b.mass = view.mass * T(voxel) * inverse * inverse;
  add_profile(b.bin, b.bin_side, b.bin_flank);
  add_profile(b.row, b.row_side, b.row_flank);
  return b;
}

inline double along(const std::array<double, 3>& slopes, const Vector3& away) {
  return slopes[0] * away[0] + slopes[1] * away[1] + slopes[2] * away[2];
}

/// A voxel in a view: where it falls, and what its trapezoids are.
struct VoxelNumbers {
  double inverse, bins,
      rows;  ///< 1 / stretch; from the middle of the brick, before the division by the stretch
  double mass, bin, row, bin_side, bin_flank, row_side, row_flank;
};

inline VoxelNumbers voxel_numbers(const BrickValues& b, const Vector3& away) {
  const double inverse = 1 / (1 + along(b.depth, away)), bins = along(b.bin, away), rows = along(b.row, away);
  return {inverse,
          bins,
          rows,
          b.mass * inverse * inverse,
          b.bin_here + bins * inverse,
          b.row_here + rows * inverse,
          b.bin_side * inverse,
          b.bin_flank * inverse,
          b.row_side * inverse,
          b.row_flank * inverse};
}

/// How these change with the numbers of the brick.
inline VoxelNumbers voxel_changes(const BrickValues& b, const VoxelNumbers& v, const BrickValues& change,
                                  const Vector3& away) {
  const double inverse = -v.inverse * v.inverse * along(change.depth, away);
  const auto stretched = [&](double whole, double part) { return part * v.inverse + whole * inverse; };
  return {inverse,
          0,
          0,
          (change.mass * v.inverse + 2 * b.mass * inverse) * v.inverse,
          change.bin_here + stretched(v.bins, along(change.bin, away)),
          change.row_here + stretched(v.rows, along(change.row, away)),
          stretched(b.bin_side, change.bin_side),
          stretched(b.bin_flank, change.bin_flank),
          stretched(b.row_side, change.row_side),
          stretched(b.row_flank, change.row_flank)};
}

inline double volume_of_voxel(const VolumeGrid& grid) {
  return grid.pitch[0] * grid.pitch[1] * grid.pitch[2];
}
inline Cells cells_of(const MovingViews& n) { return {n.detector.rows, n.detector.bins}; }

/// One view of these, its numbers by themselves, and the rays to its cells.
class MovingView {
 public:
  MovingView(const MovingViews& n, std::size_t number) : n_(n), view_(n.views[number]) {
    const FlexibleView& v = view_;
    values_ =
        place_numbers<double>({v.source, v.detector, v.bin_step, v.row_step}, n.detector, n.grid, n.parallel);
  }

  BrickValues brick(const Brick& b) const { return brick_numbers(values_, volume_of_voxel(n_.grid), b); }

  /// The derivatives of a brick's numbers by those of the view.
  std::array<ViewNumbers, numbers_of_brick> derivatives(const Brick& b) const {
    using Number = Dual<numbers_of_view>;
    std::size_t k = 0;
    const auto variables = [&](const Vector3& v) {
      std::array<Number, 3> all;
      for (std::size_t i = 0; i < 3; ++i) all[i] = Number::variable(v[i], k++);
      return all;
    };
    ViewVectors<Number> vectors;
    vectors.source = variables(view_.source), vectors.detector = variables(view_.detector);
    vectors.bin_step = variables(view_.bin_step), vectors.row_step = variables(view_.row_step);
    const auto place = place_numbers(vectors, n_.detector, n_.grid, n_.parallel);
    const auto numbers = in_a_row(brick_numbers(place, volume_of_voxel(n_.grid), b));
    std::array<ViewNumbers, numbers_of_brick> all;
    for (std::size_t i = 0; i < numbers_of_brick; ++i) all[i] = numbers[i].by;
    return all;
  }

  /// r, the distance of a cell from the source, mm; 1 for parallel rays.
  double distance(Index row, Index bin) const { return n_.parallel ? 1 : std::sqrt(square(ray(row, bin))); }

  /// Its derivatives.
  ViewNumbers distance_derivatives(Index row, Index bin) const {
    ViewNumbers by{};
    if (n_.parallel) return by;
    const Vector3 to = ray(row, bin);
    const double r = std::sqrt(square(to));
    for (std::size_t k = 0; k < 3; ++k) {
      const double e = to[k] / r;
      by[k] = -e, by[3 + k] = e, by[6 + k] = aside(bin, n_.detector.bins) * e,
      by[9 + k] = aside(row, n_.detector.rows) * e;
    }
    return by;
  }

 private:
  static double square(const Vector3& a) { return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]; }
  static double aside(Index cell, Index count) { return cell - 0.5 * (count - 1); }
  Vector3 ray(Index row, Index bin) const {
    const double u = aside(bin, n_.detector.bins), v = aside(row, n_.detector.rows);
    Vector3 to;
    for (std::size_t k = 0; k < 3; ++k)
      to[k] = view_.detector[k] + u * view_.bin_step[k] + v * view_.row_step[k] - view_.source[k];
    return to;
  }

  const MovingViews& n_;
  FlexibleView view_;
  PlaceNumbers<double> values_;
};

}  // namespace tandem::kernels::cpu
