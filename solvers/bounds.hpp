#pragma once

#include <limits>
#include <vector>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// Values between which a solver keeps all voxels.
struct Bounds {
  float lowest = -std::numeric_limits<float>::infinity(), highest = std::numeric_limits<float>::infinity();
};
constexpr Bounds above_zero{.lowest = 0};

/// At most the least <x, z> of all x within bounds that are no longer than `lengths`, one per block. Where a
/// bound is finite, the length is not asked for beside it. z is used up.
std::vector<double> least_products(Array z, const Bounds& bounds, const std::vector<double>& lengths,
                                   Stream& stream);

/// Moves elements that are out of bounds onto them.
void clamp(VectorView x, const Bounds& bounds, Stream& stream);

}  // namespace tandem
