#pragma once

// Files that other programs made, before a library touches them. Used only within io/.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "../../core/space.hpp"
#include "descriptor.hpp"

namespace tandem::io {

/// Requires a regular file, since reading a pipe would hang and reading a device would never end. @throws
/// FileError unless `path` is one that can be opened
void require_regular_file(const std::filesystem::path& path);

/// Whether the path is a pipe, a socket or a device. Opening one may wait for ever, or may have an effect.
bool is_special(const std::filesystem::path& path);

/// Whether a file lies in a folder or below, after symbolic links; `folder` is canonical.
bool lies_within(const std::filesystem::path& file, const std::filesystem::path& folder);

/// Marks of a file that are compared to see whether it has changed since it was opened.
struct FileStamp {
  std::filesystem::path path;
  std::uintmax_t bytes = 0;
  std::int64_t modified_ns = 0;
  bool operator==(const FileStamp&) const = default;
};
/// @throws FileError, whose text begins with `where`, if the file cannot be found
FileStamp stamp_of(const std::filesystem::path& path, const std::string& where);
/// @throws FileError, whose text begins with `where`, if the file now has another size or time, or is gone.
/// Libraries would read what was cut away as zeros.
void require_unchanged(const FileStamp& stamp, const std::string& where);

/// A file that is read at given offsets, by any number of threads at once.
class InputFile {
 public:
  /// @throws FileError, whose text begins with `where`, if the file cannot be opened
  InputFile(const std::filesystem::path& path, const std::string& where);
  void expect(Index offset, Index bytes) const;  ///< starts to bring these bytes from the disk to memory
  /// @throws FileError, whose text begins with `where`, if the file is too short or cannot be read
  void read(Index offset, Index bytes, std::byte* out) const;
  /// A path to this very file, even if another file has its name now.
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_.number()); }

 private:
  std::string where_;
  std::string name_;
  Descriptor descriptor_;
};

}  // namespace tandem::io
