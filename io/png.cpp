#include "png.hpp"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "../core/error.hpp"
#include "files/small_font.hpp"
#include "tandem_file.hpp"

namespace tandem::io {

namespace {

constexpr Index gap = 8;  // pixels between pictures
constexpr std::uint8_t gap_grey = 128;

std::uint8_t level(float grey, float black, float white) {
  const float scaled = 255 * (grey - black) / (white - black);
  return std::isnan(scaled) ? 0 : static_cast<std::uint8_t>(std::lround(std::clamp(scaled, 0.0f, 255.0f)));
}

/// Pictures side by side, captions below them in letters that large pictures do not dwarf.
Canvas drawn_in_a_row(std::span<const Picture> pictures, float black, float white) {
  Index height = 0, lines = 0, width = -gap;
  for (const Picture& p : pictures) {
    height = std::max(height, p.height);
    lines = std::max(lines, static_cast<Index>(p.captions.size()));
  }
  const Index scale = 1 + height / 512;
  const auto column = [&](const Picture& p) {  // as wide as picture and captions
    std::size_t letters = 0;
    for (const std::string& line : p.captions) letters = std::max(letters, line.size());
    return std::max(p.width, static_cast<Index>(letters) * letter_width * scale);
  };
  for (const Picture& p : pictures) width += column(p) + gap;
  Canvas canvas{width, height + lines * letter_height * scale + (lines > 0 ? 2 * scale : 0), {}};
  canvas.grey.assign(static_cast<std::size_t>(canvas.width * canvas.height), gap_grey);
  Index left = 0;
  for (const Picture& p : pictures) {
    for (Index y = 0; y < p.height; ++y)
      for (Index x = 0; x < p.width; ++x)
        canvas.grey[static_cast<std::size_t>(y * width + left + x)] =
            level(p.grey[static_cast<std::size_t>(y * p.width + x)], black, white);
    for (std::size_t line = 0; line < p.captions.size(); ++line)
      draw_text(canvas, left, height + (2 + static_cast<Index>(line) * letter_height) * scale, scale,
                p.captions[line], 255);
    left += column(p) + gap;
  }
  return canvas;
}

/// Rows of so many pictures, one below the other.
Canvas drawn(std::span<const Picture> pictures, float black, float white, std::size_t columns) {
  std::vector<Canvas> rows;
  Canvas sheet{0, -gap, {}};
  for (; !pictures.empty(); pictures = pictures.subspan(std::min(columns, pictures.size()))) {
    rows.push_back(drawn_in_a_row(pictures.first(std::min(columns, pictures.size())), black, white));
    sheet.width = std::max(sheet.width, rows.back().width);
    sheet.height += rows.back().height + gap;
  }
  if (rows.size() == 1) return std::move(rows.front());
  sheet.grey.assign(static_cast<std::size_t>(sheet.width * sheet.height), gap_grey);
  auto to = sheet.grey.begin();
  for (const Canvas& row : rows) {
    for (Index y = 0; y < row.height; ++y, to += sheet.width)
      std::copy_n(row.grey.begin() + y * row.width, row.width, to);
    if (&row != &rows.back()) to += gap * sheet.width;
  }
  return sheet;
}

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

void write_png(Output output, const std::vector<Picture>& pictures, float black, float white,
               std::size_t columns) {
  const std::string name = output.target().string();
  bool any = false;
  for (const Picture& picture : pictures) {
    require<FileError>(static_cast<Index>(picture.grey.size()) == picture.width * picture.height, name,
                       ": a picture of ", picture.width, " x ", picture.height, " has ", picture.grey.size(),
                       " pixels");
    any = any || !picture.grey.empty();
  }
  require<FileError>(any, name, ": no pictures to write");
  const Canvas canvas = drawn(pictures, black, white, columns == 0 ? pictures.size() : columns);

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
