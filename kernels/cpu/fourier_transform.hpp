#pragma once

#include "../../core/space.hpp"

namespace tandem::kernels::cpu {

/// Transforms are of this many lines side by side. What comes out of a line depends on that line alone, to
/// the bit. Numbers of two lines meet in no operation.
constexpr Index lanes = 8;

enum class Direction { forward, backward };  ///< the sign of the exponent: -1, +1

/// Transforms complex lines of `length` numbers in place: (position, part, lane), where part 0 is the real
/// and part 1 the imaginary one. Forward and then backward is a factor of `length`. Any length is fast whose
/// prime factors are small; O(n log n) for all others. Memory for as many numbers once more.
/// @pre `lines` is aligned to 64 bytes; length > 0
void transform(float* lines, Index length, Direction direction);

/// The same for real lines: (position, lane) <-> the frequencies 0 to length / 2. These take the same room:
/// Re 0, Re 1, Im 1, Re 2, Im 2, ..., each for all lanes. The last number is real if the length is even.
void transform_real(float* lines, Index length, Direction direction);

}  // namespace tandem::kernels::cpu
