#pragma once

// Shared by the sources that call libhdf5.

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hdf5.hpp"
#include "input_file.hpp"

namespace tandem::io::hdf5 {

/// Held around every call into libhdf5; also keeps it from printing.
class Lock {
 public:
  Lock();

 private:
  std::lock_guard<std::recursive_mutex> guard_;
};

void free_unused_memory();  ///< that libhdf5 keeps for later

/// In a child process: the thread that held the lock is another one there.
void forget_lock();

/// Why the last call failed, in the words of libhdf5's innermost function, on one line.
std::string reason();

/// @throws FileError of `what`, the reason and a remedy: the given one, unless file handles ran out;
/// DeviceError if memory did
[[noreturn]] void fail(const std::string& what, const std::string& remedy);

/// How files are opened for reading: without locks, which read-only and network file systems do not know.
Handle read_access();

/// How links are followed: an external one to a pipe or a device fails.
Handle link_access();

/// The files that a data set's elements come from; those of a virtual one are held open, since libhdf5 takes
/// one that it cannot open for zeros.
struct Storage {
  std::vector<FileStamp> files;
  std::vector<Handle> held;
  int depth = 0;  ///< virtual data sets of virtual data sets
};
/// @throws FileError, beginning with `where`, unless every element lies in a file, all of it
void require_stored(std::int64_t set, const std::string& where, const Origin& origin, Storage& found);

/// @throws FileError unless all chunks that this part meets, and no filter packed, have the bytes they are
/// due: libhdf5 reads on behind those that are shorter
void require_whole_chunks(std::int64_t set, const std::string& where, std::span<const Range> part);

/// @throws FileError if one of the files has changed
void require_unchanged(const Storage& storage, const std::string& where);

/// The same for a virtual data set: all of it is mapped, and every source is there.
void require_sources(std::int64_t set, const std::string& where, const Origin& origin, Storage& found);

/// Where libhdf5 looks for a file that another one names, in its order. `variable` is the name of the
/// variable of the environment that comes first.
std::vector<std::filesystem::path> places_of(const std::string& name, const std::string& named_by,
                                             const char* variable);

}  // namespace tandem::io::hdf5
