#pragma once

#include <cstddef>
#include <cstdint>

#include "../../../core/pixel_type.hpp"

namespace tandem::kernels::cuda {

/// Calls use(pointer) with counts in their own type.
template <class Use>
void with_pixels(PixelType type, const std::byte* counts, const Use& use) {
  switch (type) {
    case PixelType::uint8:
      return use(reinterpret_cast<const std::uint8_t*>(counts));
    case PixelType::uint16:
      return use(reinterpret_cast<const std::uint16_t*>(counts));
    case PixelType::uint32:
      return use(reinterpret_cast<const std::uint32_t*>(counts));
    case PixelType::float32:
      return use(reinterpret_cast<const float*>(counts));
  }
}

}  // namespace tandem::kernels::cuda
