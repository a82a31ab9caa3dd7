#pragma once

// For io/ alone: HDF5 without its header. libhdf5 is not safe for several threads, so every call here holds
// one lock of the process; a reader thread and a writer thread may run at once.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../core/range.hpp"
#include "scan_reader.hpp"

namespace tandem::io {
class PlainFile;
}

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

/// Whence the pixels of a file may come: raw external files lie in its folder or below, unless all are
/// allowed.
struct Origin {
  std::vector<std::filesystem::path> folders;  ///< canonical; those of the file and of what it is a link to
  bool any_external = false;
};

struct Storage;

/// An open data set of at most four axes. Every failure is a FileError that begins with `where()`.
class DataSet {
 public:
  DataSet(Handle handle, std::string where, std::shared_ptr<const Origin> origin = nullptr);
  const std::string& where() const { return where_; }  ///< "scan.h5: /exchange/data"
  const std::vector<Index>& shape() const { return shape_; }
  Index size() const;
  PixelType pixel_type() const;  ///< the type to read it in; @throws FileError unless it holds numbers

  /// @throws FileError unless all that the data set claims was written and is there: in its file, in external
  /// ones, in the sources of a virtual data set; or if a compression plugin is missing. From then on reading
  /// also fails if one of these files changes.
  void require_stored();

  /// What reading any part holds beside its result: one compressed chunk and what it decodes to; 0 if stored
  /// plainly.
  std::size_t decoded_bytes() const;

  void read(PixelType as, std::span<const Range> part, void* out) const;
  std::vector<double> numbers() const;  ///< all of it
  std::optional<std::string> text() const;

  /// Where in the file its chunks begin, in C order; one number if it is contiguous. For data sets made here:
  /// their room is there from the start, and PlainFile fills it.
  std::vector<Index> offsets() const;

  std::optional<std::string> text(const std::string& attribute) const;
  std::optional<double> number(const std::string& attribute) const;
  void set(const std::string& attribute, const std::string& value);
  void set(const std::string& attribute, double value);
  void set_flag(const std::string& attribute, bool value);

 private:
  Handle handle_;
  std::string where_;
  std::vector<Index> shape_;
  std::shared_ptr<const Origin> origin_;
  std::shared_ptr<const Storage> storage_;  ///< once it is known to be complete
};

/// Whether a file begins (or, after a user block, goes on) as HDF5 does.
bool is_hdf5(const std::filesystem::path& path);

class File {
 public:
  /// For reading. `any_external`: raw external files may lie anywhere, not only in the file's folder.
  static File open(const std::filesystem::path& path, bool any_external = false);
  static File create(const PlainFile& file);  ///< for writing, into an empty file
  static File modify(const PlainFile& file);  ///< for writing into what is there
  const std::string& name() const { return name_; }

  bool has(const std::string& path) const;       ///< whether such a link exists, dangling or not
  bool is_group(const std::string& path) const;  ///< links followed
  std::vector<std::string> names(const std::string& group) const;  ///< in alphabetical order
  /// The same for all links to one object, other for others; nothing where none can be opened.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> identity(const std::string& path) const;
  std::optional<DataSet> find(const std::string& path) const;  ///< nothing where no data set can be opened
  DataSet data_set(const std::string& path) const;             ///< @throws FileError saying what is amiss
  std::optional<std::string> text(const std::string& path) const;
  std::optional<double> number(const std::string& path) const;

  /// `chunk` empty: contiguous. Groups on the way are made.
  DataSet create(const std::string& path, PixelType type, std::span<const Index> shape,
                 std::span<const Index> chunk);
  void write_text(const std::string& path, const std::string& value);
  /// `units` empty: none are written.
  void write_number(const std::string& path, double value, const std::string& units);
  void write_numbers(const std::string& path, std::span<const double> values, const std::string& units);
  void close();  ///< @throws FileError if the last bytes could not be written

 private:
  File(Handle handle, std::string name, std::shared_ptr<const Origin> origin = nullptr)
      : handle_(std::move(handle)), name_(std::move(name)), origin_(std::move(origin)) {}
  std::string why_unopened(const std::string& path) const;
  Handle object(const std::string& path) const;
  Handle handle_;
  std::string name_;
  std::shared_ptr<const Origin> origin_;
};

}  // namespace tandem::io::hdf5
