#include "look_command.hpp"

#include <string>

#include "../command.hpp"

namespace tandem::apps {

using nlohmann::json;

Index whole_number(const json& value, const std::string& name, Range range) {
  if (!value.is_number_integer() || value < range.first || value >= range.last)
    throw UsageError(name + ": a whole number from " + std::to_string(range.first) + " to " +
                     std::to_string(range.last - 1) + " is needed");
  return value.get<Index>();
}

Index whole_of(const json& asked, const char* name, Index otherwise, Range range) {
  const json value = asked.value(name, json());
  return value.is_null() ? otherwise : whole_number(value, name, range);
}

bool flag_of(const json& asked, const char* name) {
  const json value = asked.value(name, json(false));
  if (!value.is_boolean()) throw UsageError(std::string(name) + ": true or false is needed");
  return value.get<bool>();
}

double number_of(const json& asked, const char* name) {
  const json value = asked.value(name, json());
  if (!value.is_number()) throw UsageError(std::string(name) + ": a number is needed");
  return value.get<double>();
}

const json& options_in(const json& asked) {
  static const json none = json::object();
  const auto found = asked.find("options");
  return found == asked.end() ? none : *found;
}

}  // namespace tandem::apps
