#include "name_pattern.hpp"

#include <fnmatch.h>

namespace tandem::io {

namespace fs = std::filesystem;

bool NamePattern::fits(const std::string& name) const {
  return names.empty() || ::fnmatch(names.c_str(), name.c_str(), FNM_PERIOD) == 0;
}

NamePattern name_pattern(const fs::path& path) {
  std::error_code fault;
  const std::string last = path.filename().string();
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (last.find_first_of("*?[") == std::string::npos || fs::exists(path, fault) ||
      !fs::is_directory(folder, fault))
    return {path, ""};
  return {folder, last};
}

}  // namespace tandem::io
