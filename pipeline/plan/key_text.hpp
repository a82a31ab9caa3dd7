#pragma once

#include <array>
#include <optional>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "../../counts/steps/options.hpp"

namespace tandem::pipeline {

/// A text of values, which differ if their texts do.
class KeyText {
 public:
  KeyText() { text_.precision(17); }
  template <class... Values>
  KeyText& add(const Values&... values) {
    (put(values), ...);
    return *this;
  }
  std::string text() const { return text_.str(); }

 private:
  template <class T>
  void put(const T& value) {
    text_ << value << ' ';
  }
  void put(Range range) { add(range.first, range.last); }
  template <class T>
  void put(const std::optional<T>& value) {
    if (value)
      put(*value);
    else
      put("none");
  }
  template <class T>
  void put(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) put(value);
  }
  template <class T, std::size_t N>
  void put(const std::array<T, N>& values) {
    for (const T& value : values) put(value);
  }
  void put(const StepValues& values) {
    for (const auto& [name, value] : values) {
      add(name);
      std::visit([this](const auto& given) { put(given); }, value);
    }
  }
  std::ostringstream text_;
};

}  // namespace tandem::pipeline
