#include "values.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "../core/names.hpp"

namespace tandem::options {

std::optional<double> number_in(const std::string& text) {
  const auto value = number_of<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<Index> whole_in(const std::string& text) { return number_of<Index>(text); }

Check within(double lowest, double highest, std::string_view unit) {
  std::ostringstream range;
  range << "from " << lowest << " to " << highest << (unit.empty() ? "" : " ") << unit;
  return [lowest, highest, text = range.str()](std::string& input) {
    const auto value = number_in(input);
    return value && *value >= lowest && *value <= highest ? "" : "'" + input + "' is no number " + text;
  };
}

Check positive(double highest) {
  std::ostringstream limit;
  limit << highest;
  return [highest, text = limit.str()](std::string& input) {
    const auto value = number_in(input);
    return value && *value > 0 && *value <= highest
               ? ""
               : "'" + input + "' is no number above 0 and up to " + text;
  };
}

std::vector<std::string> parts_of(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::stringstream all(text + between);
  for (std::string part; std::getline(all, part, between);) parts.push_back(part);
  return parts;
}

Check length() { return within(1e-9, 1e9); }

Check count(Index lowest, Index highest) {
  return [lowest, highest](std::string& input) {
    const auto value = whole_in(input);
    if (value && *value >= lowest && *value <= highest) return std::string();
    return "'" + input + "' is no whole number from " + std::to_string(lowest) + " to " +
           std::to_string(highest);
  };
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

std::optional<Range> range_in(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto first = whole_in(text.substr(0, colon));
  const auto last = colon == std::string::npos ? std::nullopt : whole_in(text.substr(colon + 1));
  if (!first || !last || *first < 0 || *last <= *first) return std::nullopt;
  return Range{*first, *last};
}

std::string no_range(const std::string& text) {
  return "'" + text + "' is not a range; give FIRST:END with 0 <= FIRST < END";
}

Range parse_range(const std::string& option, const std::string& text) {
  if (const auto range = range_in(text)) return *range;
  throw UsageError(option + ": " + no_range(text));
}

std::string AxisPart::text() const {
  return std::to_string(first) + ':' + (end ? std::to_string(*end) : "") +
         (step > 1 ? ':' + std::to_string(step) : "");
}

AxisPart parse_axis_part(const std::string& option, const std::string& text, bool takes_step) {
  const std::vector<std::string> parts = parts_of(text, ':');
  const auto number = [&](std::size_t k, Index otherwise) {
    return k >= parts.size() || parts[k].empty() ? std::optional(otherwise) : whole_in(parts[k]);
  };
  const bool open = parts.size() < 2 || parts[1].empty();
  const auto first = number(0, 0), step = number(2, 1),
             end = open && first ? std::optional(*first + 1) : number(1, 0);
  if (parts.size() < 2 || parts.size() > (takes_step ? 3 : 2) || !first || !end || !step || *first < 0 ||
      *end <= *first || *step < 1)
    throw UsageError(option + ": '" + text + "' is no range; give A:B" + (takes_step ? " or A:B:STEP" : "") +
                     " with 0 <= A < B");
  return {*first, open ? std::nullopt : end, *step};
}

Option& add_counts(Table& table, const std::string& name, On on, std::vector<Index>& counts,
                   const std::string& help, Index highest, Index lowest) {
  const auto parse = [&counts, name, check = count(lowest, highest)](const std::string& text) {
    counts.clear();
    for (std::string& part : parts_of(text, ',')) {
      if (const std::string fault = check(part); !fault.empty())
        throw UsageError(name + " " + text + ": " + fault);
      counts.push_back(*whole_in(part));
    }
  };
  return table.add_parsed(name, on, parse, help).of_kind("N,N,...");
}

Check one_of(const std::vector<std::string>& words) {
  return [words](std::string& input) {
    const std::string typed = std::exchange(input, in_lower_case(input));
    if (std::count(words.begin(), words.end(), input) > 0) return std::string();
    return "'" + typed + "' is not known" + did_you_mean(input, words) + " (" + joined(words, ", ") + ")";
  };
}

Option& add_choice(Table& table, const std::string& name, On on, std::string& value,
                   const std::vector<std::string>& words, const std::string& help) {
  Option& row = table.add(name, on, value, help).check(one_of(words)).of_kind(joined(words, "|"));
  row.choices = words;
  return row;
}

Option& add_words(Table& table, const std::string& name, On on, std::vector<std::string>& values,
                  const std::vector<std::string>& words, const std::string& help) {
  const auto parse = [&values, name, check = one_of(words)](const std::string& text) {
    values = parts_of(text, ',');
    for (std::string& word : values)
      if (const std::string fault = check(word); !fault.empty()) throw UsageError(name + ": " + fault);
  };
  return table.add_parsed(name, on, parse, help).of_kind("NAME,NAME,...");
}

Detailed detailed(const std::string& text, const std::string& name) {
  const std::string sign = ':' + name + '=';
  const std::size_t at = in_lower_case(text).rfind(sign);
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + sign.size())};
}

Check with_detail(const Check& value, const std::string& name, const Check& detail) {
  return [value, name, detail](std::string& input) {
    auto [word, number] = detailed(input, name);
    const bool is_plain = word == input;
    if (std::string fault = value(word); !fault.empty()) return fault;
    if (const std::string fault = is_plain ? "" : detail(number); !fault.empty()) return name + ": " + fault;
    input = word + (is_plain ? "" : ':' + name + '=' + number);
    return std::string();
  };
}

std::vector<std::pair<std::string, std::string>> details_in(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& part : parts_of(text, ',')) {
    const std::size_t equals = std::min(part.find('='), part.size());
    if (equals == part.size() && !all.empty() && range_in(part)) {  // one more range of the value before
      all.back().second += ',' + part;
      continue;
    }
    all.emplace_back(in_lower_case(part.substr(0, equals)), part.substr(std::min(equals + 1, part.size())));
  }
  return all;
}

Check anything() {
  return [](std::string&) { return std::string(); };
}

Check lower_case() {
  return [](std::string& input) {
    input = in_lower_case(input);
    return std::string();
  };
}

}  // namespace tandem::options
