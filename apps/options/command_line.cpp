#include "command_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "../command.hpp"
#include "option_file.hpp"

namespace tandem::apps {

namespace {

constexpr std::size_t text_column = 34, text_width = 66;

/// The text for a user who types only "tandem".
const std::string first_words =
    "X-ray tomography, from scan to volume. Type, for a first picture (volume.png):\n"
    "  tandem simulate -o scan.h5 --views 360 --photons 1e4\n"
    "  tandem recon scan.h5 -o volume.h5 --preview volume.png\n"
    "or, for a scan of yours, which may be a file or a folder of images:\n"
    "  tandem info SCAN\n"
    "tandem help lists all commands, tandem help recon the options of one.\n";

/// The part of a footer with the examples: the line "Examples:" and the indented lines after it.
std::pair<std::size_t, std::size_t> examples_in(const std::string& footer) {
  const std::string head = "Examples:\n";
  const std::size_t first = std::min(footer.find(head), footer.size());
  std::size_t end = std::min(first + head.size(), footer.size());
  while (footer.compare(end, 2, "  ") == 0) end = std::min(footer.find('\n', end), footer.size() - 1) + 1;
  return {first, end};
}

/// Formats help: examples at the top, descriptions in lines that fit a terminal, and short words for kinds of
/// values.
class Formatter : public CLI::Formatter {
 public:
  Formatter() {
    column_width(text_column);
    label("INT", "N");
    label("UINT", "N");
    label("FLOAT", "X");
    label("TEXT", "NAME");
    label("Usage", "\nUsage");
    label("REQUIRED", "(required)");
    label("SUBCOMMAND", "COMMAND");
    label("OPTIONS", "options");
  }
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    const std::string text = CLI::Formatter::make_group(group, is_positional, options);
    return is_positional ? text : text.substr(0, text.size() - 1);  // one empty line between groups
  }
  std::string make_description(const CLI::App* app) const override {
    const auto [first, end] = examples_in(app->get_footer());
    const std::string examples = app->get_footer().substr(first, end - first);
    return CLI::Formatter::make_description(app) + '\n' + examples + (examples.ends_with('\n') ? "" : "\n");
  }
  std::string make_footer(const CLI::App* app) const override {
    std::string text = app->get_footer();
    const auto [first, end] = examples_in(text);
    text.erase(first, end - first);
    text.erase(0, text.find_first_not_of('\n'));
    return text.empty() ? "" : '\n' + text + '\n';
  }
  /// The kind of an option's value. The description says its default and what it excludes.
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0)
      return takes_details(*option) ? "[=" + option->get_type_name() + "]" : "";
    const bool several = option->get_expected_max() == CLI::detail::expected_max_vector_size &&
                         option->get_allow_extra_args();  // if not, it is given once for each value
    return (option->get_type_name().empty() ? "" : " " + get_label(option->get_type_name())) +
           (several ? " ..." : "") + (option->get_required() ? " " + get_label("REQUIRED") : "");
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    std::istringstream words(option->get_description());
    std::string text;
    std::size_t used = 0;
    for (std::string word; words >> word; used += word.size() + 1) {
      if (used > 0 && used + word.size() > text_width) text += '\n', used = 0;
      text += (used > 0 ? " " : "") + word;
    }
    return text;
  }
};

std::vector<std::string> commands_of(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

CLI::App& command_named(CLI::App& program, const std::string& name) {
  const std::vector<std::string> known = commands_of(program);
  if (std::count(known.begin(), known.end(), name) > 0) return *program.get_subcommand(name);
  std::string list;
  for (const std::string& command : known) list += " " + command;
  throw UsageError("command line: command '" + name + "' is not known" + did_you_mean(name, known) +
                   "; one of" + list);
}

void print_help(CLI::App& program, const std::vector<std::string>& words) {
  std::cout << (words.size() > 1 ? command_named(program, words[1]).help("tandem") : program.help());
}

/// The first option that the command did not know, if there is one.
std::string unknown_in(const CLI::App& command) {
  const std::vector<std::string> left = command.remaining();
  const auto is_option = [](const std::string& text) { return text.size() > 1 && text[0] == '-'; };
  const auto option = std::find_if(left.begin(), left.end(), is_option);
  if (option == left.end()) return "";
  const std::string name = option->substr(0, option->find('='));
  return "option " + name + " is not known" + did_you_mean(name, options_of(command));
}

/// Keeps CLI11 from taking the word "[a]" as a list of values: as a path, "./[a]" is the same.
void keep_whole(std::string& word) {
  if (word.starts_with('[') && word.ends_with(']')) word = "./" + word;
}

std::string words_of(const CLI::ParseError& fault, const CLI::App& command) {
  std::string text = fault.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&fault) && text.ends_with("missing"))
    return text.substr(0, text.find(':')) + ": its value is missing";
  if (text.ends_with("disallowed flag override"))
    return "--" + text.substr(0, text.find(' ')) + " takes no value";
  if (dynamic_cast<const CLI::ExcludesError*>(&fault)) {
    const std::string between = " excludes ";
    return text.replace(text.find(between), between.size(), " and ") + " do not go together";
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&fault) && !command.remaining().empty())
    return "'" + command.remaining().back() + "' is one argument too many";
  return text;
}

}  // namespace

void heading(CLI::App& command, const char* title) { command.option_defaults()->group(title); }

void prepare(CLI::App& program) {
  program.formatter(std::make_shared<Formatter>());
  for (CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    require_proper_values(*command);
    command->formatter(program.get_formatter());
    command->group("Commands");
  }
}

bool parse(CLI::App& program, int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    std::cout << (isatty(STDOUT_FILENO) != 0 ? first_words : program.help());
    throw UsageError("command line: no command is given; give one of those above, or help");
  }
  if (words[0] == "help") return print_help(program, words), false;
  const CLI::App& command = words[0].starts_with('-') ? program : command_named(program, words[0]);
  std::string fault;
  try {
    std::vector<std::string> all = with_option_file(command, words);
    std::ranges::for_each(all, keep_whole);
    std::ranges::reverse(all);  // the order that CLI11 needs
    program.parse(all);
    return true;
  } catch (const CLI::Success& asked) {  // help, version
    program.exit(asked);
    return false;
  } catch (const CLI::ParseError& error) {
    fault = words_of(error, command);
  } catch (const UsageError& error) {
    fault = error.what();
  }
  if (const std::string unknown = unknown_in(command); !unknown.empty()) fault = unknown;  // says more
  const std::string name = &command == &program ? "" : command.get_name() + " ";
  throw UsageError("command line: " + fault + (fault.ends_with('?') ? " see" : "; see") + " tandem " + name +
                   "--help");
}

}  // namespace tandem::apps
