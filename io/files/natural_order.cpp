#include "natural_order.hpp"

#include <algorithm>

namespace tandem::io {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A number below 0, 0 or above 0, if `a` is less than, equal to or greater than `b`.
int compare_digits(std::string_view a, std::string_view b) {
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

}  // namespace

std::vector<std::string> name_tokens(const std::string& name) {
  std::vector<std::string> tokens(1);
  bool digits = false;
  for (const char c : name) {
    if (is_digit(c) != digits) tokens.emplace_back();
    digits = is_digit(c);
    tokens.back() += c;
  }
  return tokens;
}

bool natural_less(const std::string& a, const std::string& b) {
  const std::vector<std::string> left = name_tokens(a), right = name_tokens(b);
  for (std::size_t k = 0; k < std::min(left.size(), right.size()); ++k) {
    const int order = k % 2 == 1 ? compare_digits(left[k], right[k]) : left[k].compare(right[k]);
    if (order != 0) return order < 0;
  }
  return left.size() != right.size() ? left.size() < right.size() : a < b;
}

}  // namespace tandem::io
