#include "checksum.hpp"

#include <libdeflate.h>

namespace tandem::io {

std::uint32_t checksum(const void* data, std::size_t bytes, std::uint32_t before) {
  return libdeflate_crc32(before, data, bytes);
}

}  // namespace tandem::io
