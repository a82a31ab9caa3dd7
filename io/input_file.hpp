#pragma once

// For io/ alone: files that others made, before a library touches them.

#include <cstdint>
#include <filesystem>
#include <string>

namespace tandem::io {

/// @throws FileError unless `path` is a regular file that can be opened: a pipe would hang, a device never
/// end.
void require_regular_file(const std::filesystem::path& path);

/// Whether opening it may wait for ever, or do something: a pipe, a socket, a device.
bool is_special(const std::filesystem::path& path);

/// What is compared to see that a file is still what it was when it was opened.
struct FileStamp {
  std::filesystem::path path;
  std::uintmax_t bytes = 0;
  std::int64_t modified_ns = 0;
  bool operator==(const FileStamp&) const = default;
};
/// @throws FileError, beginning with `where`, if the file cannot be seen
FileStamp stamp_of(const std::filesystem::path& path, const std::string& where);
/// @throws FileError, beginning with `where`, if the file has another size or time by now, or is gone.
/// Libraries read what was cut away as zeros.
void require_unchanged(const FileStamp& stamp, const std::string& where);

}  // namespace tandem::io
