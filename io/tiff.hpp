#pragma once

// For io/ alone: grey TIFF images of one sample a pixel.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "../core/range.hpp"
#include "scan_reader.hpp"

namespace tandem::io {

/// One image of a TIFF file. Strips are blocks as wide as the image.
struct TiffPage {
  Index rows = 0, bins = 0;
  PixelType type = PixelType::float32;  ///< how it is read
  int bits = 32, sample_format = 3;     ///< how it is stored, as TIFF tags 258 and 339
  Index block_rows = 1, block_bins = 1;
  bool tiled = false, compressed = false, swapped = false;
  int orientation = 1;          ///< TIFF tag 274: where the first line and the first column belong
  std::uint64_t directory = 0;  ///< where it starts in the file
};

/// A TIFF file open for reading; both byte orders, strips and tiles, whatever compression libtiff knows.
class TiffFile {
 public:
  explicit TiffFile(const std::filesystem::path& path);  ///< @throws FileError
  Index pages() const { return static_cast<Index>(pages_.size()); }
  const TiffPage& page(Index i) const { return pages_[static_cast<std::size_t>(i)]; }
  /// The part `rows` x `bins` of a page, in its type. @throws FileError
  void read(Index page, Range rows, Range bins, std::byte* out);

 private:
  struct Close {
    void operator()(void* tiff) const;
  };
  TiffPage read_page();
  void require_block(std::uint32_t block, Index row);
  void read_plain(const TiffPage& page, Range rows, Range bins, std::byte* out);
  void read_blocks(const TiffPage& page, Range rows, Range bins, std::byte* out);
  void read_block(const TiffPage& page, Index row, Index bin, std::vector<std::byte>& block);

  std::string name_;
  double file_bytes_ = 0;
  std::unique_ptr<void, Close> tiff_;
  std::ifstream plain_;
  std::vector<TiffPage> pages_;
};

/// What the first image of a file says of itself; empty if it says nothing, or is no TIFF file.
std::string tiff_description(const std::filesystem::path& path);

class PlainFile;

/// Writes one image into an empty file; as BigTIFF where it needs to be. @throws FileError, a full disk
/// included
void write_tiff(const PlainFile& file, PixelType type, Index rows, Index bins, const void* pixels,
                const std::string& description);

}  // namespace tandem::io
