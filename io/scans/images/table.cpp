#include <algorithm>
#include <array>

#include "../../../core/error.hpp"
#include "../../files/input_file.hpp"
#include "../../files/text.hpp"
#include "image.hpp"

namespace tandem::io {

namespace fs = std::filesystem;

extern const ImageFormat tiff_images, edf_images, numpy_images, mrc_images, dicom_images;

std::span<const ImageFormat> image_formats() {
  static const std::array all{tiff_images, edf_images, numpy_images, mrc_images, dicom_images};
  return all;
}

const ImageFormat* image_format_of(const fs::path& path) {
  const auto all = image_formats();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ImageFormat& format) { return format.recognises(path); });
  return found == all.end() ? nullptr : &*found;
}

std::string image_format_name(const fs::path& path) {
  const ImageFormat* format = image_format_of(path);
  return format ? std::string(format->name) : "raw";
}

bool has_image_name(const fs::path& path) {
  const std::string ending = in_lower_case(path.extension().string());
  return std::any_of(image_formats().begin(), image_formats().end(), [&](const ImageFormat& format) {
    return std::find(format.endings.begin(), format.endings.end(), ending) != format.endings.end();
  });
}

std::string image_format_names(bool in_folders) {
  std::vector<std::string> names;
  for (const ImageFormat& format : image_formats())
    if (!in_folders || !format.endings.empty()) names.emplace_back(format.name);
  return alternatives(names);
}

std::string image_endings() {
  std::vector<std::string> endings;
  for (const ImageFormat& format : image_formats())
    for (const std::string_view ending : format.endings)
      endings.push_back(std::string(1, '*').append(ending));
  return alternatives(endings);
}

std::unique_ptr<ImageFile> open_image(const fs::path& path, const std::optional<RawFrames>& raw) {
  require_regular_file(path);
  const ImageFormat* format = image_format_of(path);
  if (!format && raw) return open_raw(path, *raw);
  require<FileError>(format, path.string(), ": is no image; ", image_format_names(), " is needed");
  return format->open(path);
}

}  // namespace tandem::io
