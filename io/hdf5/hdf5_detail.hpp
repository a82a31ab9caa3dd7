#pragma once

// What the sources that call libhdf5 share.

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../files/input_file.hpp"
#include "../files/stored_lines.hpp"
#include "hdf5.hpp"

namespace tandem::io::hdf5 {

/// The lock around every call into libhdf5. It also keeps libhdf5 from printing.
class Lock {
 public:
  Lock();

 private:
  std::lock_guard<std::recursive_mutex> guard_;
};

void free_unused_memory();  ///< frees the memory that libhdf5 keeps for later

/// For a child process, where the thread that held the lock does not exist.
void forget_lock();

/// Why the last call failed: the message of the innermost function of libhdf5, on one line.
std::string reason();

/// @throws FileError with `what`, the reason and a remedy: `remedy`, unless there are no file handles left;
/// DeviceError if there is no memory left
[[noreturn]] void fail(const std::string& what, const std::string& remedy);

/// An attribute of an object: a text, or one number; empty if there is none.
std::optional<std::string> text_of(std::int64_t object, const std::string& attribute);
std::optional<double> number_of(std::int64_t object, const std::string& attribute);

/// IEEE half precision, little endian: libhdf5 1.10 has no name for it.
Handle float16_type();

/// How files are opened for reading: without locks, because read-only and network file systems do not have
/// them.
Handle read_access();

/// The folder of a file, and that of the file that it links to.
std::vector<std::filesystem::path> folders_of(const std::filesystem::path& path);

/// How links are followed: an external link to a pipe or a device fails.
Handle link_access();

/// A box of a virtual data set that a source gives. Where the source has fewer axes, the box has one element
/// along each of the first axes.
struct MappedBox {
  std::vector<Range> to;    ///< in the virtual data set
  std::vector<Index> from;  ///< where the box begins in the source
  std::shared_ptr<const Direct> source;
};

/// The files that the elements of a data set come from. The sources of a virtual data set are held open,
/// because libhdf5 reads a source as zeros if it cannot open it.
struct Storage {
  std::vector<FileStamp> files;  ///< first the one that holds the data set
  std::vector<Extent> extents;   ///< of a contiguous data set, in these files
  std::vector<MappedBox> boxes;  ///< that make up a virtual data set, if `direct` can read all sources
  std::vector<Handle> held;
  int depth = 0;  ///< how deep virtual data sets lie within virtual data sets
};
/// @throws FileError, whose text begins with `where`, unless every element is stored completely in a file
void require_stored(std::int64_t set, const std::string& where, const Origin& origin, Storage& found);

/// @throws FileError if a filter is missing that the data set is packed with
void require_filters(std::int64_t set, const std::string& where);

/// Sees what another program has written to a data set since it was opened.
void refresh(std::int64_t set, const std::string& where);

/// Of a data set in chunks in a file that is being written: how many slices along the first axis are stored,
/// without a gap. `growth` knows what was seen, and learns it. @throws FileError if a chunk is damaged
Index stored_slices(std::int64_t set, const std::string& where, const std::vector<Index>& shape,
                    Growth& growth);

/// Checks the chunks that this part meets and that no filter packed. @throws FileError if one has fewer bytes
/// than it must have: libhdf5 would read beyond its end
void require_whole_chunks(std::int64_t set, const std::string& where, std::span<const Range> part);

/// How many bytes a file can hold at most, when all is unpacked. A claim of more is damage.
double most_unpacked(const FileStamp& file);

/// @throws FileError if one of the files has changed
void require_unchanged(const Storage& storage, const std::string& where);

/// `require_stored` for a virtual data set: all of it is mapped, and every source is there.
void require_sources(std::int64_t set, const std::string& where, const Origin& origin, Storage& found);

/// Where libhdf5 looks for a file that another file names, in its order. `variable` is the name of the
/// environment variable that comes first.
std::vector<std::filesystem::path> places_of(const std::string& name, const std::string& named_by,
                                             const char* variable);

}  // namespace tandem::io::hdf5
