#include "name_series.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "natural_order.hpp"

namespace tandem::io {

namespace {

constexpr std::size_t most_digits = 18;  // of a number that Index holds
constexpr std::size_t few = 4;           // names or numbers in one note
constexpr std::size_t longest_name = 60;

/// The one number in which the names of a series differ; nothing for those that differ in several, or in
/// none.
std::optional<std::size_t> counting_piece(const std::vector<std::vector<std::string>>& names) {
  std::optional<std::size_t> found;
  for (std::size_t k = 1; k < names.front().size(); k += 2) {
    const bool alike = std::all_of(names.begin(), names.end(),
                                   [&](const auto& pieces) { return pieces[k] == names.front()[k]; });
    if (alike) continue;
    if (found) return std::nullopt;
    found = k;
  }
  return found;
}

/// The step of at least half of the numbers; 0 where there is none.
Index usual_step(const std::vector<Index>& numbers) {
  std::map<Index, std::size_t> steps;
  for (std::size_t i = 1; i < numbers.size(); ++i) ++steps[numbers[i] - numbers[i - 1]];
  const auto most = std::max_element(steps.begin(), steps.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most != steps.end() && 2 * most->second >= numbers.size() - 1 ? most->first : 0;
}

/// The letters with which a name begins, in lower case.
std::string first_word(const std::string& name) {
  std::string word;
  for (const char c : name) {
    if (!std::isalpha(static_cast<unsigned char>(c))) break;
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return word;
}

}  // namespace

FrameKind kind_by_name(const std::string& stem) {
  std::string word;
  for (std::size_t i = 0; i <= stem.size(); ++i) {
    const unsigned char c = i < stem.size() ? static_cast<unsigned char>(stem[i]) : '_';
    if (std::isalpha(c)) {
      word += static_cast<char>(std::tolower(c));
      continue;
    }
    if (word.starts_with("flat") || word == "io" || word == "ref" || word == "refhst") return FrameKind::flat;
    if (word.starts_with("dark") || word == "di") return FrameKind::dark;
    word.clear();
  }
  return FrameKind::projection;
}

std::string name_form(const std::string& name) {
  const std::vector<std::string> pieces = name_pieces(name);
  std::string form;
  for (std::size_t k = 0; k < pieces.size(); ++k) form += k % 2 == 1 ? "#" : pieces[k];
  return form;
}

std::vector<Index> series_numbers(const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> pieces;
  for (const std::string& name : names) pieces.push_back(name_pieces(name));
  const bool one_form = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return name_form(name) == name_form(names.front());
  });
  const std::optional<std::size_t> piece = names.empty() || !one_form ? std::nullopt : counting_piece(pieces);
  std::vector<Index> numbers;
  for (std::size_t i = 0; piece && i < names.size(); ++i) {
    std::string digits = pieces[i][*piece];
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
    if (digits.size() > most_digits) return {};
    numbers.push_back(std::stoll(digits));
  }
  return numbers;
}

MeansAndRaw means_and_raw(const std::vector<std::string>& names) {
  MeansAndRaw all;
  for (const std::string& name : names) {
    const std::string word = first_word(name);
    (word == "refhst" || word == "dark" ? all.taken : all.raw).push_back(name);
  }
  const auto are_raw = [](const std::string& name) {
    const std::string word = first_word(name);
    return word == "ref" || word == "darkend";
  };
  if (!all.taken.empty() && std::all_of(all.raw.begin(), all.raw.end(), are_raw)) return all;
  return {names, {}};
}

std::string numbering_fault(const std::vector<std::string>& names) {
  const std::vector<Index> numbers = series_numbers(names);
  const Index step = usual_step(numbers);
  if (step == 0) return {};
  Index missing = 0;
  std::vector<std::string> first;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const Index before = numbers[i - 1], rise = numbers[i] - before;
    if (rise == 0) return "two images have the number " + std::to_string(before);
    if (rise % step != 0)
      return "the numbers do not rise in equal steps: " + std::to_string(before) + ", " +
             std::to_string(numbers[i]);
    for (Index k = 1; k < rise / step && first.size() < few; ++k)
      first.push_back(std::to_string(before + k * step));
    missing += rise / step - 1;
  }
  if (missing == 0) return {};
  std::string text = missing == 1 ? "the number " : "the numbers ";
  for (const std::string& number : first) text += (number == first.front() ? "" : ", ") + number;
  if (missing > static_cast<Index>(few))
    text += " and " + std::to_string(missing - static_cast<Index>(few)) + " more";
  return text + (missing == 1 ? " is missing" : " are missing");
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(few, names.size()); ++i) {
    const std::string& name = names[i];
    text += (i > 0 ? ", " : "") + (name.size() <= longest_name ? name : name.substr(0, longest_name) + "...");
  }
  return names.size() <= few ? text : text + " and " + std::to_string(names.size() - few) + " more";
}

}  // namespace tandem::io
