#pragma once

// Shared by the sources that call libhdf5.

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../files/input_file.hpp"
#include "../files/stored_lines.hpp"
#include "hdf5.hpp"

namespace tandem::io::hdf5 {

/// Requires memory, since libhdf5 1.10 crashes if it finds none while it begins, or while it opens a file.
/// @throws std::bad_alloc
void require_memory();

/// The lock around every call into libhdf5. It also keeps libhdf5 from printing.
class Lock {
 public:
  Lock();

 private:
  std::lock_guard<std::recursive_mutex> guard_;
};

/// The number of axes, as libhdf5 takes it.
template <class Extents>
int rank_of(const Extents& extents) {
  return static_cast<int>(extents.size());
}

void free_unused_memory();  ///< frees the memory that libhdf5 keeps for later

/// Frees the lock in a child process, where the thread that held it does not exist.
void forget_lock();

/// Why the last call failed: the message of the innermost function of libhdf5, on one line.
std::string reason();

/// Throws what the last failed call means. @throws FileError with `what`, the reason and a remedy: `remedy`,
/// unless there are no file handles left; DeviceError if there is no memory left
[[noreturn]] void fail(const std::string& what, const std::string& remedy);

/// An attribute of an object, which is a text or one number; empty if there is none.
std::optional<std::string> text_of(std::int64_t object, const std::string& attribute);
std::vector<std::string> texts_of(std::int64_t object, const std::string& attribute);  ///< a list of texts
std::optional<double> number_of(std::int64_t object, const std::string& attribute);

/// The type of IEEE half precision, little endian, for which libhdf5 1.10 has no name.
Handle float16_type();

/// Properties for opening files to read: without locks, because read-only and network file systems do not
/// have locks.
Handle read_access();

/// The folder of a file, and the folder of the file to which it links.
std::vector<std::filesystem::path> folders_of(const std::filesystem::path& path);

/// Properties for following links: an external link to a pipe or a device fails.
Handle link_access();

/// A box of a virtual data set that a source gives. If the source has fewer axes, the box has one element
/// along each of the first axes.
struct MappedBox {
  std::vector<Range> to;    ///< the box in the virtual data set
  std::vector<Index> from;  ///< its first element in the source
  std::shared_ptr<const Direct> source;
};

/// The files that the elements of a data set come from. The sources of a virtual data set are held open,
/// because libhdf5 reads a source as zeros if it cannot open it.
struct Storage {
  std::vector<FileStamp> files;  ///< the file that holds the data set comes first
  std::vector<Extent> extents;   ///< where a contiguous data set lies in these files
  std::vector<MappedBox> boxes;  ///< boxes of a virtual data set, if `direct` can read all sources
  std::vector<Handle> held;
  int depth = 0;  ///< depth of virtual data sets within virtual data sets
};
/// @throws FileError, whose text begins with `where`, unless every element is stored completely in a file
void require_stored(std::int64_t set, const std::string& where, const Origin& origin, Storage& found);

/// @throws FileError if a filter that packed the data set is missing
void require_filters(std::int64_t set, const std::string& where);

/// Learns what another program has written to a data set since it was opened.
void refresh(std::int64_t set, const std::string& where);

/// The number of first slices along the first axis that are stored without a gap, of a data set in chunks in
/// a file that is being written. `growth` keeps what was seen. @throws FileError if a chunk is damaged
Index stored_slices(std::int64_t set, const std::string& where, const std::vector<Index>& shape,
                    Growth& growth);

/// Checks the chunks that this part meets and that no filter packed. @throws FileError if a chunk has fewer
/// bytes than it must have, since libhdf5 would read beyond its end
void require_whole_chunks(std::int64_t set, const std::string& where, std::span<const Range> part);

/// The most bytes that a file can hold when all is unpacked. A claim of more means damage.
double most_unpacked(const FileStamp& file);

/// @throws FileError if one of the files has changed
void require_unchanged(const Storage& storage, const std::string& where);

/// `require_stored` for a virtual data set: all its elements must be mapped, and every source must be there.
void require_sources(std::int64_t set, const std::string& where, const Origin& origin, Storage& found);

/// The paths where libhdf5 looks for a file that another file names, in its order. `variable` is the
/// environment variable that comes first.
std::vector<std::filesystem::path> places_of(const std::string& name, const std::string& named_by,
                                             const char* variable);

}  // namespace tandem::io::hdf5
