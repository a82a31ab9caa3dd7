#include "inside_file.hpp"

#include <algorithm>

namespace tandem::io {

InsideFile inside_file(const std::filesystem::path& path) {
  const std::string text = path.string();
  std::error_code fault;
  if (std::filesystem::exists(path, fault)) return {path, ""};
  for (std::size_t at = text.rfind(":/"); at != std::string::npos && at > 0; at = text.rfind(":/", at - 1))
    if (std::filesystem::is_regular_file(text.substr(0, at), fault))
      return {text.substr(0, at), text.substr(std::min(text.size(), text.find_first_not_of('/', at + 1)))};
  return {path, ""};
}

}  // namespace tandem::io
