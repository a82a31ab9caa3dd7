#pragma once

#include <algorithm>
#include <vector>

namespace tandem::calibration {

/// The value in the middle, of an even number the upper one; 0 if there is none.
template <class T>
T median_of(std::vector<T> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace tandem::calibration
