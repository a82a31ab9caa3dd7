#pragma once

#include <png.h>

#include <filesystem>

#include "../../io/files/font.hpp"

namespace tandem::test {

/// The picture of a PNG file, in grey; empty if it cannot be read.
inline io::Canvas canvas_of(const std::filesystem::path& path) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&header, path.c_str()) == 0) return {};
  header.format = PNG_FORMAT_GRAY;
  io::Canvas canvas{header.width, header.height,
                    std::vector<std::uint8_t>(static_cast<std::size_t>(header.width) * header.height)};
  png_image_finish_read(&header, nullptr, canvas.grey.data(), 0, nullptr);
  return canvas;
}

inline int grey_at(const io::Canvas& canvas, Index x, Index y) {
  return canvas.grey[static_cast<std::size_t>(y * canvas.width + x)];
}

}  // namespace tandem::test
