#pragma once

// Used only within io/.

#include <cstddef>
#include <filesystem>
#include <string>

#include "../../core/space.hpp"
#include "descriptor.hpp"

namespace tandem::io {

/// A file in the making, open for reading and writing. libhdf5 1.10 crashes at exit if the disk became full
/// while it wrote, and it would hold its lock all the time. So libhdf5 writes the small things, and this
/// class writes the voxels.
class PlainFile {
 public:
  PlainFile(Descriptor descriptor, std::string name);  ///< `name` is for messages
  int descriptor() const { return descriptor_.number(); }
  const std::string& name() const { return name_; }
  /// A path to this very file, even if another file has its name now. Libraries that open files by path need
  /// it.
  std::filesystem::path path() const;

  Index size() const;
  /// Reads bytes; false if the file is too short. @throws FileError
  bool read(Index offset, void* data, std::size_t bytes) const;
  void write(Index offset, const void* data, std::size_t bytes);  ///< @throws FileError
  /// @throws FileError unless this many bytes can be added at the end. Leaves the file as it was.
  void require_room(Index bytes);
  /// @throws FileError if the disk has less space than `bytes`, or if the file system or a quota does not
  /// allow such a file. The file is empty before and after.
  void require_space(double bytes);
  /// Takes space on the disk from byte `first` to `last`, and makes the file that long. @throws FileError if
  /// there is not enough
  void reserve(Index first, Index last);
  void shorten(Index bytes);  ///< cuts the file to this length. @throws FileError
  /// Starts to write some bytes, or all to the end, to the disk, so that `sync` has little to do later.
  void begin_sync(Index offset = 0, Index bytes = 0) const;
  void sync();  ///< returns when all is on the disk. @throws FileError, also for errors of earlier writing

 private:
  void require_success(bool holds) const;

  std::string name_;
  Descriptor descriptor_;
  bool in_memory_;  ///< whether it lies on a RAM disk
};

}  // namespace tandem::io
