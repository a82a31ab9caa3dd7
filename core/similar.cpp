#include "similar.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tandem {

namespace {

/// The number of changes that turn one text into the other: insertions, deletions and exchanges of a letter,
/// and swaps of two neighbours (Damerau, Levenshtein).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above.back();
}

}  // namespace

std::string did_you_mean(const std::string& text, std::span<const std::string> words) {
  constexpr std::size_t longest = 60;  // a longer text resembles no word, and would take long to compare
  if (text.size() > longest) return "";
  const std::size_t letters = text.size() - std::min(text.size(), text.find_first_not_of('-'));
  const std::string bare = text.substr(text.size() - letters);
  std::size_t least = 1 + std::max<std::size_t>(1, std::min<std::size_t>(3, letters / 4));
  std::string best;
  for (const std::string& word : words) {
    const bool holds =
        letters >= 4 && (word.find(bare) != word.npos || (word.size() >= 4 && bare.starts_with(word)));
    const std::size_t far = std::min(distance(text, word), holds ? std::size_t{1} : text.size());
    if (far < least) least = far, best = word;
  }
  return best.empty() ? "" : "; did you mean " + best + "?";
}

}  // namespace tandem
