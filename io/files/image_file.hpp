#pragma once

// Grey images in a file. Used only within io/.

#include <cstddef>
#include <string>
#include <vector>

#include "../../core/pixel_type.hpp"
#include "../../core/space.hpp"

namespace tandem::io {

/// One image of a file, as it is read.
struct ImagePage {
  Index rows = 0, bins = 0;
  PixelType type = PixelType::float32;
  bool compressed = false;
  bool is_float16 = false;  ///< whether it is stored in half precision, and read as float32
  int orientation = 1;      ///< TIFF tag 274: where the first line and the first column belong
};

/// A file that holds one image or several. It is opened for each reading, so that a stack may have thousands
/// of files.
class ImageFile {
 public:
  virtual ~ImageFile() = default;
  virtual const std::string& name() const = 0;
  virtual Index pages() const = 0;
  virtual const ImagePage& page(Index i) const = 0;
  /// Reads the part `rows` x `bins` of a page, in the type of the page. Several threads may call it at once.
  /// @throws FileError, also if the file has changed since this object was made
  virtual void read(Index page, Range rows, Range bins, std::byte* out) const = 0;
  /// How many bytes a reading of a part of a page holds beside its result.
  virtual std::size_t decoded_bytes(Index /*page*/) const { return 0; }
  /// The sizes of the axes before rows and bins in the array that became the file; empty if nothing tells
  /// them. If there are two, the first is time and the second one counts views.
  virtual std::vector<Index> axes_of_pages() const { return {}; }
  /// What the file says about its pixels and is not obeyed; may be empty.
  virtual std::string note() const { return {}; }
};

}  // namespace tandem::io
