#pragma once

// A TIFF file of one directory with a whole stack, as ImageJ (above 4 GB) and tifffile (truncate) write it.

#include <cstdint>
#include <fstream>
#include <string>

#include "sample_files.hpp"

namespace tandem::test {

/// The images 0 to count - 1 one behind the other; their writer says in the description how many there are.
inline void write_one_directory(const fs::path& path, std::string description, std::size_t count) {
  std::string bytes("II*\0\x08\0\0\0", 8), values;
  const auto number = [](std::uint32_t value, int size) {
    std::string text;
    for (int k = 0; k < size; ++k) text += static_cast<char>(value >> 8 * k & 0xff);
    return text;
  };
  description += '\0';
  const std::uint32_t length = static_cast<std::uint32_t>(description.size()), text_at = 8 + 2 + 9 * 12 + 4;
  const auto entry = [&](std::uint32_t tag, std::uint32_t type, std::uint32_t many, std::uint32_t value) {
    return number(tag, 2) + number(type, 2) + number(many, 4) + number(value, 4);
  };
  bytes += number(9, 2) + entry(256, 4, 1, bins) + entry(257, 4, 1, rows) + entry(258, 3, 1, 16) +
           entry(259, 3, 1, 1) + entry(262, 3, 1, 1) + entry(270, 2, length, text_at) +
           entry(273, 4, 1, text_at + length) + entry(278, 4, 1, rows) + entry(279, 4, 1, 2 * rows * bins) +
           number(0, 4) + description;
  for (const double value : frames(0, count)) bytes += number(static_cast<std::uint32_t>(value), 2);
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace tandem::test
