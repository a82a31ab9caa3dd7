// Command lines. CLI11 takes the words apart; the rows of tables take the values.

#include "command_line.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "../../core/names.hpp"
#include "../../core/version.hpp"
#include "../../options/completion.hpp"
#include "../../options/help.hpp"
#include "../../options/manual.hpp"
#include "../../options/option_file.hpp"
#include "../../options/renamed.hpp"

namespace tandem::apps {

namespace {

using Words = std::vector<std::string>;

/// The text for a user who types only "tandem".
const std::string first_words =
    "X-ray tomography, from scan to volume. Type, for a first picture (volume.png):\n"
    "  tandem simulate -o scan.h5 --views 360 --photons 1e4\n"
    "  tandem recon scan.h5 -o volume.h5 --preview volume.png\n"
    "or, for a scan of yours, which may be a file or a folder of images:\n"
    "  tandem info SCAN\n"
    "tandem help lists all commands, tandem help recon the options of one.\n";

/// Makes the option of CLI11 that takes the values of a row.
void add(CLI::App& app, const Option& row, Values& values) {
  const auto keep = [&values](const CLI::results_t& results) { return values = results, true; };
  const std::string names = (row.letter ? std::string{'-', row.letter, ','} : "") + row.spelled();
  CLI::Option* option = app.add_option(names, keep)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (row.is_flag()) option->type_size(0)->expected(0)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (row.takes == Takes::nothing) option->disable_flag_override();  // --quiet=no
  if (row.takes == Takes::each || row.takes == Takes::many)
    option->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(row.takes == Takes::many);
}

/// The first option that the table does not know, if there is one.
std::string unknown_in(const Table& table, const Words& left) {
  const auto is_option = [](const std::string& text) { return text.size() > 1 && text[0] == '-'; };
  const auto option = std::ranges::find_if(left, is_option);
  if (option == left.end())
    return "'" + left.back() + "' is one argument too many" +
           (left.size() > 1    ? "; a pattern of images is given in quotes, 'FOLDER/*.tif'"
            : table.find("-o") ? "; an output is given by -o NAME"
                               : "");
  const std::string name = option->substr(0, option->find('='));
  const std::string successor = successor_of_option(name);
  Words names;
  for (const Option& row : table.rows())
    if (!row.is_argument) names.push_back(row.spelled());
  return "option " + name + " is not known" + (successor.empty() ? did_you_mean(name, names) : successor);
}

/// Keeps CLI11 from taking the word "[a]" as a list of values: as a path, "./[a]" is the same.
void keep_whole(std::string& word) {
  if (word.starts_with('[') && word.ends_with(']')) word = "./" + word;
}

std::string words_of(const CLI::ParseError& fault) {
  std::string text = fault.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&fault) && text.ends_with("missing"))
    return text.substr(0, text.find(':')) + ": its value is missing";
  if (text.ends_with("disallowed flag override"))
    return "--" + text.substr(0, text.find(' ')) + " takes no value";
  return text;
}

bool has(const Words& words, const char* what) { return std::ranges::find(words, what) != words.end(); }

std::vector<std::shared_ptr<Table>> all_tables() {
  std::vector<std::shared_ptr<Table>> tables;
  for (const Command* command : commands()) tables.push_back(table_of(*command));
  return tables;
}

std::vector<const Table*> pointers(const std::vector<std::shared_ptr<Table>>& tables) {
  std::vector<const Table*> all;
  for (const auto& table : tables) all.push_back(table.get());
  return all;
}

std::string help_of_program() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Command* command : commands()) all.emplace_back(command->name, command->what);
  return program_help(all);
}

/// The answer to `tandem help`, `tandem help recon all`, `tandem completion bash`; empty for other words.
std::string answer_to(const Words& words) {
  const std::string second = words.size() > 1 ? words[1] : "";
  const std::size_t most = words[0] == "help"         ? (second == "man" ? 2 : 3)
                           : words[0] == "completion" ? 2
                                                      : words.size();
  if (words.size() > most || (words[0] == "help" && words.size() == 3 && words[2] != "all"))
    throw UsageError("command line: '" + words.back() + "' is one argument too many; see tandem help");
  if (words[0] == "-h" || words[0] == "--help" || (words[0] == "help" && second.empty()))
    return help_of_program();
  if (words[0] == "help" && second == "man") return manual_of(pointers(all_tables()), TANDEM_VERSION, "");
  if (words[0] == "completion") return completion_for(second, pointers(all_tables()));
  const bool help = words[0] == "help";
  if (!help && !has(words, "-h") && !has(words, "--help") && !has(words, "--help-all")) return {};
  const auto asked = table_of(command_named(help ? second : words[0]));
  return has(words, "--help-all") || (help && has(words, "all")) ? full_help(*asked) : short_help(*asked);
}

/// CLI11 takes "-overwrite" as -o verwrite.
void refuse_single_hyphens(const Table& table, const Words& words) {
  for (const std::string& word : words)
    if (word.size() > 3 && word[0] == '-' && word[1] != '-' && table.find('-' + word))
      throw UsageError("option " + word + " is not known; did you mean -" + word + "?");
}

/// CLI11 takes the next word as the value of --name=.
void refuse_empty_values(const Table& table, const Words& words) {
  for (const std::string& word : words)
    if (word.size() > 3 && word.starts_with("--") && word.ends_with('=') &&
        table.find(word.substr(0, word.size() - 1)))
      throw UsageError(word.substr(0, word.size() - 1) +
                       ": the value is empty; leave the option out, or give a value");
}

void take_words(Table& table, Words words) {
  refuse_single_hyphens(table, words);
  refuse_empty_values(table, words);
  CLI::App app("", table.command);
  app.set_help_flag();
  app.allow_extras();
  std::vector<Values> values(table.rows().size());
  for (std::size_t k = 0; k < values.size(); ++k) add(app, table.rows()[k], values[k]);
  std::ranges::for_each(words, keep_whole);
  std::ranges::reverse(words);  // the order that CLI11 needs
  try {
    app.parse(words);
  } catch (const CLI::ParseError& fault) {
    throw UsageError(words_of(fault));
  }
  if (const Words left = app.remaining(); !left.empty()) throw UsageError(unknown_in(table, left));
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!values[k].empty()) table.take(table.rows()[k], values[k]);
}

}  // namespace

void give(Table& table, const Words& words) {
  try {
    take_words(table, words);
    take_files(table, [](const std::string& name) { return table_of(command_named(name)); });
    table.complete();
  } catch (const UsageError& error) {
    const std::string fault = error.what();
    throw UsageError("command line: " + fault + (fault.ends_with('?') ? " see" : "; see") + " tandem " +
                     table.command + " --help");
  }
}

std::shared_ptr<Table> parse_options(const Command& command, const Words& words) {
  std::shared_ptr<Table> table = table_of(command);
  give(*table, words);
  return table;
}

std::shared_ptr<Table> parse(const Words& words) {
  if (words.empty()) {
    std::cout << (isatty(STDOUT_FILENO) != 0 ? first_words : help_of_program());
    throw UsageError("command line: no command is given; give one of those above, or help");
  }
  if (const std::string answer = answer_to(words); !answer.empty()) {
    std::cout << answer;
    return nullptr;
  }
  return parse_options(command_named(words[0]), {words.begin() + 1, words.end()});
}

}  // namespace tandem::apps
