#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tandem::io {

/// The CRC-32 of bytes, as gzip and PNG have it. `before` is the checksum of the bytes before these, if there
/// are some; then the result is the checksum of all.
std::uint32_t checksum(const void* data, std::size_t bytes, std::uint32_t before = 0);

/// The CRC-32C (Castagnoli) of bytes, as RFC 3720 has it.
std::uint32_t crc32c(std::span<const std::byte> bytes);
/// Whether the last four bytes, little-endian, are the CRC-32C of those before.
bool has_crc32c(std::span<const std::byte> bytes);

}  // namespace tandem::io
