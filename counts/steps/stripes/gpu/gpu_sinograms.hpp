#pragma once

#include <algorithm>

#include "../../../../core/array.hpp"
#include "../../../../core/rounding.hpp"

namespace tandem::pipeline::stripes {

/// Rows whose sinograms are on a GPU at once, with so many bytes for each.
inline Index rows_together(Index rows, double bytes_a_row) {
  constexpr double bytes_together = 1 << 30;
  return std::clamp<Index>(floor_index(bytes_together / bytes_a_row), 1, rows);
}

/// Calls work(range) for all rows, so many of them together.
template <class Work>
void for_rows_together(Index rows, Index together, const Work& work) {
  for (Index first = 0; first < rows; first += together) work(Range{first, std::min(first + together, rows)});
}

/// Rows of data (view, row, bin).
inline Image<float> rows_of(const Image<float>& y, Range rows) {
  return {y.data + rows.first * y.s1, y.n0, rows.size(), y.n2, y.s0, y.s1};
}

/// The same as sinograms (row, view, bin).
inline Image<float> sinograms_of(const Image<float>& y, Range rows) {
  return {y.data + rows.first * y.s1, rows.size(), y.n0, y.n2, y.s1, y.s0};
}

inline Image<const float> read_only(const Image<float>& y) { return {y.data, y.n0, y.n1, y.n2, y.s0, y.s1}; }

}  // namespace tandem::pipeline::stripes
