#pragma once

#include <array>
#include <charconv>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::io {

/// The text without blanks at its ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n");

std::string in_lower_case(std::string text);

/// Whether a word is one of these words, which are separated by single blanks.
bool is_among(std::string_view word, std::string_view words);

/// All parts as one text.
template <class... Parts>
std::string words(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

/// The shortest text that reads back to the same number, in any locale: 0.1, not 0.10000000000000001.
template <class Number>
std::string shortest(Number value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// A value and its uncertainty, which has two digits: "31.474 +- 0.082".
std::string with_uncertainty(double value, double uncertainty);

/// The words as "a, b or c".
std::string alternatives(const std::vector<std::string>& words);

/// Whether a fault of the system (errno) means that the process may not open more files.
bool is_of_few_handles(int fault);

/// What the system says about a fault (errno), with a remedy if the process may not open more files.
std::string reason_of(int fault);

}  // namespace tandem::io
