#pragma once

// Where voxels fall in a view, as numbers that change evenly over the grid: once for numbers of any type, so
// that derivatives by the vectors of the view are those of the numbers that kernels use. Used only within the
// library.

#include <array>
#include <cmath>

#include "beams/flexible.hpp"
#include "detector.hpp"
#include "volume_grid.hpp"

namespace tandem {

/// The 12 numbers of a `FlexibleView`, or what else there is of each.
template <class T>
struct ViewVectors {
  using Vector = std::array<T, 3>;
  Vector source, detector, bin_step, row_step;
};

/// `FlexiblePlace` without its bounds, before the mass is multiplied by the volume of a voxel. Even numbers
/// are the one at voxel (0, 0, 0), then the steps.
template <class T>
struct PlaceNumbers {
  using Numbers = std::array<T, 4>;
  Numbers bin, row, depth;
  T mass;
};

namespace place_of_view {

template <class T>
using Vector = std::array<T, 3>;

template <class T>
Vector<T> sum(const Vector<T>& a, const T& f, const Vector<T>& b) {
  return {a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]};
}
template <class T>
Vector<T> difference(const Vector<T>& a, const Vector<T>& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
template <class T>
T product(const Vector<T>& a, const Vector<T>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class T>
Vector<T> across(const Vector<T>& a, const Vector<T>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
template <class T>
Vector<T> scaled(const T& f, const Vector<T>& a) {
  return {f * a[0], f * a[1], f * a[2]};
}

/// along . (x - from) for the middles x of voxels.
template <class T>
std::array<T, 4> evenly(const VolumeGrid& grid, const Vector<T>& along, const Vector<T>& from) {
  const Vector<T> first{T(grid.x(0)), T(grid.y(0)), T(grid.z(0))};
  return {product(along, difference(first, from)), along[0] * T(grid.pitch[0]), along[1] * T(grid.pitch[1]),
          along[2] * T(grid.pitch[2])};
}

/// The middle of cell (0, 0).
template <class T>
Vector<T> first_cell(const ViewVectors<T>& view, const Detector& d) {
  const auto middle = [](Index count) { return T(0.5 * (count - 1)); };
  return difference(difference(view.detector, scaled(middle(d.bins), view.bin_step)),
                    scaled(middle(d.rows), view.row_step));
}

/// A ray through x meets the detector at p. If g is dual to the step along bins, the bin is g . (p - c),
/// where c is the middle of cell (0, 0). Parallel rays along t: p = x - t ((x - c) . n) / (t . n).
template <class T>
PlaceNumbers<T> parallel_place(const ViewVectors<T>& view, const Vector<T>& cell, const VolumeGrid& grid) {
  using std::abs, std::sqrt;
  const Vector<T> normal = across(view.bin_step, view.row_step);
  const T square = product(normal, normal), steep = product(view.source, normal);
  const auto seen = [&](const Vector<T>& dual) {
    return evenly(grid, difference(dual, scaled(product(dual, view.source) / steep, normal)), cell);
  };
  return {seen(scaled(T(1) / square, across(view.row_step, normal))),
          seen(scaled(T(1) / square, across(normal, view.bin_step))),
          {T(1), T(0), T(0), T(0)},
          sqrt(product(view.source, view.source)) / abs(steep)};
}

/// Rays from a source s meet the detector at p = s + (x - s) D / d, where D and d are the distances of c and
/// x from s along the normal. So bin d = (g . (s - c)) d + D g . (x - s).
template <class T>
PlaceNumbers<T> cone_place(const ViewVectors<T>& view, const Vector<T>& cell, const VolumeGrid& grid) {
  using std::sqrt;
  const Vector<T> normal = across(view.bin_step, view.row_step);
  const T area = sqrt(product(normal, normal)), before = product(difference(cell, view.source), normal),
          side = before < T(0) ? T(-1) : T(1);
  const std::array<T, 4> depth = evenly(grid, scaled(side / area, normal), view.source);
  const T away = side / area * before;
  const auto seen = [&](const Vector<T>& along) {
    const Vector<T> dual = scaled(T(1) / (area * area), along);
    const T f = product(dual, difference(view.source, cell));
    std::array<T, 4> both = evenly(grid, dual, view.source);
    for (std::size_t k = 0; k < 4; ++k) both[k] = f * depth[k] + away * both[k];
    return both;
  };
  return {seen(across(view.row_step, normal)), seen(across(normal, view.bin_step)), depth, away / area};
}

}  // namespace place_of_view

template <class T>
PlaceNumbers<T> place_numbers(const ViewVectors<T>& view, const Detector& detector, const VolumeGrid& grid,
                              bool parallel) {
  const auto cell = place_of_view::first_cell(view, detector);
  return parallel ? place_of_view::parallel_place(view, cell, grid)
                  : place_of_view::cone_place(view, cell, grid);
}

}  // namespace tandem
