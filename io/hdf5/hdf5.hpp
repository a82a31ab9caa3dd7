#pragma once

// HDF5 without its header. Used only within io/. libhdf5 is not safe for several threads, so every call into
// it holds a lock of the process. Numbers that `hdf5_direct` can find are read without libhdf5, and so
// without this lock.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../core/space.hpp"
#include "../files/number_type.hpp"

namespace tandem::io {
class PlainFile;
struct Hdf5Filter;
}  // namespace tandem::io

namespace tandem::io::hdf5 {

/// Owns one HDF5 identifier (hid_t), and closes it.
class Handle {
 public:
  using Close = int (*)(std::int64_t);
  Handle() = default;
  Handle(std::int64_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { reset(); }
  bool reset();  ///< closes now; false if HDF5 could not
  std::int64_t id() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  std::int64_t id_ = -1;
  Close close_ = nullptr;
};

/// Two numbers that are the same for all links to one object of a file, and different for other objects.
using Identity = std::pair<std::uint64_t, std::uint64_t>;

/// What is known about the data sets of a file that another program is writing. Each data set is opened once,
/// because libhdf5 1.10 cannot read one that was refreshed while it was open twice.
struct Growth {
  std::map<Identity, Handle> open;
  std::map<std::string, Index> stored;  ///< number of slices along the first axis that are stored, by `where`
};

/// The places from which the pixels of a file may come. Raw external files must lie in its folder or below,
/// unless all are allowed.
struct Origin {
  std::vector<std::filesystem::path>
      folders;  ///< canonical; the folder of the file, and of the file that it links to
  bool any_external = false;
  std::shared_ptr<Growth> growth = nullptr;  ///< set if the file is being written; else null
};

struct Storage;
class Direct;

/// An open data set of at most four axes. Every failure is a FileError whose text begins with `where()`. In a
/// file that is being written, the length of a data set in chunks is the number of its first slices that are
/// stored.
class DataSet {
 public:
  DataSet(Handle handle, std::string where, std::shared_ptr<const Origin> origin = nullptr);
  const std::string& where() const { return where_; }  ///< "scan.h5: /exchange/data"
  const std::vector<Index>& shape() const { return shape_; }
  Index size() const;
  /// Whether it is in chunks, so that slices along its first axis can be added one after another.
  bool can_grow() const;
  std::optional<Index> most_slices() const;  ///< the most slices along the first axis; empty: no limit
  bool is_float16() const;       ///< whether it holds IEEE half precision, which is read as float32
  PixelType pixel_type() const;  ///< the type in which it is read; @throws FileError unless it holds numbers

  std::string stored_type() const;  ///< "float64"; @pre it holds numbers
  double stored_bytes() const;      ///< bytes of all numbers, unpacked

  /// Checks that all elements of the data set were written and are there: in its file, in external files, or
  /// in the sources of a virtual data set. After this call, reading fails if one of these files changes.
  /// @throws FileError if something is not there, or if a compression plugin is missing
  void require_stored();

  /// The number of bytes that a reading holds beside its result: a compressed chunk and its decoded contents,
  /// for each thread. 0 if the data are not compressed.
  std::size_t decoded_bytes() const;
  /// The names of the filters that pack it; "by libhdf5" if only libhdf5 can read it.
  std::string packing() const;

  /// Reads a part, which lies within shape(). It reads on the threads of the pool if the data set is known to
  /// be stored (`require_stored`), and if `hdf5_direct` knows its layout, its type and its filters. Else it
  /// reads through libhdf5, one thread at a time. Several threads may call it at once.
  void read(PixelType as, std::span<const Range> part, void* out) const;
  std::vector<double> numbers() const;  ///< all its numbers
  /// Whether its one number is not 0, or the value of its one boolean of h5py, which is an enumeration; empty
  /// for anything else.
  std::optional<bool> flag() const;
  std::vector<bool> flags(Index most) const;  ///< the same for all elements; empty if more than `most`
  bool holds_numbers() const;                 ///< whether it holds integers or floats that can be read
  std::optional<std::string> text() const;
  /// All its texts, if they are at most `most`; else empty.
  std::vector<std::string> texts(Index most) const;

  /// The offset of its first number in the file, after which all others follow. Data sets that were created
  /// here have their space from the start, and PlainFile fills it. @throws FileError if it is in chunks
  Index offset() const;

  /// Adds a packed chunk, which begins at `corner`. Returns its offset in the file.
  Index write_chunk(std::span<const Index> corner, std::span<const std::byte> packed);

  std::optional<std::string> text(const std::string& attribute) const;
  std::optional<double> number(const std::string& attribute) const;
  void set(const std::string& attribute, const std::string& value);
  void set(const std::string& attribute, double value);
  void set_flag(const std::string& attribute, bool value);

 private:
  bool grows() const { return origin_ && origin_->growth; }
  void read_by_library(PixelType as, std::span<const Range> part, void* out) const;
  void read_part(std::int64_t memory_type, std::span<const Range> part, void* out) const;
  void read_directly(std::span<const Range> part, std::byte* out) const;

