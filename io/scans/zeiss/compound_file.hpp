#pragma once

// Compound files (OLE2), in which Zeiss keeps its scans. Such a file is a file system, with streams in
// storages. Source: Microsoft, MS-CFB: Compound File Binary File Format; olefile reads the same. Used only
// within io/.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../../files/stored_lines.hpp"

namespace tandem::io {

/// Whether a file begins as a compound file does.
bool is_compound_file(const std::filesystem::path& path);

/// Finds streams, and where their bytes lie. The size of the file bounds its memory and its time: it refuses
/// chains of sectors without an end, and sizes beyond the end of the file.
class CompoundFile {
 public:
  explicit CompoundFile(const std::filesystem::path& path);  ///< @throws FileError

  const std::string& name() const { return name_; }
  const FileStamp& stamp() const { return stamp_; }
  const std::vector<InputFile>& files() const { return files_; }  ///< only this file
  /// The number of bytes of a stream, by its name with the names of its storages, in upper or lower case:
  /// "ImageInfo/Angles". Empty if there is no such stream.
  std::optional<Index> size(const std::string& stream) const;
  /// Where the bytes of a stream lie, one extent after another. @throws FileError
  std::vector<Extent> extents(const std::string& stream) const;
  /// The first `most` bytes of a stream, or all its bytes. @throws FileError
  std::string bytes(const std::string& stream, Index most) const;

 private:
  struct Stream {
    std::uint32_t first = 0;  ///< first sector
    Index bytes = 0;
  };
  using Table = std::vector<std::uint32_t>;  ///< the sector that follows each sector

  std::string where(const std::string& stream) const { return name_ + ": " + stream; }
  Index place_of(std::uint32_t sector, const std::string& where) const;
  Table sectors_of(std::uint32_t first, const Table& next, Index most, const std::string& where) const;
  Table numbers_in(const Table& sectors, const std::string& where) const;
  void read_tables(const std::string& head);
  std::string entry_at(const Table& sectors, std::uint32_t number, const std::string& where) const;
  Stream stream_in(const std::string& entry) const;
  void read_directory(std::uint32_t first);
  std::vector<Extent> extents_of(const Stream& stream, const std::string& where) const;
  const Stream& found(const std::string& stream) const;

  std::string name_;
  FileStamp stamp_;
  std::vector<InputFile> files_;
  int shift_ = 9;     ///< a sector has 2^shift bytes
  Index cutoff_ = 0;  ///< shorter streams lie in the mini stream, in sectors of 64 bytes
  Table next_, next_mini_;
  std::vector<Extent> mini_;  ///< where the mini stream lies
  std::map<std::string, Stream> streams_;
};

}  // namespace tandem::io
