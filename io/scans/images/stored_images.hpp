#pragma once

// Images whose pixels lie in a file as they are, each at its own place. Used only within io/.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "../../files/image_file.hpp"
#include "../../files/stored_lines.hpp"

namespace tandem::io {

/// An image, how its pixels are stored, and where they lie in the file, bytes.
struct StoredImage : ImagePage {
  NumberForm form;
  Extent extent;
};

class StoredImages final : public ImageFile {
 public:
  /// `stamp`: of the file, before its pages were found
  StoredImages(FileStamp stamp, std::vector<StoredImage> pages, std::vector<Index> axes_of_pages = {});
  const std::string& name() const override { return name_; }
  Index pages() const override { return pages_.size(); }
  const ImagePage& page(Index i) const override { return pages_[i]; }
  std::vector<Index> axes_of_pages() const override { return axes_; }
  void read(Index index, Range rows, Range bins, std::byte* out) const override;

 private:
  std::string name_;
  FileStamp stamp_;
  std::vector<StoredImage> pages_;
  std::vector<Index> axes_;
};

/// `count` images of the same size, one after another from byte `first` on. @throws FileError, whose text
/// begins with the name of the file, if it ends before them
std::vector<StoredImage> images_alike(const FileStamp& stamp, Index first, Index count, Index rows,
                                      Index bins, const NumberForm& form);

}  // namespace tandem::io
