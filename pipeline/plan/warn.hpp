#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace tandem::pipeline {

/// Adds one warning, whose text is the parts joined.
template <class... Parts>
void warn(std::vector<std::string>& warnings, const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  warnings.push_back(text.str());
}

}  // namespace tandem::pipeline
