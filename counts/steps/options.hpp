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
struct Numbers {};   ///< one or more numbers
struct FileName {};  ///< name of a text file
struct OneOf {
  std::vector<std::string> words;  ///< in lower case
};
struct ShortFor {  ///< a flag that gives another option a word
  std::string_view option, word;
};

/// An option that a step brings to the command line.
struct StepOption {
  std::string_view name, help;
  std::variant<TrueOrFalse, Columns, PositiveNumber, WholeNumber, Number, Numbers, FileName, OneOf, ShortFor>
      takes;
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
