#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace tandem::pipeline {

/// Adds one line, which is made of the parts.
template <class... Parts>
void warn(std::vector<std::string>& warnings, const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  warnings.push_back(text.str());
}

}  // namespace tandem::pipeline
