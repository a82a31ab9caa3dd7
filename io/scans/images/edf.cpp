// EDF, the ESRF data format: one image or several, each with a header of text before it (as fabio reads and
// writes it: github.com/silx-kit/fabio, edfimage.py).

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include "../../../core/error.hpp"
#include "../../files/stored_lines.hpp"
#include "../../files/text.hpp"
#include "edf_header.hpp"
#include "image.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr Index padding = 512;  // blocks of pixels are filled up to multiples of so many bytes, or are not

struct EdfPage : ImagePage {
  NumberForm form;
  Extent extent;  ///< of the pixels
};

class EdfFile final : public ImageFile {
 public:
  explicit EdfFile(const fs::path& path) : name_(path.string()), stamp_(stamp_of(path, name_)) {
    const InputFile file(path, name_);
    const auto end = static_cast<Index>(stamp_.bytes);
    Index at = 0;
    while (at < end && !only_blanks(file, at, end)) at = add_block(file, at, end);
    require<FileError>(!pages_.empty(), name_, ": holds no image; a header with Dim_1 is needed");
  }

  const std::string& name() const override { return name_; }
  Index pages() const override { return static_cast<Index>(pages_.size()); }
  const ImagePage& page(Index i) const override { return pages_[static_cast<std::size_t>(i)]; }

  void read(Index index, Range rows, Range bins, std::byte* out) const override {
    const EdfPage& page = pages_[static_cast<std::size_t>(index)];
    std::vector<InputFile> file;
    file.emplace_back(stamp_.path, name_);
    require_unchanged(stamp_, name_);
    const std::array<Index, 2> shape{page.rows, page.bins}, first{rows.first, bins.first};
    const std::array<Index, 2> extents{rows.size(), bins.size()}, corner{0, 0};
    const std::array<Extent, 1> stored{page.extent};
    read_lines({file, stored}, page.form, Lines(extents, {shape, first}, {extents, corner}), out);
    require_unchanged(stamp_, name_);
  }

 private:
  /// Adds the images of the block that begins at a byte; @returns where the next one begins.
  Index add_block(const InputFile& file, Index at, Index end) {
    const std::string where = name_ + (pages_.empty() ? "" : ": image " + std::to_string(pages_.size()));
    const EdfHeader header = edf_header(file, where, at, end);
    require<FileError>(
        !header.values.contains("edf_binaryfilename"), where,
        ": its pixels are in another file (EDF_BinaryFileName); a file that holds them is needed");
    at += header.bytes;
    if (!header.has_image()) return at;
    const NumberForm form = header.form(where);
    const Index bins = header.count(where, "dim_1", {}), rows = header.count(where, "dim_2", 1),
                images = header.count(where, "dim_3", 1);
    const double image =
        static_cast<double>(rows) * static_cast<double>(bins) * static_cast<double>(form.bytes);
    const double claimed = image * static_cast<double>(images);
    require<FileError>(claimed <= static_cast<double>(end - at), where, ": claims ",
                       images > 1 ? std::to_string(images) + " x " : "", rows, " x ", bins, " pixels, ",
                       claimed, " bytes; the file ends after ", end - at, ", it is damaged or was cut short");
    const Index size = header.size(where).value_or(static_cast<Index>(claimed));
    const Index own = images > 1 ? images : images_in(file, {at, at + size}, static_cast<Index>(image), end);
    const double pixels = image * static_cast<double>(own), blanks = static_cast<double>(size) - pixels;
    const bool last = size > end - at && blanks < padding && pixels <= static_cast<double>(end - at);
    require<FileError>(blanks >= 0 && (size <= end - at || last), where, ": Size = ", size,
                       " bytes for pixels of ", pixels, " in a file that has ", end - at,
                       " more; it is damaged");
    for (Index k = 0; k < own; ++k) {
      EdfPage page;
      page.rows = rows, page.bins = bins, page.type = form.type, page.form = form;
      page.extent = {0, at + k * static_cast<Index>(image), static_cast<Index>(image)};
      pages_.push_back(page);
    }
    return at + std::min(size, end - at);
  }

  /// How many images fill the bytes of a block: one, if the others hold no whole images or only pad it.
  static Index images_in(const InputFile& file, Range bytes, Index image, Index end) {
    const Index more = bytes.size() - image;
    if (more <= 0 || more % image != 0) return 1;
    const bool pads = more < padding && only_blanks(file, bytes.first + image, std::min(bytes.last, end));
    return pads ? 1 : bytes.size() / image;
  }

  std::string name_;
  FileStamp stamp_;
  std::vector<EdfPage> pages_;
};

bool is_edf(const fs::path& path) {
  std::array<char, 512> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  const std::string all(start.data(), static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  const std::string text = in_lower_case(all.substr(std::min(all.find_first_not_of(" \t\r\n"), all.size())));
  if (!text.starts_with('{')) return false;
  return text.find("headerid") != std::string::npos || text.find("dim_1") != std::string::npos ||
         text.find("edf_") != std::string::npos || text.find("byteorder") != std::string::npos;
}

}  // namespace

extern const ImageFormat edf_images{
    .name = "EDF", .endings = {".edf"}, .recognises = is_edf, .open = [](const fs::path& path) {
      return std::unique_ptr<ImageFile>(std::make_unique<EdfFile>(path));
    }};

}  // namespace tandem::io
