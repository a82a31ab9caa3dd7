#include "option_file.hpp"

#include <algorithm>
#include <fstream>

#include "../core/error.hpp"
#include "command.hpp"

namespace tandem::apps {

namespace {

const std::string option = "--config";

/// Takes the option and its value out of the words; empty where it is not there.
std::string taken_out(std::vector<std::string>& words) {
  const auto found = std::ranges::find_if(
      words, [](const std::string& word) { return word == option || word.starts_with(option + "="); });
  if (found == words.end()) return {};
  const bool apart = *found == option;
  if (apart && found + 1 == words.end())
    throw UsageError("command line: " + option + ": its value is missing");
  std::string name = apart ? found[1] : found->substr(option.size() + 1);
  words.erase(found, found + (apart ? 2 : 1));
  if (name.empty())
    throw UsageError("command line: " + option + ": the value is empty; give the name of a file");
  return name;
}

/// A flag is said or left out; what may be repeated is said once a value.
std::vector<std::string> words_of(const CLI::App& command, const CLI::ConfigItem& item) {
  const std::string name = "--" + item.name;
  const CLI::Option* known = command.get_option_no_throw(name);
  if (known && known->get_items_expected_max() == 0)
    return item.inputs == std::vector<std::string>{"true"} ? std::vector{name} : std::vector<std::string>{};
  std::vector<std::string> words;
  for (const std::string& value : item.inputs) words.insert(words.end(), {name, value});
  return words;
}

}  // namespace

std::vector<std::string> with_option_file(const CLI::App& command, std::vector<std::string> words) {
  const std::string file = taken_out(words);
  if (file.empty()) return words;
  std::ifstream text(file);
  require<FileError>(text.good(), file, ": cannot be read; ", option, " takes the name of a file of options");
  std::vector<std::string> added;
  for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(text)) {
    if (!item.parents.empty())
      throw UsageError("command line: " + option + " " + file + ": options must not be in a section, " +
                       item.name + " is in [" + item.parents.front() + "]");
    const std::string name = "--" + item.name, with_value = name + "=";
    if (std::ranges::any_of(words,
                            [&](const std::string& w) { return w == name || w.starts_with(with_value); }))
      continue;
    const std::vector<std::string> more = words_of(command, item);
    added.insert(added.end(), more.begin(), more.end());
  }
  words.insert(words.begin() + 1, added.begin(), added.end());
  return words;
}

}  // namespace tandem::apps
