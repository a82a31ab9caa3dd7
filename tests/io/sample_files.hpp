#pragma once

// Small scans in every layout, written with the raw libraries so that a fault of io/ cannot hide in both
// directions.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tandem::test {

namespace fs = std::filesystem;

struct Source {
  std::string file, set;
};

/// Writes HDF5 piece by piece; intermediate groups are made.
class Hdf5Maker {
 public:
  explicit Hdf5Maker(const fs::path& path, bool add = false);  ///< `add`: to what is there
  ~Hdf5Maker();
  Hdf5Maker(const Hdf5Maker&) = delete;
  Hdf5Maker& operator=(const Hdf5Maker&) = delete;

  /// `type` is "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "f32", "f64", or ">u16" and so on
  /// (big endian). Nothing is written if `values` is empty and the extents are not. `chunk` empty:
  /// contiguous; with `packed`, gzip.
  Hdf5Maker& numbers(const std::string& path, const std::string& type,
                     const std::vector<unsigned long long>& extents, const std::vector<double>& values,
                     const std::vector<unsigned long long>& chunk = {}, bool packed = false);
  Hdf5Maker& text(const std::string& path, const std::string& value, bool variable = false);
  Hdf5Maker& texts(const std::string& path, const std::vector<std::string>& values);  ///< all have one length
  Hdf5Maker& flag(const std::string& path, bool value);  ///< an enumeration, as h5py has it
  Hdf5Maker& attribute(const std::string& path, const std::string& name, const std::string& value,
                       bool variable = false);
  Hdf5Maker& texts_attribute(const std::string& path, const std::string& name,
                             const std::vector<std::string>& values);  ///< as h5py writes a list
  Hdf5Maker& number_attribute(const std::string& path, const std::string& name, double value);
  Hdf5Maker& group(const std::string& path);
  Hdf5Maker& remove(const std::string& path);
  Hdf5Maker& external_link(const std::string& path, const std::string& file, const std::string& target);
  Hdf5Maker& soft_link(const std::string& path, const std::string& target);
  Hdf5Maker& hard_link(const std::string& path, const std::string& target);

  /// Writes only what `values` fill of `extents`, chunked one along the first axis.
  Hdf5Maker& begun(const std::string& path, const std::string& type,
                   const std::vector<unsigned long long>& extents, const std::vector<double>& values);
  /// A virtual data set: sources one after another along the first axis, each all of a data set of `each`
  /// along it.
  Hdf5Maker& stitched(const std::string& path, const std::string& type,
                      const std::vector<unsigned long long>& extents, unsigned long long each,
                      const std::vector<Source>& sources);
  /// A virtual data set without end along the first axis: source "name_%b.h5" gives element b.
  Hdf5Maker& endless(const std::string& path, const std::string& type,
                     const std::vector<unsigned long long>& extents, const Source& blocks);
  /// A data set that lies in a raw file.
  Hdf5Maker& raw(const std::string& path, const std::string& type,
                 const std::vector<unsigned long long>& extents, const fs::path& file);
  /// A part of a raw file: bytes `offset` to `offset + bytes`.
  struct RawPart {
    fs::path file;
    unsigned long long offset, bytes;
  };
  /// A data set that lies in parts of raw files, one after another.
  Hdf5Maker& raw_parts(const std::string& path, const std::string& type,
                       const std::vector<unsigned long long>& extents, const std::vector<RawPart>& parts);

 private:
  std::int64_t file_;
};

/// The sample scan: 4 views of 3 rows and 5 bins; the pixel counts 24 view + 6 row + bin.
inline constexpr unsigned long long views = 4, rows = 3, bins = 5;
double pixel(std::size_t view, std::size_t row, std::size_t bin);
/// `count` frames from the pixels of views first, first + 1, ...
std::vector<double> frames(std::size_t first, std::size_t count);

void write_data_exchange(const fs::path& path, const std::string& type = "u16", bool chunked = false);
/// Frames: dark, flat, views 0 and 1, flat, alignment (-1), views 2 and 3, invalid (3).
void write_nxtomo(const fs::path& path, const std::string& entry = "/entry1/tomo_entry");

struct TiffOptions {
  std::string mode = "w";  ///< "wb" big endian, "wl" little endian, "w8" BigTIFF
  int bits = 16, format = 1, samples = 1, photometric = 1;
  int compression = 1;  ///< 1 none, 5 LZW, 8 deflate
  unsigned rows_per_strip = 2, tile = 0;
  unsigned height = rows, width = bins;
  int orientation = 1;
  std::string description = {};
  unsigned lines_written = 1u << 31;  ///< strips and tiles from this line on are left out: a sparse image
};
/// One page for each vector of pixels.
void write_tiff_pages(const fs::path& path, const std::vector<std::vector<double>>& pages,
                      const TiffOptions& options = {});

struct EdfOptions {
  std::string type = "UnsignedShort";  ///< a DataType of the format
  bool high_byte_first = false;
  std::size_t header_bytes = 512;  ///< for each image; it grows if it must, to a multiple of 512
  unsigned height = rows, width = bins;
  std::string more = {};  ///< further lines of the header
};
/// One image for each vector of pixels, each behind a header.
void write_edf(const fs::path& path, const std::vector<std::vector<double>>& images,
               const EdfOptions& options = {});

void write_lines(const fs::path& path, const std::vector<std::string>& lines);

}  // namespace tandem::test
