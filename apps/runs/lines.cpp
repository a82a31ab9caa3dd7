#include "lines.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <sstream>

#include "log_file.hpp"

namespace tandem::apps {

namespace {

unsigned byte_of(char character) { return static_cast<unsigned char>(character); }

/// The bytes of the UTF-8 character at the beginning of a text; 0 if there is none (RFC 3629).
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return byte_of(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  const unsigned second = length > 2 ? byte(1) : 0;  // overlong forms, surrogates, beyond U+10FFFF
  const bool none = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                    (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return none ? 0 : length;
}

/// Whether a character is a control: C0 without the newline, DEL, or C1.
bool is_control(std::string_view character) {
  const unsigned first = byte_of(character[0]);
  if (character.size() == 1) return (first < 0x20 && first != '\n') || first == 0x7f;
  return first == 0xc2 && byte_of(character[1]) < 0xa0;
}

std::string escaped(const char* form, unsigned number) {
  char text[8];
  std::snprintf(text, sizeof text, form, number);
  return text;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, length));
    const unsigned last = byte_of(character.back());  // for C1, the code itself
    if (length == 0)
      shown += escaped("\\x%02x", last);
    else if (is_control(character))
      shown += escaped("\\u%04x", last);
    else
      shown += character;
    text.remove_prefix(character.size());
  }
  return shown;
}

bool is_plain(std::string_view text) {
  return text.find('\n') == std::string_view::npos && printable(text) == text;
}

std::string one_line(const std::string& before, const std::string& text) {
  constexpr std::size_t most = 500, head = 320;
  constexpr std::string_view between = " ... ";
  std::string line = before + printable(text);
  for (char& c : line)
    if (c == '\n') c = ' ';
  if (line.size() <= most) return line;
  const auto inside = [&](std::size_t i) { return (byte_of(line[i]) & 0xc0) == 0x80; };
  std::size_t first = head, last = line.size() - (most - head - between.size());
  while (inside(first)) --first;  // between characters
  while (last < line.size() && inside(last)) ++last;
  return line.substr(0, first) + std::string(between) + line.substr(last);
}

std::string rounded(double value) {
  std::ostringstream text;
  text.precision(7);
  text << value;
  return text.str();
}

std::string counted(Index count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

double told_rate(double rate, bool updates) {
  constexpr double fastest = 1e11;  // bytes a second
  return updates || rate < fastest ? rate : 0;
}

PrintableStream::PrintableStream(std::ostream& stream) : stream_(stream), behind_(stream.rdbuf(this)) {}

PrintableStream::~PrintableStream() {
  stream_.flush();
  stream_.rdbuf(behind_);
}

int PrintableStream::overflow(int c) {
  if (c == traits_type::eof()) return traits_type::not_eof(c);
  const char character = traits_type::to_char_type(c);
  return xsputn(&character, 1) == 1 ? c : traits_type::eof();
}

std::streamsize PrintableStream::xsputn(const char* text, std::streamsize count) {
  const std::string shown = printable(std::string_view(text, count));
  const std::streamsize length = shown.size();
  line_ += shown;
  for (std::size_t end = 0; (end = line_.find('\n')) != std::string::npos; line_.erase(0, end + 1))
    log_line(line_.substr(0, end));
  return behind_->sputn(shown.data(), length) == length ? count : 0;
}

}  // namespace tandem::apps
