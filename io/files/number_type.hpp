#pragma once

// Used only within io/.

#include "../../core/pixel_type.hpp"
#include "../../core/space.hpp"

namespace tandem::io {

using tandem::bytes_of;
using tandem::name_of;
using tandem::PixelType;

/// How numbers are stored in files that tandem writes. float16 is IEEE half precision. The first three are
/// those of PixelType.
enum class NumberType { uint8, uint16, uint32, float16, float32 };
Index bytes_of(NumberType type);
const char* name_of(NumberType type);
NumberType number_type(PixelType type);

}  // namespace tandem::io
