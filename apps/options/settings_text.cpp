#include "settings_text.hpp"

#include <algorithm>
#include <string_view>

#include "../../core/names.hpp"
#include "../command.hpp"

namespace tandem::apps {

namespace {

constexpr std::string_view blanks = " \t\r";

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

class Scanner {
 public:
  Scanner(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {}

  std::vector<Setting> all() {
    std::vector<Setting> settings;
    for (skip(" \t\r\n"); !ended(); skip(" \t\r\n")) {
      if (at('#') || at(';')) {
        skip_line();
        continue;
      }
      if (at('[')) refuse("options must not be in a section");
      settings.push_back(setting());
    }
    return settings;
  }

 private:
  Setting setting() {
    Setting one{trimmed(until("=#\n")), {}, line()};
    if (one.name.size() > 1 && (one.name.front() == '"' || one.name.front() == '\''))
      one.name = one.name.substr(1, one.name.size() - 2);
    if (one.name.empty()) refuse("a name is missing before the =");
    if (!at('=')) {
      one.values = {"true"};
    } else {
      ++place_;
      skip(blanks);
      one.values = at('[') ? list() : std::vector{value("#\n")};
    }
    skip(blanks);
    if (!ended() && !at('\n') && !at('#')) refuse("a line has one setting");
    skip_line();
    return one;
  }

  std::vector<std::string> list() {
    std::vector<std::string> values;
    ++place_;
    for (;;) {
      for (skip(" \t\r\n,"); at('#'); skip(" \t\r\n,")) skip_line();
      if (ended()) refuse("a list lacks its ]");
      if (at(']')) break;
      values.push_back(value(",]#\n"));
    }
    ++place_;
    return values;
  }

  std::string value(std::string_view ends) {
    if (at('"') || at('\'')) return quoted(text_[place_++]);
    return trimmed(until(ends));
  }

  std::string quoted(char quote) {
    std::string value;
    for (; !ended() && !at('\n'); ++place_) {
      if (at(quote)) return ++place_, value;
      if (quote == '"' && at('\\') && place_ + 1 < text_.size()) {
        const char next = text_[++place_];
        value += next == 'n' ? '\n' : next == 't' ? '\t' : next;
      } else {
        value += text_[place_];
      }
    }
    refuse("a string lacks its closing quote");
  }

  std::string_view until(std::string_view ends) {
    const std::size_t first = place_;
    place_ = std::min(text_.find_first_of(ends, place_), text_.size());
    return text_.substr(first, place_ - first);
  }

  bool ended() const { return place_ >= text_.size(); }
  bool at(char c) const { return !ended() && text_[place_] == c; }
  void skip(std::string_view some) { place_ = std::min(text_.find_first_not_of(some, place_), text_.size()); }
  void skip_line() { place_ = std::min(text_.find('\n', place_), text_.size()); }

  Index line() const { return 1 + std::count(text_.begin(), text_.begin() + place_, '\n'); }

  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError(where_ + ": line " + std::to_string(line()) + ": " + what + "; give NAME = VALUE");
  }

  std::string_view text_;
  std::string where_;
  std::size_t place_ = 0;
};

std::string quoted(const std::string& value) {
  if (value == "true" || value == "false" || number_in(value)) return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  }
  return text + '"';
}

}  // namespace

std::vector<Setting> read_settings(const std::string& text, const std::string& where) {
  return Scanner(text, where).all();
}

std::string toml_of(const std::vector<std::string>& values) {
  if (values.size() == 1) return quoted(values.front());
  return '[' + joined(values, ", ", quoted) + ']';
}

}  // namespace tandem::apps
