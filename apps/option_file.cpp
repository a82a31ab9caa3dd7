#include "option_file.hpp"

#include <algorithm>
#include <fstream>

#include "../core/error.hpp"
#include "command.hpp"
#include "recipe_text.hpp"
#include "settings_text.hpp"

namespace tandem::apps {

namespace {

/// The value of an option among the words; empty where it is not there.
std::string value_in(const std::vector<std::string>& words, const std::string& option) {
  const auto found = std::ranges::find_if(
      words, [&](const std::string& word) { return word == option || word.starts_with(option + "="); });
  if (found == words.end()) return {};
  const bool apart = *found == option;
  if (apart && found + 1 == words.end()) throw UsageError(option + ": its value is missing");
  std::string value = apart ? found[1] : found->substr(option.size() + 1);
  if (value.empty()) throw UsageError(option + ": the value is empty; give the name of a file");
  return value;
}

std::string text_of_file(const std::string& file) {
  std::ifstream text(file);
  require<FileError>(text.good(), file, ": cannot be read; --config takes the name of a file of options");
  return {std::istreambuf_iterator<char>(text), {}};
}

/// The name of the option that a word is; empty for other words.
std::string name_in(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : std::string();
}

/// Whether one of the words is this option, by any of its names, or one that it excludes.
bool settled(const std::vector<std::string>& words, const CLI::Option& option) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    const bool is_short = word.size() > 1 && word[0] == '-' && word[1] != '-';
    const std::string name = is_short ? word.substr(0, 2) : name_in(word);
    if (name.empty()) return false;
    return option.check_name(name) ||
           std::ranges::any_of(option.get_excludes(),
                               [&](const CLI::Option* other) { return other->check_name(name); });
  });
}

/// A flag is said or left out; what may be repeated is said once a value.
std::vector<std::string> words_of(const CLI::Option& known, const Setting& item) {
  const std::string name = "--" + item.name;
  if (known.get_items_expected_max() == 0)
    return item.values == std::vector<std::string>{"true"} ? std::vector{name} : std::vector<std::string>{};
  std::vector<std::string> words;
  for (const std::string& value : item.values) words.insert(words.end(), {name, value});
  return words;
}

const CLI::Option& known_option(const CLI::App& command, const std::string& where, const std::string& name) {
  if (const CLI::Option* known = command.get_option_no_throw("--" + name)) return *known;
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& one : option->get_lnames()) names.push_back(one);
  throw UsageError(where + ": option " + name + " is not known" + did_you_mean(name, names));
}

/// Adds the options of a text, as far as no word settles them.
void add(const CLI::App& command, const std::string& where, const std::string& text,
         std::vector<std::string>& words) {
  std::vector<std::string> added;
  for (const Setting& item : read_settings(text, where)) {
    const CLI::Option& known = known_option(command, where, item.name);
    if (settled(words, known)) continue;
    const std::vector<std::string> more = words_of(known, item);
    added.insert(added.end(), more.begin(), more.end());
  }
  words.insert(words.begin() + 1, added.begin(), added.end());
}

}  // namespace

std::vector<std::string> with_option_file(const CLI::App& command, std::vector<std::string> words) {
  if (const std::string file = value_in(words, "--config"); !file.empty())
    add(command, "--config " + file, text_of_file(file), words);
  if (command.get_name() != "recon") return words;  // elsewhere --like takes a scan
  if (const std::string volume = value_in(words, "--like"); !volume.empty())
    add(command, "--like " + volume, config_in(volume), words);
  return words;
}

}  // namespace tandem::apps
