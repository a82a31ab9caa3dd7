#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "../../core/space.hpp"

namespace tandem::apps {

/// A whole number of a command of a page. @throws UsageError if it is none, or outside of the range
Index whole_number(const nlohmann::json& value, const std::string& name, Range range);
/// The same for one that the command may leave out.
Index whole_of(const nlohmann::json& asked, const char* name, Index otherwise, Range range);

/// Numbers of slices are below it before the volume tells how many it has.
constexpr Index most_slices = Index{1} << 40;
/// Whether a flag of a command is set. @throws UsageError for another value
bool flag_of(const nlohmann::json& asked, const char* name);
/// A number of a command. @throws UsageError if there is none
double number_of(const nlohmann::json& asked, const char* name);

/// {options} of a command; none if it has none.
const nlohmann::json& options_in(const nlohmann::json& asked);

}  // namespace tandem::apps
