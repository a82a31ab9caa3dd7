#pragma once

#include <algorithm>
#include <string>

#include "../../core/space.hpp"
#include "../launches.hpp"

namespace tandem::kernels::cpu {

/// Slices that are stored side by side, slices fastest, so that one bin and one weight serve them all.
/// `lanes` is a power of two, at least the number of slices; the lanes beyond hold zeros.
struct SliceBatch {
  Range slices;
  Index lanes;
};

constexpr Index widest_batch = 64;

/// The next batch from slice `first` on: full ones first, then what is left in powers of two, rounded up
/// where at most a quarter of the lanes stays empty. A slice's result does not depend on its batch.
inline SliceBatch next_batch(Index first, Index count) {
  const Index left = count - first;
  Index lanes = 1;
  while (2 * lanes <= left && lanes < widest_batch) lanes *= 2;
  if (left < widest_batch && 4 * left >= 3 * 2 * lanes) lanes *= 2;
  return {{first, first + (left < lanes ? left : lanes)}, lanes};
}

constexpr Index widest_kernel = 16;  ///< lanes; more are gone through in steps of these

inline std::string forward_name(Index lanes) {
  return "lanes forward, " + std::to_string(std::min(lanes, widest_kernel));
}
inline std::string backward_name(Index lanes) {
  return lanes == 1 ? "pixels backward" : "lanes backward, " + std::to_string(std::min(lanes, widest_kernel));
}

/// Pixels that share one anchor position: kernels walk the slice in squares of this edge, whatever the batch
/// and the thread, so that each coefficient is computed from the same numbers everywhere.
constexpr int tile = 16;

}  // namespace tandem::kernels::cpu
