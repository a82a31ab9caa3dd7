#pragma once

#include <concepts>
#include <deque>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/space.hpp"

namespace tandem::options {

/// Options are wrong. This is found without opening a scan or a volume.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What an option decides. A recipe holds options of the result. A file of options may hold options of the
/// result and of the run. Options of files are taken only from a person: they say what is written, replaced
/// or served, or open files that the scan names.
enum class On { result, run, files };

/// How many values an option takes: none; none or one behind a "=", as --follow=views=720; one; one each time
/// it is given; as many as there are.
enum class Takes { nothing, details, one, each, many };

using Values = std::vector<std::string>;
/// Says what is wrong with a text, or nothing. May change the text, for example to lower case.
using Check = std::function<std::string(std::string& text)>;

/// One option, or one argument without dashes, of a command.
struct Option {
  std::string name;  ///< without dashes: "rotation-axis"
  char letter = 0;   ///< the o of -o; 0: none
  bool is_argument = false;
  std::string title;  ///< what a page calls it; empty: the name, with blanks for dashes
  std::string group, help;
  std::string brief;  ///< what the short help says in the place of its first clause; may be empty
  std::string
      kind;  ///< the kind of its value, for people: "A:B", "zero|fbp|FILE"; of a flag what details it takes
  std::string unit;   ///< "mm", "bins"; empty if it has none
  std::string usual;  ///< the default as text; empty if there is none
  On on = On::result;
  Takes takes = Takes::one;
  bool is_required = false;
  bool is_common = false;                    ///< whether people need it often, so that the short help has it
  bool is_hidden = false;                    ///< whether no help has it
  std::vector<std::string> excludes, needs;  ///< names of other options
  /// The option with which recipes record it: a file gives it only together with that one.
  std::string recorded_with;
  std::vector<std::string> choices;  ///< words that it takes, for completion
  std::vector<Check> checks;         ///< in the order in which they are made
  std::function<void(const Values& values)> set;
  std::function<bool(const Values& values)> names_file;  ///< see `names_a_file`; if empty, the kind tells
  Values given;                                          ///< what was given, checked; {"true"} for a flag
  bool from_file = false;  ///< whether a file or a volume gave it, and no person

  bool is_flag() const { return takes == Takes::nothing || takes == Takes::details; }
  bool is_given() const { return !given.empty(); }
  bool is_typed() const { return is_given() && !from_file; }
  bool names_a_file(const Values& values) const;  ///< whether these values name a file that is read
  std::string spelled() const { return (is_argument ? "" : "--") + name; }
  std::string in_words() const;  ///< the title, or what stands for it

  Option& check(Check one);
  Option& of_kind(std::string words);
  Option& in(std::string its_unit);
  Option& called(std::string its_title);
  Option& briefly(std::string words);
  Option& required();
  Option& without(const std::string& other);  ///< excludes another option
  Option& only_with(const std::string& other);
  Option& of_the_method();  ///< recipes record it with --reconstruction-algorithm
  Option& default_text(std::string text);
};

/// Number types of members.
template <class T>
concept Whole = std::integral<T> && !std::same_as<T, bool>;

std::string default_of(double value);
std::string default_of(Index value);
inline std::string default_of(const std::string& value) { return value; }
inline std::string default_of(bool) { return "false"; }
template <class T>
std::string default_of(const T& value) {
  if constexpr (Whole<T>)
    return default_of(static_cast<Index>(value));
  else if constexpr (std::floating_point<T>)
    return default_of(static_cast<double>(value));
  else if constexpr (requires { value.has_value(); })
    return value ? default_of(*value) : std::string();
  else
    return {};
}

/// The options of a command. Command lines, files, pages and Python give values to its rows; recipes and help
/// are written from them.
class Table {
 public:
  std::string command, what;                       ///< "recon", "Scan to volume"
  std::string footer;                              ///< the end of the help, with the examples
  std::vector<std::string> notes;                  ///< what a person should hear about options
  std::function<bool(const Option& row)> applies;  ///< whether an option has a meaning beside the others
  std::function<void()> work;                      ///< what the command does with its options

  Table(std::string name, std::string title) : command(std::move(name)), what(std::move(title)) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// The group of the options that are added from now on.
  void heading(std::string title) { group_ = std::move(title); }

  /// Adds an option that sets a member: a flag for a bool, an option that may be repeated for a list of
  /// texts. Names: "--size", "-o,--output", or "scan" for an argument. Numbers are decimal.
  template <class Member>
  Option& add(std::string_view names, On on, Member& member, std::string help) {
    Option& row = add_row(names, on, std::move(help));
    bind(row, member);
    row.usual = default_of(member);
    return row;
  }
  /// Adds an option with one value, which `set` takes. @throws what `set` throws, from `take`
  Option& add_parsed(std::string_view names, On on, std::function<void(const std::string& text)> set,
                     std::string help);
  /// Adds a flag that may have details; `set` takes them, or an empty text.
  Option& add_flag_with_details(std::string_view names, On on,
                                std::function<void(const std::string& details)> set, std::string details,
                                std::string help);

  /// Says which options people need often.
  void common(std::initializer_list<std::string_view> names);

  const std::deque<Option>& rows() const { return rows_; }
  std::deque<Option>& rows() { return rows_; }
  Option* find(std::string_view name);  ///< with dashes or without; null if there is none
  const Option* find(std::string_view name) const;
  Option& at(std::string_view name);  ///< @pre there is one
  bool given(std::string_view name) const;
  /// The option itself if it is given, or one that does not go with it; null if neither is given.
  const Option* settled_by(const Option& row) const;

  /// Checks values of an option and sets them. @throws UsageError that names the option
  void take(Option& row, Values values);
  /// Work that is done when all options are given: what is made of several, and checks.
  void at_end(std::function<void()> task) { at_end_.push_back(std::move(task)); }
  /// Ends the giving of options. @throws UsageError for options that are missing or do not go together
  void complete();

 private:
  Option& add_row(std::string_view names, On on, std::string help);
  static void bind(Option& row, bool& member);
  static void bind(Option& row, std::string& member);
  static void bind(Option& row, std::filesystem::path& member);
  static void bind(Option& row, std::vector<std::string>& member);
  static void bind(Option& row, std::vector<std::filesystem::path>& member);
  template <class Number>
  requires Whole<Number> || std::floating_point<Number>
  static void bind(Option& row, Number& member) { bind_number<Number>(row, member); }
  template <class Number>
  static void bind(Option& row, std::optional<Number>& member) {
    bind_number<Number>(row, member);
  }
  template <class Number, class Member>
  static void bind_number(Option& row, Member& member) {
    if constexpr (std::floating_point<Number>) {
      as_number(row);
      row.set = [&member](const Values& v) { member = static_cast<Number>(number(v)); };
    } else if constexpr (std::signed_integral<Number>) {
      as_whole(row);
      row.set = [&member](const Values& v) { member = static_cast<Number>(whole(v)); };
    } else {
      as_natural(row);
      row.set = [&member](const Values& v) { member = static_cast<Number>(natural(v)); };
    }
  }
  static void as_number(Option& row);
  static void as_whole(Option& row);
  static void as_natural(Option& row);
  static double number(const Values& values);
  static Index whole(const Values& values);
  static std::uint64_t natural(const Values& values);

  std::string group_;
  std::deque<Option> rows_;
  std::vector<std::function<void()>> at_end_;
};

}  // namespace tandem::options
