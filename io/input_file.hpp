#pragma once

// Files that others made, before a library touches them. Used only within io/.

#include <cstdint>
#include <filesystem>
#include <string>

namespace tandem::io {

/// @throws FileError unless `path` is a regular file that can be opened. A pipe would hang, and a device
/// would never end.
void require_regular_file(const std::filesystem::path& path);

/// Whether the path is a pipe, a socket or a device: to open it may wait for ever, or may do something.
bool is_special(const std::filesystem::path& path);

/// What is compared to see whether a file has changed since it was opened.
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

}  // namespace tandem::io
