#pragma once

#include <limits>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// Values between which a solver keeps all voxels.
struct Bounds {
  float lowest = -std::numeric_limits<float>::infinity(), highest = std::numeric_limits<float>::infinity();
};
constexpr Bounds above_zero{.lowest = 0};

/// Moves elements that are out of bounds onto them.
void clamp(VectorView x, const Bounds& bounds, Stream& stream);

}  // namespace tandem
