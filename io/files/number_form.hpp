#pragma once

// Used only within io/.

#include <cstddef>
#include <optional>

#include "number_type.hpp"

namespace tandem::io {

enum class NumberKind { natural, integer, real };  ///< unsigned, signed, float

/// How numbers are stored, and what makes pixels of them.
struct NumberForm {
  Index bytes;     ///< of a stored number
  PixelType type;  ///< of the pixels
  /// Makes pixels of `count` stored numbers. Null if the numbers are stored as pixels are.
  void (*convert)(const std::byte* in, Index count, std::byte* out);
};

/// Unsigned integers of 1, 2 or 4 bytes stay what they are. Other integers up to 8 bytes, and floats of 2, 4
/// or 8 bytes, become float32. `swapped`: their bytes are in the order that is not this machine's. Empty for
/// other numbers.
std::optional<NumberForm> number_form(NumberKind kind, Index bytes, bool swapped);

}  // namespace tandem::io
