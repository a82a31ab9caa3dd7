#pragma once

#include <string>
#include <vector>

#include "option.hpp"

namespace tandem::options {

/// A line `name = value` of a file of options.
struct Setting {
  std::string name;
  Values values;   ///< one value, or the values of a list
  Index line = 0;  ///< number of its line, from 1
};

/// Reads the options of a text in TOML: names with texts, numbers, true and false, or lists of these. `where`
/// is for messages, which do not show the text, since the file may have been named by mistake. @throws
/// UsageError for a text that is no TOML, for sections and for dates
std::vector<Setting> settings_in(const std::string& text, const std::string& where);

/// The text of the values of a setting after the =. Numbers, true and false have no quotes.
std::string toml_of(const Values& values);

}  // namespace tandem::options