  Handle handle_;
  std::string where_;
  std::vector<Index> shape_;
  std::shared_ptr<const Origin> origin_;
  std::shared_ptr<const Storage> storage_;  ///< set when it is known to be complete
  std::shared_ptr<const Direct> direct_;    ///< set then too, if libhdf5 is not needed
};

/// Whether a file has the signature of HDF5 at its beginning, or after a user block.
bool is_hdf5(const std::filesystem::path& path);

/// Slices of a virtual data set, and the data set of another file that has them.
struct VirtualPart {
  std::string file, path;
  Range slices;
};

/// A link to an object of another file.
struct ExternalLink {
  std::string path, file, object;  ///< its path, and what it names: "/entry", "raw.h5", "/1.1"
};

class File {
 public:
  /// Opens a file for reading. With `any_external`, raw external files may lie anywhere, not only in the
  /// folder of the file.
  static File open(const std::filesystem::path& path, bool any_external = false);
  /// Opens a file that another program is writing, in SWMR mode if the file has it. A data set shows what is
  /// stored when it is asked for. `growth` keeps the data sets open as long as it lives.
  static File open_growing(const std::filesystem::path& path, std::shared_ptr<Growth> growth,
                           bool any_external = false);
  bool is_swmr() const;  ///< whether what is written after the file was opened can be seen
  static File create(const PlainFile& file);  ///< opens an empty file for writing
  static File modify(const PlainFile& file);  ///< opens an HDF5 file for writing
  const std::string& name() const { return name_; }

  bool has(const std::string& path) const;       ///< whether such a link exists, also if it leads nowhere
  bool is_group(const std::string& path) const;  ///< whether it is a group; links are followed
  std::vector<std::string> names(const std::string& group) const;   ///< names in alphabetical order
  std::optional<Identity> identity(const std::string& path) const;  ///< empty if it cannot be opened
  std::optional<DataSet> find(const std::string& path) const;       ///< empty if no data set can be opened
  DataSet data_set(const std::string& path) const;  ///< @throws FileError that says what is wrong
  std::optional<std::string> text(const std::string& path) const;
  std::optional<double> number(const std::string& path) const;
  bool flag(const std::string& path) const;  ///< false too if it is not there
  /// An attribute of a group or of a data set; empty if there is none of that type.
  std::optional<double> number(const std::string& object, const std::string& attribute) const;
  std::optional<std::string> text(const std::string& object, const std::string& attribute) const;
  std::vector<std::string> texts(const std::string& object, const std::string& attribute) const;
  /// Why a link within the file leads nowhere: "links to /raw, which is not there"; empty if none does.
  std::string why_dead(const std::string& path) const;
  /// The first link on a path that leads to another file.
  std::optional<ExternalLink> external_link(const std::string& path) const;
  /// The reason why no data set can be opened: "missing", or "links to raw.h5, which is not there; ..."
  std::string why_unopened(const std::string& path) const;

  /// Creates a data set whose numbers follow one another, and the groups on the way to it.
  DataSet create(const std::string& path, NumberType type, std::span<const Index> shape);
  /// Creates a data set of three axes whose slices are in other files. Slices in no file are NaN, or 0 if it
  /// has integers.
  DataSet create_virtual(const std::string& path, NumberType type, Shape shape,
                         std::span<const VirtualPart> parts);
  /// Creates a data set of chunks that filters pack. `write_chunk` adds its chunks.
  DataSet create_packed(const std::string& path, NumberType type, std::span<const Index> shape,
                        std::span<const Index> chunk, std::span<const Hdf5Filter> filters);
  void write_text(const std::string& path, const std::string& value);
  /// Writes no units if `units` is empty.
  void write_number(const std::string& path, double value, const std::string& units);
  void write_numbers(const std::string& path, std::span<const double> values, const std::string& units);
  /// Writes numbers as lines of `columns` numbers each.
  void write_lines(const std::string& path, std::span<const double> values, Index columns,
                   const std::string& units);
  /// Gives an object one more name, in a group that exists.
  void link(const std::string& path, const std::string& target);
  /// Sets an attribute of an object: a text, or a list of them.
  void set(const std::string& object, const std::string& attribute, const std::string& value);
  void set(const std::string& object, const std::string& attribute, std::span<const std::string> values);
  void set_class(const std::string& group, const std::string& name) { set(group, "NX_class", name); }
  Index end() const;  ///< end of the space that libhdf5 has given out, bytes
  void close();       ///< @throws FileError if the last bytes could not be written

 private:
  File(Handle handle, std::string name, std::shared_ptr<const Origin> origin = nullptr)
      : handle_(std::move(handle)), name_(std::move(name)), origin_(std::move(origin)) {}
  Handle object(const std::string& path) const;
  Handle kept_open(const std::string& path) const;  // also by the growth of the file
  Handle handle_;
  std::string name_;
  std::shared_ptr<const Origin> origin_;
};

}  // namespace tandem::io::hdf5
