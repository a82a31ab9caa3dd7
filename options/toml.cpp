#include "toml.hpp"

#include <toml++/toml.h>
#include <algorithm>

#include "../core/names.hpp"
#include "values.hpp"

namespace tandem::options {

namespace {

class Reader {
 public:
  explicit Reader(const std::string& where) : where_(where) {}

  std::vector<Setting> read(const std::string& text) const {
    std::vector<Setting> all;
    try {
      for (const auto& [key, value] : toml::parse(text))
        all.push_back({std::string(key.str()), values_of(value), line_of(key.source().begin)});
    } catch (const toml::parse_error& fault) {
      refuse(fault.source().begin,
             "is not TOML; give NAME = VALUE, each name once, and words in quotes: NAME = \"WORD\"");
    }
    std::ranges::stable_sort(all, {}, &Setting::line);  // the library sorts by names
    return all;
  }

 private:
  Values values_of(const toml::node& node) const {
    const toml::array* list = node.as_array();
    if (!list) return {text_of(node)};
    Values values;
    for (const toml::node& one : *list) values.push_back(text_of(one));
    return values;
  }
  std::string text_of(const toml::node& node) const {
    if (const auto* text = node.as_string(); text && text->get().find('\0') == std::string::npos)
      return text->get();
    if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
    if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
    if (const auto* number = node.as_floating_point()) return io::shortest(number->get());
    refuse(node.source().begin, node.is_table() ? "options must not be in a section; give NAME = VALUE"
                                                : "is no text, number, true, false or list of these");
  }
  static Index line_of(const toml::source_position& place) { return place.line; }
  [[noreturn]] void refuse(const toml::source_position& place, const std::string& what) const {
    throw UsageError(where_ + ": line " + std::to_string(line_of(place)) + ": " + what);
  }

  const std::string& where_;
};

std::string quoted(const std::string& value) {
  constexpr const char* digits = "0123456789abcdef";
  const auto whole = whole_in(value);
  const auto number = number_in(value);
  const bool is_plain =
      (whole && std::to_string(*whole) == value) || (number && io::shortest(*number) == value);
  if (value == "true" || value == "false" || is_plain) return value;
  std::string text = "\"";
  for (const char c : value) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') text += '\\';
    if (code < 0x20 || code == 0x7f)
      text += std::string("\\u00") + digits[code / 16] + digits[code % 16];
    else
      text += c;
  }
  return text + '"';
}

}  // namespace

std::vector<Setting> settings_in(const std::string& text, const std::string& where) {
  return Reader(where).read(text);
}

std::string toml_of(const Values& values) {
  if (values.size() == 1) return quoted(values.front());
  return '[' + joined(values, ", ", quoted) + ']';
}

}  // namespace tandem::options
