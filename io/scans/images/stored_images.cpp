#include "stored_images.hpp"

#include <array>

#include "../../../core/error.hpp"

namespace tandem::io {

StoredImages::StoredImages(FileStamp stamp, std::vector<StoredImage> pages, std::vector<Index> axes_of_pages)
    : name_(stamp.path.string()),
      stamp_(std::move(stamp)),
      pages_(std::move(pages)),
      axes_(std::move(axes_of_pages)) {}

void StoredImages::read(Index index, Range rows, Range bins, std::byte* out) const {
  const StoredImage& page = pages_[index];
  std::vector<InputFile> file;
  file.emplace_back(stamp_.path, name_);
  require_unchanged(stamp_, name_);
  const std::array<Index, 2> shape{page.rows, page.bins}, first{rows.first, bins.first};
  const std::array<Index, 2> extents{rows.size(), bins.size()}, corner{0, 0};
  const std::array<Extent, 1> stored{page.extent};
  read_lines({file, stored}, page.form, Lines(extents, {shape, first}, {extents, corner}), out);
  require_unchanged(stamp_, name_);
}

std::vector<StoredImage> images_alike(const FileStamp& stamp, Index first, Index count, Index rows,
                                      Index bins, const NumberForm& form) {
  const double image = 1.0 * rows * bins * form.bytes, there = 1.0 * stamp.bytes - first;
  require<FileError>(count > 0 && rows > 0 && bins > 0, stamp.path.string(), ": has ", count, " images of ",
                     rows, " x ", bins, " pixels (rows x bins); at least 1 of each is needed");
  require<FileError>(image * count <= there, stamp.path.string(), ": claims ", count, " x ", rows, " x ",
                     bins, " pixels, ", image * count, " bytes; it has ", there,
                     ", so it is damaged or was cut short");
  std::vector<StoredImage> pages(count);
  const auto bytes = static_cast<Index>(image);
  for (Index k = 0; k < count; ++k) {
    pages[k].rows = rows, pages[k].bins = bins, pages[k].type = form.type, pages[k].form = form;
    pages[k].extent = {0, first + k * bytes, bytes};
  }
  return pages;
}

}  // namespace tandem::io
