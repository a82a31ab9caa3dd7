// TIFF: each page is an image.

#include <array>
#include <fstream>

#include "../../files/tiff.hpp"
#include "image.hpp"

namespace tandem::io {

namespace fs = std::filesystem;

bool is_tiff(const fs::path& path) {
  std::array<char, 4> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  const std::string magic(start.data(), start.size());
  using namespace std::string_literals;
  return magic == "II*\0"s || magic == "MM\0*"s || magic == "II+\0"s || magic == "MM\0+"s;
}

extern const ImageFormat tiff_images{
    .name = "TIFF", .endings = {".tif", ".tiff"}, .recognises = is_tiff, .open = [](const fs::path& path) {
      return std::unique_ptr<ImageFile>(std::make_unique<TiffFile>(path));
    }};

}  // namespace tandem::io
