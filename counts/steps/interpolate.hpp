#pragma once

#include <span>
#include <vector>

#include "../../core/rounding.hpp"
#include "../../kernels/counts.hpp"

namespace tandem::pipeline {

/// Calls use(bin, before, after) for each of the bins for which bad(bin) holds, with the nearest good ones:
/// `before` is -1 and `after` is `bins` if there is none. `use` must not change what `bad` says of later
/// bins.
template <class Bad, class Use>
void for_each_bad(Index bins, const Bad& bad, const Use& use) {
  Index before = -1;
  for (Index b = 0; b < bins; ++b) {
    if (!bad(b)) {
      before = b;
      continue;
    }
    Index after = b + 1;
    while (after < bins && bad(after)) ++after;
    for (; b < after; ++b) use(b, before, after);
    --b;
  }
}

/// Appends for each bad bin of a row the neighbours and the share that `interpolate` uses. @pre a bin of the
/// row is good
template <class Bad>
void append_filled(Index bins, Index row, const Bad& bad, std::vector<kernels::FilledCell>& all) {
  for_each_bad(bins, bad, [&](Index b, Index before, Index after) {
    const Index left = before >= 0 ? before : after, right = after < bins ? after : before;
    const float share = left == right ? 0 : kernels::share_between(b, before, after);
    all.push_back({int_of(row), int_of(b), int_of(left), int_of(right), share});
  });
}

/// Replaces the bins of a row for which bad(bin) holds by linear interpolation between the nearest good bins,
/// and at the ends by the nearest good one. A row without a good bin becomes 0. @returns how many it replaced
template <class Bad>
Index interpolate(std::span<float> row, const Bad& bad) {
  const Index bins = row.size();
  float* y = row.data();
  Index replaced = 0;
  for_each_bad(bins, bad, [&](Index b, Index before, Index after) {
    y[b] = before >= 0 && after < bins
               ? kernels::between(y[before], y[after], kernels::share_between(b, before, after))
           : before >= 0  ? y[before]
           : after < bins ? y[after]
                          : 0.0f;
    ++replaced;
  });
  return replaced;
}

}  // namespace tandem::pipeline
