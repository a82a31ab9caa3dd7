#include "help.hpp"

#include <algorithm>

#include "texts.hpp"

namespace tandem::options {

namespace {

constexpr std::size_t columns = 100;
constexpr std::ptrdiff_t most_lines = 32, few_rows = 14;

/// A name, and beside it its description, or below it if the name is long.
std::string entry(const std::string& name, const std::string& description) {
  std::string text;
  for (const std::string& line : wrapped(name, columns - 6))
    text += (text.empty() ? "  " : "\n      ") + line;
  const std::size_t used = text.size();
  std::string indent(used < text_column ? text_column - used : text_column, ' ');
  if (used >= text_column) indent.insert(0, "\n");
  for (const std::string& line : wrapped(description, text_width)) {
    text += indent + line;
    indent = '\n' + std::string(text_column, ' ');
  }
  return text + '\n';
}

/// The name of a row with its letter and the kind of its value; of a long kind only the first words if the
/// name is to be narrow.
std::string name_of(const Option& row, bool narrow) {
  const std::string name = (row.letter == 0 ? "" : std::string{'-', row.letter, ','}) + row.spelled();
  const std::string required = row.is_required ? " (required)" : "";
  std::string kind = kind_behind(row);
  const std::size_t used = 3 + name.size() + required.size() + 4;  // with blanks and dots
  if (narrow && !row.is_flag() && used + kind.size() > text_column + 4 && used < text_column)
    if (const std::size_t bar = kind.rfind('|', text_column - used); bar != std::string::npos)
      kind = kind.substr(0, bar + 1) + "...";
  return name + kind + required;
}

std::string shown(const std::vector<std::string>& examples, std::size_t most) {
  std::string text = examples.empty() ? "" : "\nExamples:\n";
  for (std::size_t k = 0; k < std::min(most, examples.size()); ++k) {
    const std::string lines = "  " + in_lines(examples[k], columns - 2);
    for (const char c : lines) text += c == '\n' ? "\n  " : std::string{c};
    text += '\n';
  }
  return text;
}

/// How much a short help tells: lines for the text of a row, examples, and what stands between groups.
struct Brevity {
  std::size_t lines, examples;
  const char* gap;
};

std::string short_in(const Table& table, const Brevity& brevity) {
  std::string text = "Usage: " + usage_of(table) + '\n' + table.what + '\n';
  text += shown(footer_of(table).examples, brevity.examples) + '\n';
  const bool all = std::ranges::count(table.rows(), false, &Option::is_hidden) <= few_rows;
  for (Group& group : groups_of(table)) {
    std::erase_if(group.rows,
                  [&](const Option* row) { return !all && !row->is_required && !row->is_common; });
    if (!group.rows.empty()) text += group.title + ":\n";
    for (const Option* row : group.rows)
      text += entry(name_of(*row, brevity.lines == 1), summary_of(*row, brevity.lines));
    if (!group.rows.empty()) text += brevity.gap;
  }
  return text + "All options: tandem " + table.command + " --help-all\n";
}

}  // namespace

std::string short_help(const Table& table) {
  std::string text;
  for (const Brevity& brevity :
       {Brevity{2, 3, "\n"}, Brevity{2, 1, "\n"}, Brevity{1, 1, "\n"}, Brevity{1, 1, ""}})
    if (text = short_in(table, brevity); std::ranges::count(text, '\n') <= most_lines) break;
  return text;
}

std::string full_help(const Table& table) {
  const Footer footer = footer_of(table);
  std::string text = table.what + '\n' + shown(footer.examples, footer.examples.size());
  text += "\nUsage: " + usage_of(table) + '\n';
  for (const Group& group : groups_of(table)) {
    text += '\n' + group.title + ":\n";
    for (const Option* row : group.rows) text += entry(name_of(*row, false), words_of(*row));
  }
  return text + (footer.rest.empty() ? "" : '\n' + footer.rest);
}

std::string program_help(const std::vector<std::pair<std::string, std::string>>& commands) {
  std::string text =
      "X-ray tomography from matched projector pairs: from scan to volume.\n\n"
      "Examples:\n"
      "  tandem simulate -o scan.h5 --views 360 --photons 1e4 --truth truth.h5\n"
      "  tandem info scan.h5\n"
      "  tandem recon scan.h5 -o volume.h5 --preview volume.png\n\n"
      "Usage: tandem [options] COMMAND\n\n"
      "Options:\n";
  text += entry("-h,--help", "this list") + entry("--version", "the version") + "\nCommands:\n";
  for (const auto& [name, what] : commands) text += entry(name, what);
  return text +
         "\ntandem COMMAND --help shows what is needed often of a command, tandem COMMAND --help-all all of "
         "it.\n";
}

}  // namespace tandem::options
