#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::io {

/// The CRC-32 of bytes, as gzip and PNG have it. `before` is the checksum of the bytes before these, if there
/// are some; then the result is the checksum of all.
std::uint32_t checksum(const void* data, std::size_t bytes, std::uint32_t before = 0);

}  // namespace tandem::io
