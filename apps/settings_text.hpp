#pragma once

#include <string>
#include <vector>

namespace tandem::apps {

/// A line `name = value` of a file of options.
struct Setting {
  std::string name;
  std::vector<std::string> values;  ///< one, or those of a list
};

/// Reads the part of TOML that options need: names; strings in "" (with \", \\, \n, \t) or '', numbers, true
/// and false; lists of these in []; comments from # on. Words need no quotes, and a name alone is true, as in
/// INI. `where` is for messages. @throws UsageError for sections, and for a line that makes no sense
std::vector<Setting> read_settings(const std::string& text, const std::string& where);

/// The values of one setting as they stand behind the =. Numbers, true and false stay bare.
std::string toml_of(const std::vector<std::string>& values);

}  // namespace tandem::apps
