#pragma once

#include <limits>
#include <vector>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// The values between which a solver keeps all voxels.
struct Bounds {
  float lowest = -std::numeric_limits<float>::infinity(), highest = std::numeric_limits<float>::infinity();
};
constexpr Bounds above_zero{.lowest = 0};
/// Whether there is any bound.
constexpr bool have_ends(const Bounds& bounds) {
  return bounds.lowest > Bounds{}.lowest || bounds.highest < Bounds{}.highest;
}

/// @throws GeometryError unless the lowest value is below the highest
void validate(const Bounds& bounds);

/// A lower bound, one per block, of <x, z> for all x within bounds and no longer than `lengths`. For an
/// element with a finite bound on the relevant side, the length is not used. z is overwritten.
std::vector<double> least_products(Array z, const Bounds& bounds, const std::vector<double>& lengths,
                                   Stream& stream);

/// Moves elements that are out of bounds onto the bounds.
void clamp(VectorView x, const Bounds& bounds, Stream& stream);

}  // namespace tandem
