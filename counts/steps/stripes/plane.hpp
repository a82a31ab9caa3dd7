#pragma once

#include <algorithm>
#include <vector>

#include "../../../kernels/columns.hpp"

namespace tandem::pipeline::stripes {

/// A sinogram in memory of its own, (view, bin), or anything else of two dimensions.
struct Plane {
  Index rows = 0, columns = 0;
  std::vector<float> values;

  Plane(Index of_rows, Index of_columns) : rows(of_rows), columns(of_columns), values(of_rows * of_columns) {}
  float* row(Index r) { return values.data() + r * columns; }
  const float* row(Index r) const { return values.data() + r * columns; }
  float& operator()(Index r, Index c) { return values[r * columns + c]; }
  float operator()(Index r, Index c) const { return values[r * columns + c]; }
};

Plane transposed(const Plane& plane);

/// The value in the middle; the larger one of two. @pre there is one
template <class T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// A plane with `rows` and `columns` more at each side. `from(k, n)` says which of n an outer one is like.
template <class From>
Plane padded(const Plane& inner, Index rows, Index columns, const From& from) {
  Plane all(inner.rows + 2 * rows, inner.columns + 2 * columns);
  for (Index r = 0; r < all.rows; ++r)
    for (Index c = 0; c < all.columns; ++c)
      all(r, c) = inner(from(r - rows, inner.rows), from(c - columns, inner.columns));
  return all;
}
/// The opposite.
Plane cropped(const Plane& plane, Index rows, Index columns);

// The one of n elements that stands for an element beyond the ends.
using kernels::mirrored, kernels::reflected;
/// a a a | a b c d | d d d
inline Index nearest(Index k, Index n) { return std::clamp<Index>(k, 0, n - 1); }

}  // namespace tandem::pipeline::stripes
