#include "checksum.hpp"

#include <libdeflate.h>

#include <array>
#include <cstring>

namespace tandem::io {

std::uint32_t checksum(const void* data, std::size_t bytes, std::uint32_t before) {
  return libdeflate_crc32(before, data, bytes);
}

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    constexpr std::uint32_t polynomial = 0x82f63b78;  // the lowest bit first
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t k = 0; k < made.size(); ++k) {
      made[k] = k;
      for (int bit = 0; bit < 8; ++bit) made[k] = made[k] >> 1 ^ ((made[k] & 1) != 0 ? polynomial : 0);
    }
    return made;
  }();
  std::uint32_t sum = ~std::uint32_t{0};
  for (const std::byte byte : bytes) sum = sum >> 8 ^ table[(sum ^ static_cast<std::uint32_t>(byte)) & 0xff];
  return ~sum;
}

bool has_crc32c(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0;
  if (bytes.size() < sizeof sum) return false;
  std::memcpy(&sum, bytes.last(sizeof sum).data(), sizeof sum);
  return sum == crc32c(bytes.first(bytes.size() - sizeof sum));
}

}  // namespace tandem::io
