#include "completion.hpp"

#include <algorithm>

#include "texts.hpp"

namespace tandem::options {

namespace {

using Tables = std::vector<const Table*>;

/// What may follow a name.
struct Choices {
  std::string words;       ///< with a blank before each
  std::string open_words;  ///< the same, behind which something must follow: " views= seconds="
  bool files = false;      ///< names of files
};

/// A text that the shells read as it stands: its words need no quotes, and none begins with a dash.
bool is_plain(const std::string& word) {
  const std::string letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  return word.find_first_of(letters) != std::string::npos && !word.starts_with('-') &&
         word.find_first_not_of(letters + "_+-.=") == std::string::npos;
}

/// The choices that a kind names: parts between bars and commas, up to a bracket or with their "=", are words
/// if they have no upper case. FILE and VOLUME are files, and so is NAME for options that say what is read or
/// written, and an argument without words.
Choices choices_of(const Option& row) {
  std::vector<std::string> parts{""};
  int depth = 0;
  for (const char sign : row.kind) {
    depth += (sign == '[') - (sign == ']');
    if (depth == 0 && (sign == '|' || sign == ','))
      parts.emplace_back();
    else if (depth == 0 && sign != ']' && !parts.back().ends_with('='))
      parts.back() += sign;
  }
  if (!row.choices.empty()) parts = row.choices;
  Choices choices;
  for (const std::string& part : parts)
    if (is_plain(part)) (part.ends_with('=') ? choices.open_words : choices.words) += " " + part;
  const auto names = [&](const char* word) { return row.kind.find(word) != std::string::npos; };
  const bool has_name = names("FILE") || names("VOLUME") || (row.kind == "NAME" && row.on == On::files);
  choices.files =
      !row.is_flag() && (has_name || row.names_file || (row.is_argument && choices.words.empty()));
  return choices;
}

/// The rows with dashes, or those without.
std::vector<const Option*> rows_of(const Table& table, bool arguments) {
  std::vector<const Option*> rows;
  for (const Group& group : groups_of(table))
    for (const Option* row : group.rows)
      if (row->is_argument == arguments) rows.push_back(row);
  return rows;
}

/// A text with something before each of these signs.
std::string with(const std::string& before, const std::string& signs, const std::string& text) {
  std::string all;
  for (const char sign : text) all += (signs.find(sign) == std::string::npos ? "" : before) + sign;
  return all;
}

// bash: for each row a pattern of "command name" or "command name=", and what may follow.

constexpr const char* bash_start = R"(# Completion of tandem for bash
_tandem() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words='' files=''
  if [[ $current == = ]]; then current='' before+='='
  elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}=
  fi
  ((COMP_CWORD == 1)) && before=tandem || before="${COMP_WORDS[1]} $before"
  case $before in
)";
constexpr const char* bash_end = R"(  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; [[ $files ]] && compgen -f -- "$current")
  [[ $files ]] && compopt -o filenames 2> /dev/null
  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2> /dev/null
  return 0
}
complete -F _tandem tandem
)";

std::string bash_choices(const Choices& choices) {
  return ") words='" + choices.words + choices.open_words + "' files='" + (choices.files ? "1'" : "'");
}

/// The values of a row, behind "recon --name=", and if it needs one behind "recon --name".
std::string bash_case(const std::string& command, const Option& row) {
  std::string patterns = command + row.spelled() + "='";
  if (row.takes != Takes::details) patterns += "|" + command + row.spelled() + "'";
  if (row.letter != 0) patterns += "|" + command + '-' + row.letter + "'";
  return "    " + patterns + bash_choices(choices_of(row)) + " ;;\n";
}

std::string for_bash(const Tables& commands) {
  std::string names, cases;
  for (const Table* command : commands) {
    names += command->command + " ";
    const std::string start = "'" + command->command + " ";
    std::string options;
    Choices all;
    for (const Option* row : rows_of(*command, false)) {
      options += (row->letter == 0 ? " " : std::string{' ', '-', row->letter, ' '}) + row->spelled();
      if (row->takes != Takes::nothing) cases += bash_case(start, *row);
    }
    for (const Option* row : rows_of(*command, true)) {
      const Choices own = choices_of(*row);
      all.words += own.words;
      all.files |= own.files;
    }
    cases += "    " + start + "'*" + bash_choices(all) + "\n      [[ $current == -* ]] && words='" + options +
             "' files='' ;;\n";
  }
  return bash_start + ("    tandem) words='" + names) + "--help --version' ;;\n" + cases + bash_end;
}

