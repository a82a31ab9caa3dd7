#include "json.hpp"

#include <algorithm>
#include <charconv>

namespace tandem::io {

namespace {

constexpr int deepest = 60;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// A character of Unicode in UTF-8.
void put(std::string& to, unsigned code) {
  const auto byte = [&](unsigned value) { to += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 0x3f));
  } else {
    byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 0x3f)), byte(0x80 | (code >> 6 & 0x3f));
  }
  byte(0x80 | (code & 0x3f));
}

}  // namespace

/// Reads from the front to the back. Each function is false where the text is not what it should be.
class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  bool document(Json& to) { return value(to, 0) && (skip(), at_ == text_.size()); }

 private:
  using Kind = Json::Kind;

  void skip() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool takes(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool value(Json& to, int depth) {
    if (depth > deepest) return false;
    skip();
    const std::size_t first = at_;
    if (!content(to, depth)) return false;
    to.place_ = {static_cast<Index>(first), static_cast<Index>(at_)};
    return true;
  }

  bool content(Json& to, int depth) {
    if (takes("null")) return true;
    if (takes("true") || takes("false")) {
      to.kind_ = Kind::flag, to.number_ = text_[at_ - 2] == 'u';
      return true;
    }
    if (takes("\"")) return to.kind_ = Kind::text, letters(to.text_);
    if (takes("[")) return to.kind_ = Kind::list, members(to, ']', depth);
    if (takes("{")) return to.kind_ = Kind::object, members(to, '}', depth);
    to.kind_ = Kind::number;
    const std::string_view digits = text_.substr(at_ + (text_.substr(at_).starts_with('-') ? 1 : 0));
    if (digits.empty() || digits[0] < '0' || digits[0] > '9') return false;  // also inf and nan
    const char* end = text_.data() + text_.size();
    const auto [behind, fault] = std::from_chars(text_.data() + at_, end, to.number_);
    if (fault != std::errc()) return false;
    at_ = behind - text_.data();
    return true;
  }

  bool members(Json& to, char end, int depth) {
    skip();
    if (takes({&end, 1})) return true;
    do {
      if (end == '}') {
        skip();
        if (!takes("\"") || !letters(to.names_.emplace_back())) return false;
        skip();
        if (!takes(":")) return false;
      }
      if (!value(to.items_.emplace_back(), depth + 1)) return false;
      skip();
    } while (takes(","));
    return takes({&end, 1});
  }

  bool letters(std::string& to) {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (c != '\\') {
        to += c;
      } else if (!escaped(to)) {
        return false;
      }
    }
    return false;
  }

  bool escaped(std::string& to) {
    constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) return false;
    const char c = text_[at_++];
    if (const std::size_t k = letters.find(c); k != std::string_view::npos) {
      to += meant[k];
      return true;
    }
    unsigned code = 0, low = 0;
    if (c != 'u' || !four_digits(code)) return false;
    if (code >= 0xd800 && code < 0xdc00) {
      if (!takes("\\u") || !four_digits(low) || low < 0xdc00 || low > 0xdfff) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    put(to, code);
    return true;
  }

  bool four_digits(unsigned& code) {
    if (text_.size() - at_ < 4) return false;
    const char* first = text_.data() + at_;
    at_ += 4;
    return std::from_chars(first, first + 4, code, 16).ptr == first + 4;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<Json> Json::of(std::string_view text) {
  Json all;
  if (!JsonParser(text).document(all)) return std::nullopt;
  return all;
}

const Json* Json::find(std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  return found == names_.end() ? nullptr : &items_[found - names_.begin()];
}

const Json* Json::find(std::string_view name, std::string_view within) const {
  const Json* outer = find(name);
  return outer ? outer->find(within) : nullptr;
}

std::optional<double> Json::number() const {
  return kind_ == Kind::number ? std::optional(number_) : std::nullopt;
}

std::optional<bool> Json::flag() const {
  return kind_ == Kind::flag ? std::optional(number_ != 0) : std::nullopt;
}

std::optional<std::string> Json::text() const {
  return kind_ == Kind::text ? std::optional(text_) : std::nullopt;
}

std::vector<double> Json::numbers() const {
  std::vector<double> all;
  for (const Json& item : items_) {
    if (item.kind_ != Kind::number || kind_ != Kind::list) return {};
    all.push_back(item.number_);
  }
  return all;
}

}  // namespace tandem::io
