#pragma once

// Lists of names in one line, and rows of tables by their names.

#include <functional>
#include <iterator>
#include <string>
#include <string_view>

#include "error.hpp"

namespace tandem {

/// The texts of all parts that have one, with `between` between two of them.
template <class Parts, class TextOf = std::identity>
std::string joined(const Parts& parts, std::string_view between, const TextOf& text_of = {}) {
  std::string all;
  for (const auto& part : parts) {
    const auto& text = std::invoke(text_of, part);
    if (std::string_view(text).empty()) continue;
    if (!all.empty()) all.append(between);
    all.append(text);
  }
  return all;
}

/// The row of a table that has one for each value of an enumeration, in its order.
template <class Table, class Value>
auto& row_of(Table& table, Value value) {
  return table[static_cast<std::size_t>(value)];
}

/// The row of a table with this name. @throws Fault if it has none: "WHAT 'NAME' is not known; one of A, B".
/// `words`: what that message says between NAME and the list.
template <class Fault = GeometryError, class Table, class NameOf = std::identity>
const auto& named(const Table& table, std::string_view name, std::string_view what,
                  const NameOf& name_of = {}, std::string_view words = "is not known; one of") {
  for (const auto& row : table)
    if (name == std::invoke(name_of, row)) return row;
  throw Fault(std::string(what) + " '" + std::string(name) + "' " + std::string(words) + ' ' +
              joined(table, ", ", name_of));
}

/// The value of an enumeration by its name in such a table, which has a row for each value, in its order.
template <class Value, class Fault = GeometryError, class Table, class NameOf = std::identity>
Value value_named(const Table& table, std::string_view name, std::string_view what,
                  const NameOf& name_of = {}) {
  return static_cast<Value>(&named<Fault>(table, name, what, name_of) - std::data(table));
}

}  // namespace tandem
