#pragma once

#include <cstddef>

namespace tandem {

/// The type of detector counts, which they keep until they are preprocessed. Files with another number type
/// (int16, double) are read as float32.
enum class PixelType { uint8, uint16, uint32, float32 };

constexpr std::size_t bytes_of(PixelType type) {
  return type == PixelType::uint8 ? 1 : type == PixelType::uint16 ? 2 : 4;
}

constexpr const char* name_of(PixelType type) {
  switch (type) {
    case PixelType::uint8:
      return "uint8";
    case PixelType::uint16:
      return "uint16";
    case PixelType::uint32:
      return "uint32";
    case PixelType::float32:
      break;
  }
  return "float32";
}

}  // namespace tandem
