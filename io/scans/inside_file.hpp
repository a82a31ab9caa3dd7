#pragma once

#include <filesystem>
#include <string>

namespace tandem::io {

/// A file, and the name of a data set, or of a variable, in it: "scan.h5" and "entry/flats".
struct InsideFile {
  std::filesystem::path file;
  std::string name;  ///< without a slash before it; empty: the file as a whole
};

/// Takes FILE:/NAME apart. A path that exists, or whose part before ":/" is no file, is that of a file as a
/// whole.
InsideFile inside_file(const std::filesystem::path& path);

}  // namespace tandem::io
