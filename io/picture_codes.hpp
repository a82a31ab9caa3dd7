#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace tandem::io {

/// Codes of 16 bits for the values of a picture: code k stands for low + k step, and the last three codes for
/// -inf, inf and NaN. A value is half a step off at most.
struct PictureCodes {
  double low, step;
  static constexpr int minus_infinity = 65533, infinity = 65534, not_a_number = 65535;
};

/// The codes from the lowest to the highest of the values. None if a few of these lie so far out that the
/// others would have fewer than 2048 codes.
std::optional<PictureCodes> codes_for(std::span<const float> values);

/// Writes the code of each value, two bytes of this machine's order.
void write_codes(std::span<const float> values, const PictureCodes& codes, std::byte* to);

}  // namespace tandem::io
