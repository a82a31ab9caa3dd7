#pragma once

#include <string>
#include <string_view>

namespace tandem::io {

/// The text without blanks at its ends; the same in lower case.
std::string_view trimmed(std::string_view text);
std::string lower_case(std::string_view text);

}  // namespace tandem::io
