#pragma once

// Used only within io/scans/settings/.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "../../files/text.hpp"
#include "../fields.hpp"
#include "../scan_reader.hpp"

namespace tandem::io {

/// A text of lines "key = value" or "key : value". If a key comes again, the first one counts; SECTION/KEY is
/// that of a section. Upper and lower case of keys do not matter, nor does how many blanks are between their
/// words. Quotes around values are removed.
class KeyValues {
 public:
  /// Reads a small text file. `separator` stands between key and value. @throws FileError
  KeyValues(const std::filesystem::path& path, char separator);
  /// Reads XML instead: an element that has no elements in it is a key with a value, and the element around
  /// it is a section. Its attribute "unit" is the key "NAME@unit".
  static KeyValues of_xml(const std::filesystem::path& path);
  /// Reads lines "<key>value", which nothing closes, in sections from "<section>" to "</section>".
  static KeyValues of_tags(const std::filesystem::path& path);

  const std::string& name() const { return name_; }
  bool has(const std::string& key) const { return find(key) != nullptr; }
  std::string text(const std::string& key) const;  ///< the value; empty if there is none
  /// The value as a number; empty if there is none. @throws FileError if it is no finite number
  std::optional<double> number(const std::string& key) const;
  std::optional<double> positive(const std::string& key) const;  ///< @throws FileError, also if it is <= 0
  std::optional<Index> count(const std::string& key) const;      ///< @throws FileError unless it is 1, 2, ...

 private:
  explicit KeyValues(std::string name) : name_(std::move(name)) {}
  void add(const std::string& section, const std::string& key, std::string_view value);
  const std::string* find(const std::string& key) const;
  std::string name_;
  std::map<std::string, std::string> values_;
};

/// Adds notes for fields of a format that are not obeyed, as io::heed does. @throws FileError
void heed(std::span<const Field> fields, const KeyValues& text, std::vector<std::string>& notes);

/// The beginning of a small text file, in lower case; empty if it cannot be read.
std::string start_of_text(const std::filesystem::path& path);

/// A finite number that is all of the text; empty if it is none.
std::optional<double> finite_number(std::string_view text);

}  // namespace tandem::io
