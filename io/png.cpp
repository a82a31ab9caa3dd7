#include "png.hpp"

#include <png.h>

#include <cmath>
#include <cstdint>

#include "../core/error.hpp"
#include "tandem_file.hpp"

namespace tandem::io {

namespace {

struct PixelForm {
  Index width, height;
  png_uint_32 format, flags;
};

/// The bytes of a PNG file; `name` is for messages.
std::string encoded(const std::string& name, const PixelForm& form, const std::vector<std::uint8_t>& pixels) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(form.width);
  header.height = static_cast<png_uint_32>(form.height);
  header.format = form.format;
  header.flags = form.flags;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string png(bytes, '\0');
  const int made = png_image_write_to_memory(&header, png.data(), &bytes, 0, pixels.data(), 0, nullptr);
  require<FileError>(made != 0, name, ": cannot be written: ", header.message);
  png.resize(bytes);
  return png;
}

}  // namespace

void write_png(Output output, const std::vector<Picture>& pictures, const Sheet& sheet) {
  const std::string name = output.target().string();
  bool any = false;
  for (const Picture& picture : pictures) {
    require<FileError>(std::ssize(picture.grey) == picture.width * picture.height, name, ": a picture of ",
                       picture.width, " x ", picture.height, " has ", picture.grey.size(), " pixels");
    any = any || !picture.grey.empty();
  }
  require<FileError>(any, name, ": no pictures to write");
  const Canvas canvas = drawn(pictures, sheet);
  output.write(marked_png(encoded(name, {canvas.width, canvas.height, PNG_FORMAT_GRAY, 0}, canvas.grey)));
}

std::string png_of(const Picture& picture, float black, float white) {
  std::vector<std::uint8_t> pixels;  // grey and opacity
  pixels.reserve(2 * picture.grey.size());
  for (const float grey : picture.grey)
    pixels.insert(pixels.end(),
                  {level(grey, black, white), std::isnan(grey) ? std::uint8_t{0} : std::uint8_t{255}});
  return encoded("picture", {picture.width, picture.height, PNG_FORMAT_GA, PNG_IMAGE_FLAG_FAST}, pixels);
}

}  // namespace tandem::io