// zsh: for each row a specification of _arguments.

constexpr const char* zsh_start = R"(#compdef tandem
# Completion of tandem for zsh
_tandem() {
  local -a commands=(
)";
constexpr const char* zsh_middle = R"(  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
)";
constexpr const char* zsh_end = R"(  esac
}
if [[ $funcstack[1] == _tandem ]]; then _tandem "$@"; else compdef _tandem tandem; fi
)";

std::string in_zsh(const std::string& text) {
  std::string quoted_text = "'";
  for (const char sign : text) quoted_text += sign == '\'' ? "'\\''" : std::string{sign};
  return quoted_text + "'";
}

/// ":kind:action" of _arguments.
std::string zsh_value(const Option& row) {
  const Choices choices = choices_of(row);
  const std::string kind = row.is_argument ? row.name : row.kind;
  std::string action = choices.words.empty() ? "" : "compadd --" + choices.words + "; ";
  if (!choices.open_words.empty()) action += "compadd -S \"\" --" + choices.open_words + "; ";
  if (choices.files) action += "_files; ";
  return ":" + with("\\", ":\\", kind) + ":" + (action.empty() ? " " : "{" + action + "}");
}

std::string zsh_row(const Option& row) {
  if (row.is_argument)
    return in_zsh((row.takes == Takes::many ? "*" : row.is_required ? "" : ":") + zsh_value(row));
  const bool repeats = row.takes == Takes::each || row.takes == Takes::many;
  const bool takes_details = row.takes == Takes::details, takes_none = row.takes == Takes::nothing;
  const std::string name = row.spelled() + (takes_none ? "" : takes_details ? "=-" : "=");
  const std::string text = "[" + with("\\", "[]:\\", summary_of(row, 1)) + "]" + (takes_details ? ":" : "") +
                           (takes_none ? "" : zsh_value(row));
  if (row.letter == 0) return in_zsh((repeats ? "*" : "") + name + text);
  const std::string letter = {'-', row.letter};
  return in_zsh(repeats ? "*" : "(" + letter + " " + row.spelled() + ")") + "{" + letter +
         (row.is_flag() ? "" : "+") + "," + name + "}" + in_zsh(text);
}

std::string for_zsh(const Tables& commands) {
  std::string names, cases;
  for (const Table* command : commands) {
    names += "    " + in_zsh(command->command + ":" + with("\\", ":\\", command->what)) + '\n';
    cases += "    " + command->command + ") _arguments -S";
    for (const bool arguments : {false, true})
      for (const Option* row : rows_of(*command, arguments)) cases += " \\\n      " + zsh_row(*row);
    cases += " ;;\n";
  }
  return zsh_start + names + zsh_middle + cases + zsh_end;
}

// fish: for each row a call of complete.

std::string in_fish(const std::string& text) { return "'" + with("\\", "\\'", text) + "'"; }

std::string fish_choices(const Choices& choices) {
  const std::string words = choices.words + choices.open_words;
  return (choices.files ? " -F" : " -f") + (words.empty() ? "" : " -a " + in_fish(words.substr(1)));
}

std::string for_fish(const Tables& commands) {
  const std::string start = "complete -c tandem";
  std::string text = "# Completion of tandem for fish\n" + start + " -f\n";
  for (const Table* command : commands) {
    text +=
        start + " -n __fish_use_subcommand -a " + command->command + " -d " + in_fish(command->what) + '\n';
    const std::string with_command = start + " -n '__fish_seen_subcommand_from " + command->command + "'";
    for (const Option* row : rows_of(*command, true))
      text += with_command + fish_choices(choices_of(*row)) + '\n';
    for (const Option* row : rows_of(*command, false)) {
      text += with_command + (row->letter == 0 ? "" : std::string(" -s ") + row->letter) + " -l " + row->name;
      if (row->takes != Takes::nothing)
        text += (row->takes == Takes::details ? "" : " -r") + fish_choices(choices_of(*row));
      text += " -d " + in_fish(summary_of(*row, 1)) + '\n';
    }
  }
  return text;
}

}  // namespace

std::string completion_for(const std::string& shell, const Tables& commands) {
  if (shell == "bash") return for_bash(commands);
  if (shell == "zsh") return for_zsh(commands);
  if (shell == "fish") return for_fish(commands);
  throw UsageError("shell '" + shell + "' is not known; one of bash, zsh, fish");
}

}  // namespace tandem::options
