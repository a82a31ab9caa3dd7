#pragma once

// IEEE half precision: a sign, 5 bits of exponent and 10 bits of fraction. Used only within io/.

#include <cstdint>

#include "../../core/space.hpp"

namespace tandem::io {

/// The largest half. Floats of 65520 and more round to infinity.
constexpr float largest_half = 65504;

/// Rounds floats to the nearest halves, and a float between two to the even one. A NaN stays a NaN.
void halves_of(const float* in, Index count, std::uint16_t* out);
/// Converts halves to floats, exactly.
void floats_of(const std::uint16_t* in, Index count, float* out);

}  // namespace tandem::io
