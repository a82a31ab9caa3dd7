#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "../../core/space.hpp"

namespace tandem::apps {

/// A whole number of a command of a page. @throws UsageError if it is none, or outside of the range
Index whole_number(const nlohmann::json& value, const std::string& name, Range range);
/// The same for one that the command may leave out.
Index whole_of(const nlohmann::json& asked, const char* name, Index otherwise, Range range);

/// {options} of a command; none if it has none.
const nlohmann::json& options_in(const nlohmann::json& asked);

}  // namespace tandem::apps
