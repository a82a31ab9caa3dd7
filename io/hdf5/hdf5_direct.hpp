#pragma once

// Reads the numbers of a data set at their places in the files. Many threads do so at once, without libhdf5,
// whose lock lets one thread read at a time. Used only within io/.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../files/stored_lines.hpp"
#include "hdf5_detail.hpp"

namespace tandem::io::hdf5 {

/// A reader of a data set without libhdf5. Several threads may use it at once.
class Direct {
 public:
  explicit Direct(PixelType type) : type_(type) {}
  virtual ~Direct() = default;
  PixelType type() const { return type_; }  ///< type of the pixels that it gives

  /// The bytes that a reading holds for packed pieces of the file and for what is unpacked from them.
  std::size_t decoded_bytes() const;
  virtual Index packed_pieces() const { return 0; }      ///< number of pieces that one thread each unpacks
  virtual std::size_t piece_bytes() const { return 0; }  ///< most bytes of a thread for a packed piece
  virtual std::string packing() const { return {}; }     ///< the names of the filters

  /// Puts a part of the data set at its place in an array of pixels. @throws FileError, whose text begins
  /// with the name of the data set
  virtual void read(std::span<const Range> part, const BoxPlace& to, std::byte* out) const = 0;

 private:
  PixelType type_;
};

/// The reader of a data set whose elements are all stored in these files. The data set stays open as long as
/// its reader lives. Null if its layout, its number type or its filters are not known here, so that only
/// libhdf5 can read it. @throws FileError
std::unique_ptr<const Direct> direct(std::int64_t set, const std::string& where, const Storage& storage);

/// `direct` for a data set that is chunked.
std::unique_ptr<const Direct> direct_chunks(std::int64_t set, const std::string& where,
                                            const NumberForm& form, std::vector<Index> shape,
                                            const FileStamp& file);
/// `direct` for a virtual data set whose pixels have this type. Null if a source has pixels of another type.
/// The type of the data set itself does not matter, since libhdf5 converts the numbers of the sources.
std::unique_ptr<const Direct> direct_boxes(PixelType type, const std::vector<MappedBox>& boxes);

/// Whether boxes of the same array have elements in common.
bool meet(std::span<const Range> one, std::span<const Range> other);

/// Whether the filters of a chunked data set are known, and its chunks are where libhdf5 says.
bool are_plain_chunks(std::int64_t set, std::int64_t plan);

}  // namespace tandem::io::hdf5
