#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/space.hpp"

namespace tandem::io {

/// A value of JSON as it was read. What is asked for and is of another kind is empty.
class Json {
 public:
  /// Empty for a text that is not JSON, and for one with lists in lists more than 60 deep.
  static std::optional<Json> of(std::string_view text);

  const Json* find(std::string_view name) const;  ///< a member of an object; null if there is none
  const Json* find(std::string_view name, std::string_view within) const;  ///< a member of this member
  const std::vector<Json>& items() const { return items_; }         ///< the items of a list or of an object
  const std::vector<std::string>& names() const { return names_; }  ///< the names of the items of an object
  std::optional<double> number() const;
  std::optional<bool> flag() const;
  std::optional<std::string> text() const;
  std::vector<double> numbers() const;    ///< a list of nothing but numbers
  Range place() const { return place_; }  ///< where its characters stand in the text

 private:
  friend class JsonParser;
  enum class Kind { nothing, flag, number, text, list, object };
  Kind kind_ = Kind::nothing;
  double number_ = 0;
  std::string text_;
  std::vector<Json> items_;
  std::vector<std::string> names_;  ///< names of the items of an object
  Range place_;
};

}  // namespace tandem::io
