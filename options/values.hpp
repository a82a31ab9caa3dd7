#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/similar.hpp"
#include "../core/space.hpp"
#include "../io/files/text.hpp"
#include "option.hpp"

namespace tandem::options {

// Turns the texts of options into values. Numbers are decimal and finite, and the whole text is the number.

/// The number in a text that has nothing else, and at most one sign; empty for other texts.
template <class Number>
std::optional<Number> number_of(const std::string& text) {
  const bool plus = text.starts_with('+');
  if (plus && text.starts_with("+-")) return std::nullopt;
  const char* last = text.data() + text.size();
  Number value{};
  const auto [end, fault] = std::from_chars(text.data() + plus, last, value);
  if (fault != std::errc{} || end != last) return std::nullopt;
  return value;
}
/// A finite number; empty for anything else.
std::optional<double> number_in(const std::string& text);
/// A whole number, where 010 is ten; empty for anything else.
std::optional<Index> whole_in(const std::string& text);

/// Accepts numbers within [lowest, highest]; the unit stands in its message.
Check within(double lowest, double highest, std::string_view unit = {});
Check positive(double highest = 1e300);  ///< above 0

Check length();  ///< mm, from a picometre to a thousand kilometres

/// The most bins, rows, views, slices or voxels along one axis, more than any scan has.
constexpr Index most_along_an_axis = 10'000'000;
/// Accepts whole numbers within [lowest, highest].
Check count(Index lowest = 1, Index highest = most_along_an_axis);

/// The parts of a text, some of which may be empty.
std::vector<std::string> parts_of(const std::string& text, char between);

/// The ends of a text "LOW:HIGH", the lower one first; if `may_lack`, also of "LOW:" and ":HIGH". @throws
/// UsageError that names the option
std::pair<std::optional<float>, std::optional<float>> parse_ends(const std::string& option,
                                                                 const std::string& text, bool may_lack);

/// The half-open range of a text "A:B"; empty for anything else.
std::optional<Range> range_in(const std::string& text);
std::string no_range(const std::string& text);  ///< what is wrong with such a text
/// The same. @throws UsageError that names the option
Range parse_range(const std::string& option, const std::string& text);
/// A part of an axis: A:B, half open, or A:B:STEP. A is 0 if it is left out, B the end of the axis.
struct AxisPart {
  Index first = 0;
  std::optional<Index> end{};
  Index step = 1;

  /// In words of the command line.
  std::string text() const;
};
/// @throws UsageError that names the option, unless 0 <= A < B and STEP > 0
AxisPart parse_axis_part(const std::string& option, const std::string& text, bool takes_step);

/// Adds an option that takes whole numbers N,N,..., each from `lowest` to `highest`. @throws UsageError for
/// other values
Option& add_counts(Table& table, const std::string& name, On on, std::vector<Index>& counts,
                   const std::string& help, Index highest = most_along_an_axis, Index lowest = 1);

/// Accepts one of some words in upper or lower case, and makes it lower case.
Check one_of(const std::vector<std::string>& words);
Option& add_choice(Table& table, const std::string& name, On on, std::string& value,
                   const std::vector<std::string>& words, const std::string& help);

/// Adds an option that takes some of these words, NAME,NAME,...
Option& add_words(Table& table, const std::string& name, On on, std::vector<std::string>& values,
                  const std::vector<std::string>& words, const std::string& help);

/// A value and a detail behind it: "cosine:bins=300". The detail is empty if none stands there.
struct Detailed {
  std::string value, detail;
};
Detailed detailed(const std::string& text, const std::string& name);
/// Accepts a value, and behind it, or not, a detail of this name.
Check with_detail(const Check& value, const std::string& name, const Check& detail);

/// NAME=VALUE,... in this order, with names in lower case; the value is empty where there is no "=". A range
/// A:B without a name belongs to the value before.
std::vector<std::pair<std::string, std::string>> details_in(const std::string& text);

using io::in_lower_case;

Check anything();
Check lower_case();  ///< for options whose words may be typed in any case

}  // namespace tandem::options
