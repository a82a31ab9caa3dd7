#pragma once

#include <bit>
#include <cstdint>

#include "../core/host_device.hpp"

// Numbers in order, the same on the CPU and on a GPU.

namespace tandem::kernels {

/// A number whose order among unsigned ones is that of the float. -0 is 0.
TANDEM_HOST_DEVICE inline std::uint32_t key_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

/// The float of a key.
TANDEM_HOST_DEVICE inline float value_of_key(std::uint32_t key) {
  return std::bit_cast<float>(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

/// The value that has so many smaller ones before it, among those for which for_all(use) calls use(value).
/// It takes no memory, and 32 passes: each finds a bit of its key.
template <class ForAll>
TANDEM_HOST_DEVICE float ranked_value(int rank, const ForAll& for_all) {
  std::uint32_t found = 0;
  TANDEM_KEEP_ROLLED
  for (int bit = 31; bit >= 0; --bit) {
    const std::uint32_t tried = found | (std::uint32_t{1} << bit);
    int below = 0;
    for_all([&](float value) { below += key_of(value) < tried; });
    if (below <= rank) found = tried;
  }
  return value_of_key(found);
}

}  // namespace tandem::kernels
