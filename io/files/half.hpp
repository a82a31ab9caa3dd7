#pragma once

// IEEE half precision: a sign, 5 bits of exponent, 10 of fraction. Used only within io/.

#include <cstdint>

#include "../../core/space.hpp"

namespace tandem::io {

/// The largest half. Floats of 65520 and more round to infinity.
constexpr float largest_half = 65504;

/// Rounds floats to the nearest halves, of two to the even one. A NaN stays one.
void halves_of(const float* in, Index count, std::uint16_t* out);
/// Exact.
void floats_of(const std::uint16_t* in, Index count, float* out);

}  // namespace tandem::io
