#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../core/similar.hpp"
#include "../../core/space.hpp"
#include "../../io/files/text.hpp"

namespace tandem::apps {

// Turns the texts of options into values. Numbers are decimal and finite, and the whole text is the number.

/// A finite number; empty for anything else.
std::optional<double> number_in(const std::string& text);
/// A whole number, where 010 is ten; empty for anything else.
std::optional<Index> whole_in(const std::string& text);

/// Accepts numbers within [lowest, highest].
CLI::Validator within(double lowest, double highest);
CLI::Validator positive(double highest = 1e300);  ///< above 0

CLI::Validator length();  ///< mm, from a picometre to a thousand kilometres

/// The most bins, rows, views, slices or voxels along one axis, more than any scan has.
constexpr Index most_along_an_axis = 10'000'000;
/// Accepts whole numbers within [lowest, highest].
CLI::Validator count(Index lowest = 1, Index highest = most_along_an_axis);

/// The parts of a text, some of which may be empty.
std::vector<std::string> parts_of(const std::string& text, char between);

/// The ends of a text "LOW:HIGH", the lower one first; if `may_lack`, also of "LOW:" and ":HIGH". @throws
/// UsageError that names the option
std::pair<std::optional<float>, std::optional<float>> parse_ends(const std::string& option,
                                                                 const std::string& text, bool may_lack);

/// The half-open range of a text "A:B".
Range parse_range(const std::string& text);
/// A part of an axis: A:B, half open, or A:B:STEP. A is 0 if it is left out, B the end of the axis.
struct AxisPart {
  Index first = 0;
  std::optional<Index> end{};
  Index step = 1;

  /// In words of the command line.
  std::string text() const;
};
/// @throws UsageError unless 0 <= A < B and STEP > 0
AxisPart parse_axis_part(const std::string& text, bool takes_step);

/// Adds an option that takes whole numbers N,N,..., each from `lowest` to `highest`. @throws UsageError for
/// other values
CLI::Option* add_counts(CLI::App& command, const std::string& name, std::vector<Index>& counts,
                        const std::string& help, Index highest = most_along_an_axis, Index lowest = 1);

/// Accepts one of some words in upper or lower case, and makes it lower case.
CLI::Validator one_of(const std::vector<std::string>& words);
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                        const std::vector<std::string>& words, const std::string& help);

/// A value and a detail behind it: "cosine:bins=300". The detail is empty if none stands there.
struct Detailed {
  std::string value, detail;
};
Detailed detailed(const std::string& text, const std::string& name);
/// Accepts a value, and behind it, or not, a detail of this name.
CLI::Validator with_detail(const CLI::Validator& value, const std::string& name,
                           const CLI::Validator& detail);

/// NAME=VALUE,... in this order, with names in lower case; the value is empty where there is no "=".
std::vector<std::pair<std::string, std::string>> details_in(const std::string& text);
/// Adds a flag that may have details, as in --follow=views=720. `take` gets these, or an empty text.
CLI::Option* add_flag_with_details(CLI::App& command, const std::string& name,
                                   const std::function<void(const std::string& details)>& take,
                                   const std::string& kind, const std::string& help);

/// Makes every option that takes a number take a decimal one (CLI11 reads 010 as eight, and an empty text as
/// 0), and refuses empty values. The command must have all its options.
void require_proper_values(CLI::App& command);

/// Each option of `recon` says one of three: `->option_text(of_volume)`, it decides what the volume becomes;
/// `->option_text(of_run)`, it decides nothing of it, but where files are, which devices compute, or what is
/// shown; or `->configurable(false)`, it is besides never taken from a file of options, since it says what is
/// written, replaced or served, or opens files that the scan names.
constexpr const char *of_volume = "of the volume", *of_run = "of the run";
/// Whether an option says that it decides what the volume becomes.
bool decides_the_volume(const CLI::Option& option);

bool is_flag(const CLI::Option& option);
/// Whether a flag may have details, as in --follow=views=720: its kind of value names them.
bool takes_details(const CLI::Option& flag);

using io::in_lower_case;

CLI::Validator lower_case();  ///< for options whose words may be typed in any case

}  // namespace tandem::apps
