#include "json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tandem::io {

namespace {

/// Whether lists in lists, or objects, are nested deeper than this.
bool is_deeper(const std::string& text, int deepest) {
  int depth = 0;
  bool in_words = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (in_words && c == '\\')
      ++k;
    else if (c == '"')
      in_words = !in_words;
    else if (!in_words)
      depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (depth > deepest) return true;
  }
  return false;
}

}  // namespace

nlohmann::json json_of(const std::string& text) {
  constexpr int deepest = 64;
  const bool has_end = text.find('\0') != std::string::npos;  // the parser would read no further
  if (has_end || is_deeper(text, deepest)) return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(text, nullptr, false);
}

const nlohmann::json& member(const nlohmann::json& object, const char* name) {
  static const nlohmann::json none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

std::string text_at(const nlohmann::json& object, const char* name) {
  const nlohmann::json& found = member(object, name);
  return found.is_string() ? found.get<std::string>() : "";
}

std::optional<double> number_at(const nlohmann::json& object, const char* name) {
  const nlohmann::json& found = member(object, name);
  return found.is_number() ? std::optional(found.get<double>()) : std::nullopt;
}

const nlohmann::json& list_at(const nlohmann::json& object, const char* name) {
  static const nlohmann::json none = nlohmann::json::array();
  const nlohmann::json& found = member(object, name);
  return found.is_array() ? found : none;
}

std::vector<double> numbers_at(const nlohmann::json& object, const char* name) {
  const nlohmann::json& found = list_at(object, name);
  const bool fits = std::ranges::all_of(found, [](const nlohmann::json& item) { return item.is_number(); });
  return fits ? found.get<std::vector<double>>() : std::vector<double>{};
}

}  // namespace tandem::io
