#include "option_file.hpp"

#include <algorithm>

#include "../../core/error.hpp"
#include "../../core/names.hpp"
#include "../../io/files/text_file.hpp"
#include "../command.hpp"
#include "recipe_text.hpp"
#include "settings_text.hpp"

namespace tandem::apps {

namespace {

constexpr Index most_bytes = 1 << 22;  // the size of a file of options

/// The value of an option among the words; empty if it is not there.
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

/// The name of the option that a word is; empty for other words.
std::string name_in(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : std::string();
}

/// Whether one of the words is this option, by any of its names, or an option that it excludes.
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

/// A source of options beside the command line.
struct Origin {
  std::string name;  ///< for messages: "--config run.toml"
  bool is_volume;

  [[noreturn]] void refuse(const std::string& what) const {
    if (is_volume) throw FileError(name + ": " + what);
    throw UsageError(name + ": " + what);
  }
};

std::optional<bool> flag_in(const std::vector<std::string>& values) {
  const std::string word = values.size() == 1 ? in_lower_case(values.front()) : "";
  for (const char* yes : {"true", "yes", "on", "1"})
    if (word == yes) return true;
  for (const char* no : {"false", "no", "off", "0"})
    if (word == no) return false;
  return std::nullopt;
}

/// The words of an option. A flag is there or left out. An option that may be repeated comes once for each
/// value.
std::vector<std::string> words_of(const CLI::Option& known, const Setting& item, const Origin& from) {
  const std::string name = "--" + item.name;
  if (is_flag(known)) {
    const std::optional<bool> is_said = flag_in(item.values);
    if (!is_said && takes_details(known)) return {name + '=' + joined(item.values, ",")};
    if (!is_said)
      from.refuse("line " + std::to_string(item.line) + ": " + item.name +
                  " is a flag; true or false is needed");
    return *is_said ? std::vector{name} : std::vector<std::string>{};
  }
  std::vector<std::string> words;
  for (const std::string& value : item.values) words.insert(words.end(), {name, value});
  return words;
}

/// The option that a setting names. An unknown name is shown only as far as it resembles a known one, since
/// the file may have been named by mistake.
const CLI::Option& known_option(const CLI::App& command, const Origin& from, const Setting& item) {
  if (const CLI::Option* known = command.get_option_no_throw("--" + item.name)) return *known;
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& one : option->get_lnames()) names.push_back(one);
  const std::string similar = did_you_mean(item.name, names);
  from.refuse("line " + std::to_string(item.line) +
              (similar.empty() ? " names no option of tandem " + command.get_name()
                               : ": option " + item.name + " is not known" + similar));
}

/// The reason why an option is taken only from the command line; empty if it may come from here. Anybody may
/// have written a file, so it may decide what the volume becomes, and not what is written, replaced or
/// served. A volume may not name files to be read either.
std::string forbidden(const CLI::Option& known, const Setting& item, bool in_volume) {
  const std::string name = known.get_lnames().front();
  if (in_volume && !decides_the_volume(known))
    return "its recipe has --" + name + ", which decides nothing of a volume; tandem wrote no such recipe";
  if (in_volume && names_a_file(name, known.get_type_name(), item.values))
    return "was made with --" + name + " FILE, and no file is read because a volume names it; give --" +
           name + " too";
  if (!known.get_configurable())
    return "line " + std::to_string(item.line) + ": --" + name +
           " is not taken from a file, which may be anybody's; give it on the command line";
  return "";
}

/// Adds the options of a text, as far as no word settles them.
void add_settings(const CLI::App& command, const Origin& from, const std::string& text,
                  std::vector<std::string>& words) {
  std::vector<std::string> added;
  for (const Setting& item : read_settings(text, from.name)) {
    const CLI::Option& known = known_option(command, from, item);
    if (settled(words, known)) continue;
    const std::vector<std::string> more = words_of(known, item, from);
    if (more.empty()) continue;
    if (const std::string why = forbidden(known, item, from.is_volume); !why.empty()) from.refuse(why);
    added.insert(added.end(), more.begin(), more.end());
  }
  words.insert(words.begin() + 1, added.begin(), added.end());
}

/// Adds the options of a volume's recipe. If the recipe is damaged, or no TOML, the error names the file.
void add_recipe(const CLI::App& command, const std::string& volume, std::vector<std::string>& words) {
  try {
    add_settings(command, {"--like " + volume, true}, config_in(volume), words);
  } catch (const UsageError& fault) {
    throw FileError(fault.what());
  }
}

}  // namespace

std::vector<std::string> with_option_file(const CLI::App& command, std::vector<std::string> words) {
  if (const std::string file = value_in(words, "--config"); !file.empty())
    add_settings(command, {"--config " + file, false},
                 io::text_of_file(file, "a file of options", most_bytes), words);
  if (command.get_name() != "recon") return words;  // in other commands --like takes a scan
  if (const std::string volume = value_in(words, "--like"); !volume.empty())
    add_recipe(command, volume, words);
  return words;
}

}  // namespace tandem::apps
