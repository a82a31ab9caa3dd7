#pragma once

// For io/ alone.

#include <cstddef>
#include <filesystem>
#include <string>

#include "../core/space.hpp"
#include "descriptor.hpp"

namespace tandem::io {

/// A file under construction, open for reading and writing. libhdf5 1.10 crashes at exit if the disk filled
/// up under it, and would hold its lock all the while: so HDF5 writes the little things, and this the voxels.
class PlainFile {
 public:
  PlainFile(Descriptor descriptor, std::string name);  ///< `name` is for messages
  int descriptor() const { return descriptor_.number(); }
  const std::string& name() const { return name_; }
  /// A path to this very file, whatever stands under its name by now: for libraries that open by path.
  std::filesystem::path path() const;

  Index size() const;
  void write(Index offset, const void* data, std::size_t bytes);  ///< @throws FileError
  /// @throws FileError unless so many bytes can be added at the end; leaves the file as it was.
  void require_room(Index bytes);
  /// @throws FileError if the disk has less space than `bytes`, or the file system or a quota allows no such
  /// file. The file is empty before and after.
  void require_space(double bytes);
  /// So that `sync` finds little to do later. Of some bytes, or to the end.
  void begin_sync(Index offset = 0, Index bytes = 0) const;
  void sync();  ///< returns when the disk has all. @throws FileError: some file systems tell only now

 private:
  void require_success(bool holds) const;

  std::string name_;
  Descriptor descriptor_;
};

}  // namespace tandem::io
