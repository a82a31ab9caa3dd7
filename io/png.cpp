#include "tandem/io/png.hpp"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tandem/core/error.hpp"
#include "tandem/io/part_file.hpp"

namespace tandem::io {

namespace {

constexpr Index gap = 8;  // pixels between pictures
constexpr std::uint8_t gap_grey = 128;

std::uint8_t level(float grey, float black, float white) {
  const float scaled = 255 * (grey - black) / (white - black);
  return std::isnan(scaled) ? 0 : static_cast<std::uint8_t>(std::lround(std::clamp(scaled, 0.0f, 255.0f)));
}

}  // namespace

void write_png(const std::filesystem::path& path, const std::vector<Picture>& pictures, float black,
               float white) {
  Index width = -gap, height = 0;
  for (const Picture& picture : pictures) {
    require<FileError>(static_cast<Index>(picture.grey.size()) == picture.width * picture.height,
                       path.string(), ": a picture of ", picture.width, " x ", picture.height, " has ",
                       picture.grey.size(), " pixels");
    width += picture.width + gap;
    height = std::max(height, picture.height);
  }
  require<FileError>(width > 0 && height > 0, path.string(), ": no pictures to write");

  std::vector<std::uint8_t> canvas(static_cast<std::size_t>(width * height), gap_grey);
  Index left = 0;
  for (const Picture& picture : pictures) {
    for (Index y = 0; y < picture.height; ++y)
      for (Index x = 0; x < picture.width; ++x)
        canvas[static_cast<std::size_t>(y * width + left + x)] =
            level(picture.grey[static_cast<std::size_t>(y * picture.width + x)], black, white);
    left += picture.width + gap;
  }

  PartFile part(path);
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(width);
  header.height = static_cast<png_uint_32>(height);
  header.format = PNG_FORMAT_GRAY;
  const int written = png_image_write_to_file(&header, part.path().c_str(), 0, canvas.data(), 0, nullptr);
  require<FileError>(written != 0, path.string(), ": cannot be written: ", header.message);
  part.finish();
}

}  // namespace tandem::io
