#pragma once

// For io/ alone.

#include <cstddef>
#include <filesystem>
#include <string>

#include "tandem/core/space.hpp"

namespace tandem::io {

/// Bytes into an existing file, where HDF5 has made room for them. libhdf5 1.10 crashes at exit if the disk
/// filled up under it, and would hold its lock all the while: so HDF5 writes the little things, and this the
/// voxels.
class PlainFile {
 public:
  explicit PlainFile(const std::filesystem::path& path);  ///< @throws FileError
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  ~PlainFile();
  void write(Index offset, const void* data, std::size_t bytes);  ///< @throws FileError
  /// @throws FileError unless so many bytes can be added at the end; leaves the file as it was.
  void require_room(Index bytes);
  void close();  ///< @throws FileError: some file systems tell only now that they are full

 private:
  std::string name_;
  int descriptor_;
};

/// @throws FileError if the disk has less space than `bytes`, or the file system or a quota allows no such
/// file. Leaves an empty file.
void make_room(const std::filesystem::path& path, double bytes);

}  // namespace tandem::io
