#include "text.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iomanip>

#include "../../core/rounding.hpp"

namespace tandem::io {

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_among(std::string_view word, std::string_view words) {
  const std::string all = ' ' + std::string(words) + ' ', one = ' ' + std::string(word) + ' ';
  return word.find(' ') == std::string_view::npos && all.find(one) != std::string::npos;
}

std::string with_uncertainty(double value, double uncertainty) {
  std::ostringstream text;
  if (uncertainty > 0 && std::isfinite(uncertainty)) {
    const int digits = 1 - floor_int(std::log10(uncertainty));
    text << std::fixed << std::setprecision(std::clamp(digits, 0, 6));
  }
  text << value << " +- " << uncertainty;
  return text.str();
}

std::string alternatives(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t k = 0; k < words.size(); ++k)
    text += (k == 0 ? "" : k + 1 < words.size() ? ", " : " or ") + words[k];
  return text;
}

bool is_of_few_handles(int fault) { return fault == EMFILE || fault == ENFILE; }

std::string reason_of(int fault) {
  return std::strerror(fault) + std::string(is_of_few_handles(fault) ? "; raise the limit (ulimit -n)" : "");
}

}  // namespace tandem::io
