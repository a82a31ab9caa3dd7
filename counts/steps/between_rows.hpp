#pragma once

#include <algorithm>
#include <vector>

#include "../../core/array.hpp"
#include "../../core/rounding.hpp"

namespace tandem::pipeline {

/// Lets each bin of a frame (1, row, bin) take its value from the row height(row, bin) of the frame as it
/// came, between rows by linear interpolation, and beyond the first and the last row from these.
template <class Height>
void take_from_heights(const Image<float>& y, const Height& height) {
  std::vector<float> came(y.n1 * y.n2);
  for (Index r = 0; r < y.n1; ++r) std::copy_n(&y(0, r, 0), y.n2, came.data() + r * y.n2);
  const double last = y.n1 - 1;
  for (Index r = 0; r < y.n1; ++r)
    for (Index b = 0; b < y.n2; ++b) {
      const double at = std::clamp<double>(height(r, b), 0.0, last);
      const auto low = floor_index(at), high = std::min(low + 1, y.n1 - 1);
      const auto part = static_cast<float>(at - low);
      y(0, r, b) = (1 - part) * came[low * y.n2 + b] + part * came[high * y.n2 + b];
    }
}

}  // namespace tandem::pipeline
