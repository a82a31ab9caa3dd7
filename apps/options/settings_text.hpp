#pragma once

#include <string>
#include <vector>

#include "../../core/space.hpp"

namespace tandem::apps {

/// A line `name = value` of a file of options.
struct Setting {
  std::string name;
  std::vector<std::string> values;  ///< one, or those of a list
  Index line = 0;                   ///< where it stands, from 1
};

/// Reads the part of TOML that options need: names; strings in "" (with \", \\, \n, \t) or '', numbers, true
/// and false; lists of these in []; comments from # on. Words need no quotes, and a name alone is true, as in
/// INI. `where` is for messages, which do not show the text: the file may be another than was meant. @throws
/// UsageError for sections, and for a line that makes no sense
std::vector<Setting> read_settings(const std::string& text, const std::string& where);

/// The values of one setting as they stand behind the =. Numbers, true and false stay bare.
std::string toml_of(const std::vector<std::string>& values);

}  // namespace tandem::apps
