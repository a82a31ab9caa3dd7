#include "values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "../../core/names.hpp"
#include "../command.hpp"

namespace tandem::apps {

namespace {

/// The number in a text that has nothing else, and at most one sign.
template <class Number>
std::optional<Number> parsed(const std::string& text) {
  const bool plus = text.starts_with('+');
  if (plus && text.starts_with("+-")) return std::nullopt;
  const char* last = text.data() + text.size();
  Number value{};
  const auto [end, fault] = std::from_chars(text.data() + plus, last, value);
  if (fault != std::errc{} || end != last) return std::nullopt;
  return value;
}

/// A validator that checks a text and may replace it, without a name in the help.
CLI::Validator unnamed(std::function<std::string(std::string&)> check) { return {std::move(check), "", ""}; }

template <class Whole>
std::string make_plain(std::string& input, const char* what) {
  const auto value = parsed<Whole>(input);
  if (!value) return "'" + input + "' is no " + what;
  input = std::to_string(*value);
  return {};
}

/// Makes the text of a number decimal, by the type's name in CLI11, since CLI11 itself takes other notations
/// too.
std::string make_decimal(std::string& input, const std::string& type) {
  if (input.empty()) return "the value is empty; leave the option out, or give a value";
  if (type.starts_with("INT")) return make_plain<Index>(input, "whole number");
  if (type.starts_with("UINT")) return make_plain<std::uint64_t>(input, "whole number from 0");
  if (type.starts_with("FLOAT") && !number_in(input)) return "'" + input + "' is no number";
  return {};
}

}  // namespace

std::optional<double> number_in(const std::string& text) {
  const auto value = parsed<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<Index> whole_in(const std::string& text) { return parsed<Index>(text); }

CLI::Validator within(double lowest, double highest) {
  std::ostringstream range;
  range << "from " << lowest << " to " << highest;
  return unnamed([lowest, highest, text = range.str()](std::string& input) {
    const auto value = number_in(input);
    return value && *value >= lowest && *value <= highest ? "" : "'" + input + "' is no number " + text;
  });
}

CLI::Validator positive(double highest) {
  std::ostringstream limit;
  limit << highest;
  return unnamed([highest, text = limit.str()](std::string& input) {
    const auto value = number_in(input);
    return value && *value > 0 && *value <= highest
               ? ""
               : "'" + input + "' is no number above 0 and up to " + text;
  });
}

bool decides_the_volume(const CLI::Option& option) { return option.get_option_text() == of_volume; }

std::vector<std::string> parts_of(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::stringstream all(text + between);
  for (std::string part; std::getline(all, part, between);) parts.push_back(part);
  return parts;
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

bool takes_details(const CLI::Option& flag) { return !flag.get_type_name().empty(); }

CLI::Validator length() { return within(1e-9, 1e9); }

CLI::Validator count(Index lowest, Index highest) {
  return unnamed([lowest, highest](std::string& input) {
    const auto value = whole_in(input);
    if (value && *value >= lowest && *value <= highest) return std::string();
    return "'" + input + "' is no whole number from " + std::to_string(lowest) + " to " +
           std::to_string(highest);
  });
}

std::pair<std::optional<float>, std::optional<float>> parse_ends(const std::string& option,
                                                                 const std::string& text, bool may_lack) {
  constexpr double most = 1e30;
  const std::vector<std::string> ends = parts_of(text, ':');
  bool fits = ends.size() == 2;
  const auto end_in = [&](const std::string& part) {
    const std::optional<double> number = number_in(part);
    fits = fits && (number ? std::abs(*number) <= most : may_lack && part.empty());
    return number ? std::optional(static_cast<float>(*number)) : std::nullopt;
  };
  const auto low = end_in(ends.front()), high = end_in(ends.back());
  if (!fits || !(low || high) || (low && high && !(*low < *high)))
    throw UsageError(option + " '" + text + "' is not LOW:HIGH" + (may_lack ? ", LOW: or :HIGH" : "") +
                     " with the lower number first");
  return {low, high};
}

Range parse_range(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto first = whole_in(text.substr(0, colon));
  const auto last = colon == std::string::npos ? std::nullopt : whole_in(text.substr(colon + 1));
  if (!first || !last || *first < 0 || *last <= *first)
    throw UsageError("'" + text + "' is not a range; give FIRST:END with 0 <= FIRST < END");
  return {*first, *last};
}

std::string AxisPart::text() const {
  return std::to_string(first) + ':' + (end ? std::to_string(*end) : "") +
         (step > 1 ? ':' + std::to_string(step) : "");
}

AxisPart parse_axis_part(const std::string& text, bool takes_step) {
  const std::vector<std::string> parts = parts_of(text, ':');
  const auto number = [&](std::size_t k, Index otherwise) {
    return k >= parts.size() || parts[k].empty() ? std::optional(otherwise) : whole_in(parts[k]);
  };
  const bool open = parts.size() < 2 || parts[1].empty();
  const auto first = number(0, 0), step = number(2, 1),
             end = open && first ? std::optional(*first + 1) : number(1, 0);
  if (parts.size() < 2 || parts.size() > (takes_step ? 3 : 2) || !first || !end || !step || *first < 0 ||
      *end <= *first || *step < 1)
    throw UsageError("'" + text + "' is no range; give A:B" + (takes_step ? " or A:B:STEP" : "") +
                     " with 0 <= A < B");
  return {*first, open ? std::nullopt : end, *step};
}

CLI::Option* add_counts(CLI::App& command, const std::string& name, std::vector<Index>& counts,
                        const std::string& help, Index highest, Index lowest) {
  const auto parse = [&counts, name, check = count(lowest, highest)](const std::string& text) {
    counts.clear();
    for (std::string& part : parts_of(text, ',')) {
      if (const std::string fault = check(part); !fault.empty())
        throw UsageError(name + " " + text + ": " + fault);
      counts.push_back(*whole_in(part));
    }
  };
  return command.add_option_function<std::string>(name, parse, help)->type_name("N,N,...");
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return unnamed([words](std::string& input) {
    if (input.empty()) return "the value is empty; give one of " + joined(words, ", ");
    const std::string typed = std::exchange(input, in_lower_case(input));
    if (std::count(words.begin(), words.end(), input) > 0) return std::string();
    return "'" + typed + "' is not known" + did_you_mean(input, words) + " (" + joined(words, ", ") + ")";
  });
}

CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                        const std::vector<std::string>& words, const std::string& help) {
  return command.add_option(name, value, help)->transform(one_of(words))->type_name(joined(words, "|"));
}

Detailed detailed(const std::string& text, const std::string& name) {
  const std::string sign = ':' + name + '=';
  const std::size_t at = in_lower_case(text).rfind(sign);
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + sign.size())};
}

