#include "tandem/io/checksum.hpp"

#include <zlib.h>

namespace tandem::io {

std::uint32_t checksum(const void* data, std::size_t bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(crc32_z(before, static_cast<const Bytef*>(data), bytes));
}

}  // namespace tandem::io
