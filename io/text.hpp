#pragma once

#include <string>
#include <string_view>

namespace tandem::io {

/// The text without blanks at its ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n");

std::string in_lower_case(std::string text);

}  // namespace tandem::io
