#include "name_series.hpp"

#include <algorithm>
#include <cctype>

#include "../../files/natural_order.hpp"
#include "name_counter.hpp"

namespace tandem::io {

namespace {

constexpr Index few = 4;  // names or numbers in one note
constexpr std::size_t longest_name = 60;

/// The letters at the beginning of a name, in lower case.
std::string first_word(const std::string& name) {
  std::string word;
  for (const char c : name) {
    if (!std::isalpha(static_cast<unsigned char>(c))) break;
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return word;
}

/// The text of a number that is given in units of its last decimal place.
std::string decimal_text(Index value, std::size_t places) {
  std::string digits = std::to_string(value < 0 ? -value : value);
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  if (places > 0) digits.insert(digits.size() - places, 1, '.');
  if (value < 0) digits.insert(0, 1, '-');
  return digits;
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
    if (word.starts_with("dark") || word == "di" || word == "dar") return FrameKind::dark;
    word.clear();
  }
  return FrameKind::projection;
}

std::string sort_series(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end(), natural_less);
  const std::vector<std::string> natural = names;
  const NameCounter counter = counter_of(names);
  if (!counter.number)
    return names.size() < 2
               ? ""
               : "no number in the names counts the images; they are in the order of their names: " +
                     listed(names);
  const NameNumber& number = *counter.number;
  std::vector<std::size_t> order(names.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return number.values[i] < number.values[j]; });
  for (std::size_t k = 0; k < order.size(); ++k) names[k] = natural[order[k]];
  if (counter.doubtful)
    return "two numbers in the names count, in different orders; the images are in the order " +
           listed(names) + "; leave out one of the numbers if it should be the other";
  if (number.apart && number.step == 0)
    return "the number in the names does not rise in equal steps; the images are in its order: " +
           listed(names);
  return names == natural ? "" : "the images are in the order of the number that counts: " + listed(names);
}

std::vector<Index> series_numbers(const std::vector<std::string>& names) {
  const NameCounter counter = counter_of(names);
  return counter.number && !counter.number->joined ? counter.number->values : std::vector<Index>();
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
  const NameCounter counter = counter_of(names);
  if (!counter.number || counter.number->step == 0) return {};
  const Index step = counter.number->step;
  const auto text_of = [&](Index value) { return decimal_text(value, counter.number->places); };
  std::vector<Index> numbers = counter.number->values;
  std::sort(numbers.begin(), numbers.end());
  Index missing = 0;
  std::vector<std::string> first;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const Index before = numbers[i - 1], rise = numbers[i] - before;
    if (rise == 0) return "two images have the number " + text_of(before);
    if (rise % step != 0)
      return "the numbers do not rise in equal steps: " + text_of(before) + ", " + text_of(numbers[i]);
    for (Index k = 1; k < rise / step && std::ssize(first) < few; ++k)
      first.push_back(text_of(before + k * step));
    missing += rise / step - 1;
  }
  if (missing == 0) return {};
  std::string text = missing == 1 ? "the number " : "the numbers ";
  for (const std::string& number : first) text += (number == first.front() ? "" : ", ") + number;
  if (missing > few) text += " and " + std::to_string(missing - few) + " more";
  return text + (missing == 1 ? " is missing" : " are missing");
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (Index i = 0; i < std::min(few, std::ssize(names)); ++i) {
    const std::string& name = names[i];
    text += (i > 0 ? ", " : "") + (name.size() <= longest_name ? name : name.substr(0, longest_name) + "...");
  }
  return std::ssize(names) <= few ? text : text + " and " + std::to_string(names.size() - few) + " more";
}

}  // namespace tandem::io
