#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::io {

/// CRC-32 (that of gzip and PNG) of bytes, or of those before as well, whose checksum is `before`.
std::uint32_t checksum(const void* data, std::size_t bytes, std::uint32_t before = 0);

}  // namespace tandem::io
