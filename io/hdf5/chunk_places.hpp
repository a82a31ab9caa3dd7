#pragma once

// The places of chunks in a file. libhdf5 1.10 tells them by a search from the first chunk on, so all chunks
// take a time that grows as the square of their number. It finds a chunk that it reads or writes by its
// index. So it reads or writes through a driver of ours, which notes the place.

#include <filesystem>
#include <optional>
#include <span>

#include "hdf5_detail.hpp"

namespace tandem::io::hdf5 {

struct ChunkPlace {
  Index offset = 0, bytes = 0;
  unsigned skipped = 0;  ///< bit k: filter k was left out
};

/// Properties for a file that is written by the driver. @pre it is there, and empty
Handle noting_access();

/// The place of the last numbers that were written through such a file.
ChunkPlace last_written();

/// A data set that is opened again, to find its chunks. As long as it lives, the lock is to be held.
class ChunkFinder {
 public:
  /// @throws FileError, whose text begins with `where`
  ChunkFinder(std::int64_t set, const std::filesystem::path& path, const std::string& where);
  /// Empty if the chunk at this corner is not stored, or cannot be found.
  std::optional<ChunkPlace> find(std::span<const Index> corner) const;

 private:
  Handle file_, set_;
};

}  // namespace tandem::io::hdf5
