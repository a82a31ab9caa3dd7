#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../../core/space.hpp"

namespace tandem::pipeline {

// The kinds of value that an option of a step takes, and the type in which each is kept. Numbers may have a
// unit: "mm".
struct TrueOrFalse {
  using Value = bool;
};
/// A range of columns of the file, or several.
struct Columns {
  using Value = std::vector<Range>;
  std::size_t most = 2;
};
struct PositiveNumber {
  using Value = double;
  double highest;
  std::string_view unit = {};
};
struct WholeNumber {
  using Value = Index;
  Index lowest, highest;
  std::string_view unit = {};
};
struct Number {
  using Value = double;
  double lowest, highest;
  std::string_view unit = {};
};
/// One or more numbers, or a word in lower case in their place, which says how they are found; that word is
/// kept until they are.
struct NumbersOr {
  using Value = std::vector<double>;
  std::vector<std::string> words;
};
/// The name of a text file.
struct FileName {
  using Value = std::string;
};
struct OneOf {
  using Value = std::string;
  std::vector<std::string> words;  ///< in lower case
};

/// What a user gave, by the name of the option: true or false, columns, a number, a whole number, a
/// word or the name of a file, or numbers.
using StepValue = std::variant<bool, std::vector<Range>, double, Index, std::string, std::vector<double>>;
using StepValues = std::map<std::string, StepValue, std::less<>>;

/// An option that a step brings to the command line, by its name without dashes.
struct StepOption {
  std::string_view name, help;
  std::variant<TrueOrFalse, Columns, PositiveNumber, WholeNumber, Number, NumbersOr, FileName, OneOf> takes;
  /// Options behind the value, as in `--dezinger 3:threshold=500,sign=both`. Before the colon, their names
  /// have the value that they go with, "vo-large:size", or the name of this option if that may be any.
  std::vector<StepOption> behind = {};
  std::string_view title = {};  ///< what a page calls it; empty: the bare name, with blanks for dashes

  /// The name; behind a value, the part after the colon.
  std::string_view bare_name() const { return name.substr(name.find(':') + 1); }
  bool is_given(const StepValues& values) const { return values.contains(name); }
  /// The part of the name before the colon, for an option behind a value.
  std::string_view goes_with() const { return name.substr(0, name.find(':')); }
  /// "mm", "bins"; empty if its value is no number, or one without a unit.
  std::string_view unit() const {
    return std::visit(
        [](const auto& kind) {
          if constexpr (requires { kind.unit; })
            return kind.unit;
          else
            return std::string_view();
        },
        takes);
  }
};

/// An option with the kind of its value: the key to what a user gave for it.
template <class Kind>
struct Option : StepOption {
  using Value = typename Kind::Value;

  Option(std::string_view word, std::string_view words_of_help, Kind kind,
         std::vector<StepOption> behind_it = {}, std::string_view its_title = {})
      : StepOption{word, words_of_help, std::move(kind), std::move(behind_it), its_title} {}

  /// What a user gave; empty if nothing. A whole number is a number, too.
  std::optional<Value> of(const StepValues& values) const {
    const auto at = values.find(name);
    if (at == values.end()) return {};
    if constexpr (std::is_same_v<Value, double>)
      if (const Index* whole = std::get_if<Index>(&at->second)) return *whole;
    if constexpr (std::is_same_v<Kind, NumbersOr>)
      if (std::holds_alternative<std::string>(at->second)) return Value{};
    return std::get<Value>(at->second);
  }
  /// Whether a word was given in the place of the value.
  bool is_word(const StepValues& values, std::string_view word) const {
    const auto at = values.find(name);
    const std::string* given = at == values.end() ? nullptr : std::get_if<std::string>(&at->second);
    return given && *given == word;
  }
  void set(StepValues& values, Value value) const {
    values.insert_or_assign(std::string(name), std::move(value));
  }
};

// Options that others than their step read. Each is declared in the file of its step.
namespace option {
extern const Option<Number> detector_roll, axis_tilt, most_floored;
extern const Option<TrueOrFalse> minus_log, repair_cells, normalize_monitor;
extern const Option<Columns> air_columns, shadow_columns;
extern const Option<PositiveNumber> saturation, straight_from;
extern const Option<OneOf> flat_method, dark_method, flat_sets;
extern const Option<NumbersOr> beam_hardening;
extern const Option<OneOf> spectrum;  ///< no step's: the beam of a scan that is simulated
}  // namespace option

}  // namespace tandem::pipeline
