#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tandem::io {

/// The JSON of a text that anybody may have written. The result is "discarded" if the text is no JSON, or if
/// it is nested more than 64 deep, which is deeper than anything that tandem writes, because copying or
/// printing that would crash the program. If an object has a name twice, the last one counts.
nlohmann::json json_of(const std::string& text);

/// A member of an object; null if there is none, or if it is no object.
const nlohmann::json& member(const nlohmann::json& object, const char* name);
std::string text_at(const nlohmann::json& object, const char* name);  ///< a text; empty if there is none
std::optional<double> number_at(const nlohmann::json& object, const char* name);
const nlohmann::json& list_at(const nlohmann::json& object, const char* name);  ///< empty if there is none
/// A list of nothing but numbers; empty if there is none.
std::vector<double> numbers_at(const nlohmann::json& object, const char* name);

}  // namespace tandem::io
