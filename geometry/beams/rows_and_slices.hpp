#pragma once

// What beams share whose rows are no slices. Used only within geometry/beams/.

#include <algorithm>
#include <cmath>

#include "../../core/rounding.hpp"

namespace tandem {

/// The rows of a detector that a shadow from `low` to `high` meets. None is missing.
inline Range rows_between(double low, double high, Index rows) {
  constexpr double rounding = 1e-6;  // rows
  const auto cell = [&](double row) { return floor_index(std::clamp<double>(row, 0, rows)); };
  return {cell(std::floor(low + 0.5 - rounding)), cell(std::ceil(high + 0.5 + rounding))};
}

/// The slices that meet these rows, where `rows_of(slice)` says which rows a slice meets.
template <class RowsOf>
Range slices_meeting(Range rows, Index slices, const RowsOf& rows_of) {
  Range met{slices, 0};
  for (Index z = 0; z < slices; ++z) {
    const Range of_slice = rows_of(z);
    if (of_slice.first >= rows.last || of_slice.last <= rows.first) continue;
    met.first = std::min(met.first, z), met.last = z + 1;
  }
  return met.last > met.first ? met : Range{0, 0};
}

}  // namespace tandem
