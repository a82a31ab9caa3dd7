#pragma once

// Used only within io/.

#include <cstddef>
#include <optional>

#include "number_type.hpp"

namespace tandem::io {

enum class NumberKind { natural, integer, real };  ///< unsigned, signed, float

/// How numbers are stored, and how they become pixels.
struct NumberForm {
  Index bytes;     ///< size of a stored number
  PixelType type;  ///< type of the pixels
  /// Converts `count` stored numbers to pixels. Null if the numbers are stored as pixels are.
  void (*convert)(const std::byte* in, Index count, std::byte* out);
};

/// The form of stored numbers. Unsigned integers of 1, 2 or 4 bytes stay what they are. Other integers of up
/// to 8 bytes, and floats of 2, 4 or 8 bytes, become float32. `swapped`: the order of bytes is not that of
/// this machine. Empty for other numbers.
std::optional<NumberForm> number_form(NumberKind kind, Index bytes, bool swapped);

}  // namespace tandem::io
