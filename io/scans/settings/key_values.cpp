#include "key_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include "../../../core/error.hpp"
#include "../../files/input_file.hpp"
#include "../../files/xml.hpp"

namespace tandem::io {

namespace {

constexpr std::uintmax_t longest = 4 << 20;  // bytes of a file; real ones have a few KiB
constexpr double most = 1e9;                 // the largest count
constexpr std::string_view blanks = " \t\r\n\"";

std::string text_of(const std::filesystem::path& path) {
  require_regular_file(path);
  const std::uintmax_t bytes = stamp_of(path, path.string()).bytes;
  require<FileError>(bytes <= longest, path.string(), ": has ", bytes,
                     " bytes; a text file with settings, of at most ", longest, ", is needed");
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

std::optional<double> finite_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string start_of_text(const std::filesystem::path& path) {
  std::string text(8192, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), text.size());
  text.resize(std::max<std::streamsize>(0, file.gcount()));
  return in_lower_case(std::move(text));
}

void KeyValues::add(const std::string& section, const std::string& key, std::string_view value) {
  if (!section.empty()) values_.try_emplace(in_lower_case(section) + '/' + key, value);
  values_.try_emplace(key, value);
}

KeyValues::KeyValues(const std::filesystem::path& path, char separator) : name_(path.string()) {
  std::istringstream file(text_of(path));
  std::string section;
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(separator);
    const std::string_view all = line, head = trimmed(all, blanks);
    if (head.starts_with('[') && head.ends_with(']')) section = head.substr(1, head.size() - 2);
    if (at == std::string::npos) continue;
    std::string key = in_lower_case(std::string(trimmed(all.substr(0, at), blanks)));
    const auto both_blank = [](char a, char b) { return a == ' ' && b == ' '; };
    key.erase(std::unique(key.begin(), key.end(), both_blank), key.end());
    add(section, key, trimmed(all.substr(at + 1), blanks));
  }
}

KeyValues KeyValues::of_xml(const std::filesystem::path& path) {
  KeyValues all(path.string());
  pugi::xml_document tree = xml_in(text_of(path), all.name_);
  for (const pugi::xml_node& element : innermost_elements(tree)) {
    const std::string key = in_lower_case(element.name());
    const bool is_first = !all.values_.contains(key);
    all.add(element.parent().name(), key, trimmed(text_of(element), blanks));
    for (const pugi::xml_attribute& attribute : element.attributes())
      if (is_first) all.values_.emplace(key + "@" + in_lower_case(attribute.name()), attribute.value());
  }
  return all;
}

KeyValues KeyValues::of_tags(const std::filesystem::path& path) {
  constexpr std::size_t deepest = 64;
  KeyValues all(path.string());
  std::istringstream file(text_of(path));
  std::vector<std::string> sections;
  for (std::string line; std::getline(file, line);) {
    const std::string_view text = trimmed(line, blanks);
    const std::size_t end = text.find('>');
    if (!text.starts_with('<') || end == std::string_view::npos) continue;
    const std::string key = in_lower_case(std::string(text.substr(1, end - 1)));
    const std::string_view value = trimmed(text.substr(end + 1), blanks);
    if (key.starts_with('/')) {
      const auto opened = std::find(sections.rbegin(), sections.rend(), key.substr(1));
      if (opened != sections.rend()) sections.erase(std::prev(opened.base()), sections.end());
    } else if (value.empty()) {
      if (sections.size() < deepest) sections.push_back(key);
    } else {
      for (const std::string& section : sections) all.add(section, key, value);
      all.add("", key, value);
    }
  }
  return all;
}

const std::string* KeyValues::find(const std::string& key) const {
  const auto found = values_.find(in_lower_case(key));
  return found == values_.end() || found->second.empty() ? nullptr : &found->second;
}

std::string KeyValues::text(const std::string& key) const {
  const std::string* value = find(key);
  return value ? *value : "";
}

std::optional<double> KeyValues::number(const std::string& key) const {
  const std::string* value = find(key);
  if (!value) return std::nullopt;
  const std::optional<double> number = finite_number(*value);
  require<FileError>(number.has_value(), name_, ": ", key, " = \"", value->substr(0, 40),
                     "\"; a finite number is needed");
  return number;
}

std::optional<double> KeyValues::positive(const std::string& key) const {
  const std::optional<double> value = number(key);
  require<FileError>(!value || *value > 0, name_, ": ", key, " = ", value.value_or(0),
                     "; a number above 0 is needed");
  return value;
}

std::optional<Index> KeyValues::count(const std::string& key) const {
  const std::optional<double> value = number(key);
  require<FileError>(!value || (*value >= 1 && *value <= most && *value == std::floor(*value)), name_, ": ",
                     key, " = ", value.value_or(0), "; a whole number from 1 to ", most, " is needed");
  return value ? std::optional(static_cast<Index>(*value)) : std::nullopt;
}

void heed(std::span<const Field> fields, const KeyValues& text, std::vector<std::string>& notes) {
  heed(
      fields, text.name(),
      [&](std::string_view key) -> std::optional<std::string> { return text.text(std::string(key)); }, notes);
}

}  // namespace tandem::io
