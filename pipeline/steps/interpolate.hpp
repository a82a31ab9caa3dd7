#pragma once

#include <span>

#include "../../core/range.hpp"

namespace tandem::pipeline {

/// Replaces the bins of a row for which bad(bin) holds by linear interpolation between the nearest good bins,
/// and at the ends by the nearest good one. A row without a good bin becomes 0. @returns how many it replaced
template <class Bad>
Index interpolate(std::span<float> row, const Bad& bad) {
  const auto bins = static_cast<Index>(row.size());
  float* y = row.data();
  Index before = -1, replaced = 0;
  for (Index b = 0; b < bins; ++b) {
    if (!bad(b)) {
      before = b;
      continue;
    }
    Index after = b + 1;
    while (after < bins && bad(after)) ++after;
    for (Index k = b; k < after; ++k) {
      const float t = static_cast<float>(k - before) / static_cast<float>(after - before);
      y[k] = before >= 0 && after < bins ? y[before] + t * (y[after] - y[before])
             : before >= 0               ? y[before]
             : after < bins              ? y[after]
                                         : 0.0f;
    }
    replaced += after - b;
    b = after - 1;
  }
  return replaced;
}

}  // namespace tandem::pipeline
