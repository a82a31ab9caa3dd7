#pragma once

// Grey TIFF images with one sample per pixel. Used only within io/.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "../core/range.hpp"
#include "number_type.hpp"
#include "stored_lines.hpp"

namespace tandem::io {

/// One image of a TIFF file. A strip is a block as wide as the image.
struct TiffPage {
  Index rows = 0, bins = 0;
  PixelType type = PixelType::float32;  ///< how it is read
  int bits = 32, sample_format = 3;     ///< how it is stored, as TIFF tags 258 and 339
  Index block_rows = 1, block_bins = 1;
  bool tiled = false, compressed = false, swapped = false;
  std::vector<Extent> extents;  ///< of the pixels in the file; empty if they are tiled or compressed
  int orientation = 1;          ///< TIFF tag 274: where the first line and the first column belong
  std::uint64_t directory = 0;  ///< where it starts in the file

  bool is_float16() const { return bits == 16 && sample_format == 3; }
};

/// What a TIFF file holds: in either byte order, in strips or tiles, with any compression that libtiff knows.
/// The file is opened for each reading, so that a stack may have thousands.
class TiffFile {
 public:
  explicit TiffFile(const std::filesystem::path& path);  ///< @throws FileError
  const std::string& name() const { return name_; }
  Index pages() const { return static_cast<Index>(pages_.size()); }
  const TiffPage& page(Index i) const { return pages_[static_cast<std::size_t>(i)]; }
  /// Reads the part `rows` x `bins` of a page, in the type of the page. Several threads may call it at once.
  /// @throws FileError, also if the file has changed since this object was made
  void read(Index page, Range rows, Range bins, std::byte* out) const;
  /// How many bytes a reading of a part of a page holds beside its result; 0 unless the page is compressed.
  std::size_t decoded_bytes(Index page) const;

 private:
  struct Close {
    void operator()(void* tiff) const;
  };
  using Library = std::unique_ptr<void, Close>;  // libtiff's view of the file: for one thread
  TiffPage read_page(void* tiff) const;
  std::vector<Extent> strips(void* tiff, const TiffPage& page) const;
  void require_block(std::uint64_t offset, std::uint64_t bytes, Index row) const;
  void read_plain(const std::vector<InputFile>& file, const TiffPage& page, Range rows, Range bins,
                  std::byte* out) const;
  void read_blocks(const std::filesystem::path& path, const TiffPage& page, Range rows, Range bins,
                   std::byte* out) const;
  void read_block(void* tiff, const TiffPage& page, Index row, Index bin,
                  std::vector<std::byte>& block) const;

  std::string name_;
  FileStamp stamp_;
  double file_bytes_ = 0;
  std::vector<TiffPage> pages_;
};

/// The description of the first image of a file; empty if there is none, or if it is not a TIFF file.
std::string tiff_description(const std::filesystem::path& path);

class PlainFile;

/// Writes one image into an empty file, as BigTIFF if it needs to be. @throws FileError, also if the disk is
/// full
void write_tiff(const PlainFile& file, NumberType type, Index rows, Index bins, const void* pixels,
                const std::string& description);

}  // namespace tandem::io
