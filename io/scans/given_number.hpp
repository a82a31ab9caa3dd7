#pragma once

#include <optional>
#include <string>

namespace tandem::io {

/// What the user should know who gives a number over another one that the scan records, in the same unit.
/// Empty if one of them is not there, or if they agree within a hundredth.
std::string given_over_recorded(const std::string& option, const std::optional<double>& given,
                                const std::optional<double>& recorded, const std::string& unit);

}  // namespace tandem::io
