#include "manual.hpp"

#include <algorithm>
#include <sstream>

#include "texts.hpp"

namespace tandem::options {

namespace {

constexpr std::size_t source_width = 72, example_width = 70;

/// A text as roff shows it, sign by sign, on one line of the source.
std::string in_roff(const std::string& text) {
  const std::string signs = "\\-'\"`^~";
  const std::vector<std::string> escapes{"\\e", "\\-", "\\(aq", "\\(dq", "\\(ga", "\\(ha", "\\(ti"};
  std::string shown_text = text.starts_with('.') ? "\\&" : "";
  for (const char sign : text) {
    const std::size_t at = signs.find(sign);
    shown_text +=
        at != std::string::npos ? escapes[at] : std::string{sign == '\n' || sign == '\t' ? ' ' : sign};
  }
  return shown_text;
}

std::string bold(const std::string& text) { return "\\fB" + in_roff(text) + "\\fR"; }

/// Prose, which roff fills into lines.
std::string prose(const std::string& text) {
  std::string lines;
  for (const std::string& line : wrapped(text, source_width)) lines += in_roff(line) + '\n';
  return lines;
}

std::string tagged(const std::string& tag, const std::string& text) {
  return ".TP\n" + tag + '\n' + (text.empty() ? "\\&\n" : prose(text));
}

std::string tagged_row(const Option& row) {
  std::string tag = row.letter == 0 ? "" : bold({'-', row.letter}) + ", ";
  tag += bold(row.spelled());
  if (const std::string kind = kind_behind(row); !kind.empty()) tag += "\\fI" + in_roff(kind) + "\\fR";
  return tagged(tag + (row.is_required ? " (required)" : ""), words_of(row));
}

/// The rest of a footer: lines that are not indented head a list, lines that are more indented than its
/// entries continue them.
std::string lists(const std::string& rest) {
  std::string text;
  std::istringstream lines(rest);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos) continue;
    const std::size_t colon = line.find(": ");
    if (indent == 2 && colon != std::string::npos)
      text += tagged(bold(line.substr(2, colon - 2)), line.substr(colon + 2));
    else
      text += (indent == 0 ? ".PP\n" : indent == 2 ? ".IP\n" : "") + prose(line);
  }
  return text;
}

std::string examples_of(const Table& command) {
  std::string text = ".SS " + in_roff(command.command) + "\n.nf\n";
  const std::vector<std::string> examples = footer_of(command).examples;
  for (const std::string& example : examples) {
    std::istringstream lines(in_lines(example, example_width));
    for (std::string line; std::getline(lines, line);) text += in_roff(line) + '\n';
  }
  return examples.empty() ? "" : text + ".fi\n";
}

/// Whether several commands have this row, and all of them.
bool is_of_all(const Option& row, const std::vector<const Table*>& commands) {
  return commands.size() > 1 && std::ranges::all_of(commands, [&](const Table* command) {
           const Option* own = command->find(row.spelled());
           return own && own->help == row.help && own->kind == row.kind && own->is_hidden == row.is_hidden;
         });
}

std::string section_of(const Table& command, const std::vector<const Table*>& commands) {
  std::string text =
      ".SS " + in_roff(command.command + " - " + command.what) + '\n' + prose(usage_of(command));
  for (Group& group : groups_of(command)) {
    std::erase_if(group.rows, [&](const Option* row) { return is_of_all(*row, commands); });
    if (!group.rows.empty()) text += ".PP\n" + bold(group.title) + '\n';
    for (const Option* row : group.rows) text += tagged_row(*row);
  }
  return text + lists(footer_of(command).rest);
}

using List = std::vector<std::pair<std::string, std::string>>;

const List exit_codes{{"0", "All went well; warnings say where the result may not be what you want."},
                      {"1", "A check did not hold (tandem check)."},
                      {"2", "The command line is wrong."},
                      {"3", "A file is missing, unreadable or not what it claims."},
                      {"4", "The geometry or a parameter makes no sense for this scan."},
                      {"5", "The device failed, memory does not suffice, or a port is in use."},
                      {"128 + N", "Signal N ended the run."}};

const List variables{
    {"TANDEM_CACHE", "The folder where rates of this machine are kept."},
    {"XDG_CACHE_HOME", "If TANDEM_CACHE is not set, they are kept in the folder tandem in it."},
    {"TANDEM_SIMD",
     "The set of instructions that the kernels of the CPU use, in the place of the widest one; tandem "
     "--version "
     "lists them."},
    {"HDF5_EXT_PREFIX, HDF5_VDS_PREFIX, HDF5_EXTFILE_PREFIX",
     "Where files are looked for that an HDF5 file names: external links, virtual data sets, raw data."},
    {"CUDA_VISIBLE_DEVICES", "The GPUs that a run sees."}};

const List files{{"~/.cache/tandem/rates.json",
                  "Rates of this machine, from which --dry-run forecasts the time of a run."}};

std::string list_of(const std::string& title, const List& entries) {
  std::string text = ".SH " + title + '\n';
  for (const auto& [name, words] : entries) text += tagged(bold(name), words);
  return text;
}

}  // namespace

std::string manual_of(const std::vector<const Table*>& commands, const std::string& version,
                      const std::string& date) {
  std::string text =
      ".TH TANDEM 1 \"" + date + "\" \"" + in_roff("tandem " + version) +
      "\" \"User Commands\"\n"
      ".SH NAME\ntandem \\- X\\-ray tomography, from scan to volume\n"
      ".SH SYNOPSIS\n.B tandem\n.I COMMAND\n.RI [ options ]\n.RI [ arguments ]\n"
      ".SH DESCRIPTION\n" +
      prose(
          "tandem makes volumes from X-ray scans with parallel, fan and cone beams, on CPUs and "
          "CUDA GPUs. Projector and back-projector of a method are transposes of each other. "
          "tandem COMMAND --help shows the options that are needed often, tandem COMMAND "
          "--help-all shows all of them.") +
      ".SH COMMANDS\n";
  for (const Table* command : commands) text += section_of(*command, commands);
  std::string shared, examples;
  for (const Table* command : commands) examples += examples_of(*command);
  if (!commands.empty())
    for (const Group& group : groups_of(*commands.front()))
      for (const Option* row : group.rows)
        if (is_of_all(*row, commands)) shared += tagged_row(*row);
  if (!shared.empty()) text += ".SH OPTIONS OF EVERY COMMAND\n" + shared;
  if (!examples.empty()) text += ".SH EXAMPLES\n" + examples;
  return text + list_of("EXIT STATUS", exit_codes) + ".PP\n" +
         prose(
             "An error is one line on standard error: where, which quantity, its value, and what would be "
             "right.") +
         list_of("ENVIRONMENT", variables) + list_of("FILES", files) +
         ".SH SEE ALSO\n.BR h5dump (1),\n.BR mpirun (1)\n";
}

}  // namespace tandem::options
