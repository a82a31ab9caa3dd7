#pragma once

// Grey TIFF images with one sample per pixel. Used only within io/.

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "image_file.hpp"
#include "number_type.hpp"
#include "stored_lines.hpp"

namespace tandem::io {

/// One image of a TIFF file. A strip is a block as wide as the image.
struct TiffPage : ImagePage {
  int bits = 32, sample_format = 3;  ///< how it is stored, as TIFF tags 258 and 339
  Index block_rows = 1, block_bins = 1;
  bool tiled = false, swapped = false;
  std::vector<Extent> extents;  ///< where the pixels lie in the file; empty if tiled or compressed
  std::uint64_t directory = 0;  ///< offset of its directory in the file
};

/// A TIFF file in either byte order, in strips or tiles, with any compression that libtiff knows.
class TiffFile final : public ImageFile {
 public:
  explicit TiffFile(const std::filesystem::path& path);  ///< @throws FileError
  const std::string& name() const override { return name_; }
  Index pages() const override { return pages_.size(); }
  const TiffPage& page(Index i) const override { return pages_[i]; }
  void read(Index page, Range rows, Range bins, std::byte* out) const override;
  std::size_t decoded_bytes(Index page) const override;  ///< 0 unless the page is compressed
  /// The axes as ImageJ and tifffile describe them.
  std::vector<Index> axes_of_pages() const override { return axes_; }
  std::string note() const override { return note_; }

 private:
  struct Close {
    void operator()(void* tiff) const;
  };
  using Library = std::unique_ptr<void, Close>;  // libtiff's view of the file, for one thread
  TiffPage read_page(void* tiff) const;
  std::vector<Extent> strips(void* tiff, const TiffPage& page) const;
  void add_pages_behind();
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
  std::vector<Index> axes_;
  std::string note_;
};

/// Whether a file begins as TIFF does.
bool is_tiff(const std::filesystem::path& path);

/// The description of the first image of a file; empty if there is none, or if it is not a TIFF file.
std::string tiff_description(const std::filesystem::path& path);

class PlainFile;

/// Writes one image into an empty file, as BigTIFF if it needs to be; with its resolution, if pixels per
/// centimetre along x and y are given. @throws FileError, also if the disk is full
void write_tiff(const PlainFile& file, NumberType type, Index rows, Index bins, const void* pixels,
                const std::string& description,
                const std::optional<std::array<double, 2>>& pixels_per_cm = {});

}  // namespace tandem::io
