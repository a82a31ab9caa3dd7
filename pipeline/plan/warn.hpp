#pragma once

#include <algorithm>
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

/// Adds the warnings that are not there yet.
inline void add_unsaid(std::vector<std::string>& all, const std::vector<std::string>& some) {
  for (const std::string& text : some)
    if (std::ranges::find(all, text) == all.end()) all.push_back(text);
}

}  // namespace tandem::pipeline
