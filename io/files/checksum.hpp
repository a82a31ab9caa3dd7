#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::io {

/// The CRC-32 of bytes, as gzip and PNG have it. With `before`, the checksum of earlier bytes, it is that of
/// all bytes together.
std::uint32_t checksum(const void* data, std::size_t bytes, std::uint32_t before = 0);

}  // namespace tandem::io
