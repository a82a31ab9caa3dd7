#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../../core/range.hpp"

namespace tandem::pipeline {

// The kinds of value that an option of a step takes.
struct TrueOrFalse {};
struct Columns {};  ///< a range of columns of the file, or two
struct PositiveNumber {
  double highest;
};
struct WholeNumber {
  Index lowest, highest;
};
struct Number {
  double lowest, highest;
};
/// One or more numbers, or a word in lower case in their place, which says how they are found.
struct NumbersOr {
  std::vector<std::string> words;
};
struct FileName {};  ///< name of a text file
struct OneOf {
  std::vector<std::string> words;  ///< in lower case
};

/// An option that a step brings to the command line.
struct StepOption {
  std::string_view name, help;
  std::variant<TrueOrFalse, Columns, PositiveNumber, WholeNumber, Number, NumbersOr, FileName, OneOf> takes;
  /// Options behind the value, as in `--dezinger 3:threshold=500,sign=both`. Before the colon, their names
  /// have the value that they go with, "vo-large:size", or the name of this option if that may be any.
  std::vector<StepOption> behind = {};

  /// The name without dashes; behind a value, the part after the colon.
  std::string_view bare_name() const {
    return name.substr(name.find_first_of("-:") == 0 ? 2 : name.find(':') + 1);
  }
  /// The part of the name before the colon, for an option behind a value.
  std::string_view goes_with() const { return name.substr(0, name.find(':')); }
};

/// What a user gave, by the name of the option: true or false, columns, a number, a whole number, a
/// word or the name of a file, or numbers.
using StepValue = std::variant<bool, std::vector<Range>, double, Index, std::string, std::vector<double>>;
using StepValues = std::map<std::string, StepValue, std::less<>>;

/// The value of an option; empty if it was not given. @throws std::bad_variant_access for a value of another
/// kind
template <class T>
std::optional<T> value_of(const StepValues& values, std::string_view option) {
  const auto at = values.find(option);
  return at == values.end() ? std::nullopt : std::optional(std::get<T>(at->second));
}

}  // namespace tandem::pipeline
