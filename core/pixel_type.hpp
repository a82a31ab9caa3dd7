#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {

/// The type of detector counts, which they keep until they are preprocessed. Files with another number type
/// (int16, double) are read as float32.
enum class PixelType { uint8, uint16, uint32, float32 };

constexpr std::size_t bytes_of(PixelType type) {
  return type == PixelType::uint8 ? 1 : type == PixelType::uint16 ? 2 : 4;
}

constexpr const char* name_of(PixelType type) {
  constexpr const char* names[]{"uint8", "uint16", "uint32", "float32"};
  return names[static_cast<std::size_t>(type)];
}

/// Calls `use` with a zero of the type of such pixels.
template <class Use>
decltype(auto) with_type(PixelType type, const Use& use) {
  switch (type) {
    case PixelType::uint8:
      return use(std::uint8_t{});
    case PixelType::uint16:
      return use(std::uint16_t{});
    case PixelType::uint32:
      return use(std::uint32_t{});
    case PixelType::float32:
      break;
  }
  return use(float{});
}

}  // namespace tandem
