#pragma once

#include <filesystem>
#include <string>

namespace tandem::io {

/// A folder, and which of its files are meant.
struct NamePattern {
  std::filesystem::path folder;
  std::string names;  ///< with * ? [], as in a shell; empty: all of them
  bool fits(const std::string& name) const;
};

/// Takes FOLDER/PATTERN apart. A path that exists, that has no such sign in its last part, or that lies in no
/// folder, is a folder as a whole.
NamePattern name_pattern(const std::filesystem::path& path);

}  // namespace tandem::io
