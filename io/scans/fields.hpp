#pragma once

// What scanners write beside their images, in one table for each format. Used only within io/.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::io {

/// What a reader does with a field whose value is not harmless.
enum class Use {
  obeyed,  ///< it changes the geometry, the order or the weight of views
  noted,   ///< it is left out, and a note of the scan says so
  refused  ///< the scan is not opened, because its volume would be wrong, and nothing would show it
};

/// A field of a maker's description that bears on geometry, exposure or order.
struct Field {
  std::string_view key;       ///< name as the maker writes it: "ObjectTilt", "sample/x_translation"
  std::string_view harmless;  ///< the value that changes nothing: "0", "off"; empty: there is none
  Use use;
  std::string_view meaning;  ///< what the field says, and if it is not obeyed, what to do
};

/// The fields of a format. They stand beside its reader, and in its row of the table of formats.
struct FieldTable {
  std::string_view format;  ///< "Nikon XTEK"
  std::span<const Field> fields;
};

/// The tables of all formats, as docs/fields.md shows them.
std::span<const FieldTable> field_tables();

/// Whether a value changes nothing: both are the same number, or the same text in upper or lower case.
bool is_harmless(const Field& field, std::string_view value);

/// Adds a note for each field with `Use::noted` that has a value that is not harmless. `where` names the
/// file. `value_of` returns the value of a key as the file has it; empty if it has none. @throws FileError
/// for such a field with `Use::refused`
void heed(std::span<const Field> fields, const std::string& where,
          const std::function<std::optional<std::string>(std::string_view key)>& value_of,
          std::vector<std::string>& notes);

}  // namespace tandem::io
