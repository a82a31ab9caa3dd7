#include "look_command.hpp"

#include <string>

#include "../command.hpp"

namespace tandem::apps {

using nlohmann::json;

Index whole_of(const json& asked, const char* name, Index otherwise, Range range) {
  const json value = asked.value(name, json());
  if (value.is_null()) return otherwise;
  if (!value.is_number_integer() || value < range.first || value >= range.last)
    throw UsageError(std::string(name) + ": a whole number from " + std::to_string(range.first) + " to " +
                     std::to_string(range.last - 1) + " is needed");
  return value.get<Index>();
}

const json& options_in(const json& asked) {
  static const json none = json::object();
  const auto found = asked.find("options");
  return found == asked.end() ? none : *found;
}

}  // namespace tandem::apps
