#pragma once

#include <string>
#include <vector>

#include "../../core/space.hpp"

namespace tandem::apps {

/// A line `name = value` of a file of options.
struct Setting {
  std::string name;
  std::vector<std::string> values;  ///< one value, or the values of a list
  Index line = 0;                   ///< number of its line, from 1
};

/// Reads the part of TOML that options need: names; strings in "" (with \", \\, \n, \t) or ''; numbers, true
/// and false; lists of these in []; comments from # on. As in INI, words need no quotes, and a name alone is
/// true. `where` is for messages, which do not show the text, since the file may have been named by mistake.
/// @throws UsageError for sections, and for a line that makes no sense
std::vector<Setting> read_settings(const std::string& text, const std::string& where);

/// The text of the values of a setting after the =. Numbers, true and false have no quotes.
std::string toml_of(const std::vector<std::string>& values);

}  // namespace tandem::apps
