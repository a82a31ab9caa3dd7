#pragma once

#include <span>

#include "../core/space.hpp"

namespace tandem::kernels {

/// y <- -log(max(y, floor)) for each element, on the CPU, with at most 3 units in the last place of error.
/// What is not a finite number stays so. @returns how many elements were below their floor
/// @pre as many floors as elements; none is negative, except -inf for an element whose result does not matter
Index take_logarithms(std::span<float> y, std::span<const float> floor);

}  // namespace tandem::kernels