CLI::Validator with_detail(const CLI::Validator& value, const std::string& name,
                           const CLI::Validator& detail) {
  return unnamed([value, name, detail](std::string& input) {
    auto [word, number] = detailed(input, name);
    const bool is_plain = word == input;
    if (std::string fault = value(word); !fault.empty()) return fault;
    if (const std::string fault = is_plain ? "" : detail(number); !fault.empty()) return name + ": " + fault;
    input = word + (is_plain ? "" : ':' + name + '=' + number);
    return std::string();
  });
}

std::vector<std::pair<std::string, std::string>> details_in(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& part : parts_of(text, ',')) {
    const std::size_t equals = std::min(part.find('='), part.size());
    all.emplace_back(in_lower_case(part.substr(0, equals)), part.substr(std::min(equals + 1, part.size())));
  }
  return all;
}

CLI::Option* add_flag_with_details(CLI::App& command, const std::string& name,
                                   const std::function<void(const std::string& details)>& take,
                                   const std::string& kind, const std::string& help) {
  const std::string alone = "true";  // what CLI11 gives for a flag without a value
  const auto callback = [take, alone](const CLI::results_t& results) {
    take(results.back() == alone ? "" : results.back());
    return true;
  };
  return command.add_option(name, callback, help)
      ->type_size(0)
      ->expected(0)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->type_name(kind);
}

void require_proper_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    if (is_flag(*option)) {
      if (!takes_details(*option)) option->disable_flag_override();  // --quiet=no
    } else {
      option->transform(unnamed(
          [type = option->get_type_name()](std::string& input) { return make_decimal(input, type); }));
    }
}
CLI::Validator lower_case() {
  return unnamed([](std::string& input) {
    input = in_lower_case(input);
    return std::string();
  });
}

}  // namespace tandem::apps
