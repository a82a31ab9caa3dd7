#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// The values between which a solver keeps all voxels. An end is one number for all voxels, or has one for
/// each, where infinity is no bound.
struct Bounds {
  float lowest = -std::numeric_limits<float>::infinity(), highest = std::numeric_limits<float>::infinity();
  /// In the domain of A, and in the place of the number; null: the number counts for all.
  std::shared_ptr<const Array> lowest_of_each{}, highest_of_each{};
};
inline const Bounds above_zero{.lowest = 0};
/// Whether there is any bound.
bool have_ends(const Bounds& bounds);

/// @throws GeometryError unless the lowest value is below the highest, or if a voxel has values of its own,
/// not above it; if one is no number; or if no value remains, as above a lowest one that is infinite
void validate(const Bounds& bounds);

/// Requires finite lowest values. @throws GeometryError that begins with `solver`
void require_finite_lowest(const Bounds& bounds, const char* solver);

/// A lower bound, one per block, of <x, z> for all x within bounds and no longer than `lengths`. For an
/// element with a finite bound on the relevant side, the length is not used; an end beyond 1e18 is none. It
/// takes the memory of z, and if voxels have values of their own that of two vectors more.
std::vector<double> least_products(const Array& z, const Bounds& bounds, const std::vector<double>& lengths,
                                   Stream& stream);

/// Moves elements that are out of bounds onto the bounds.
void clamp(VectorView x, const Bounds& bounds, Stream& stream);

}  // namespace tandem
