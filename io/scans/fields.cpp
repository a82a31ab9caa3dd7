#include "fields.hpp"

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../files/text.hpp"
#include "images/image.hpp"
#include "layouts/layout.hpp"
#include "settings/key_values.hpp"
#include "settings/settings.hpp"

namespace tandem::io {

extern const FieldTable zeiss_table;

std::span<const FieldTable> field_tables() {
  static const std::vector<FieldTable> tables = [] {
    std::vector<FieldTable> all;
    for (const Layout& each : layouts()) all.push_back({each.name, each.fields});
    for (const SettingsFormat& each : settings_formats()) all.push_back({each.name, each.fields});
    for (const ImageFormat& each : image_formats()) all.push_back({each.name, each.fields});
    all.push_back(zeiss_table);
    std::erase_if(all, [](const FieldTable& table) { return table.fields.empty(); });
    return all;
  }();
  return tables;
}

bool is_harmless(const Field& field, std::string_view value) {
  if (field.harmless.empty()) return false;
  const std::optional<double> number = finite_number(value), harmless = finite_number(field.harmless);
  if (number && harmless) return *number == *harmless;
  return in_lower_case(std::string(trimmed(value))) == in_lower_case(std::string(field.harmless));
}

void heed(std::span<const Field> fields, const std::string& where,
          const std::function<std::optional<std::string>(std::string_view key)>& value_of,
          std::vector<std::string>& notes) {
  for (const Field& field : fields) {
    if (field.use == Use::obeyed) continue;
    const std::optional<std::string> value = value_of(field.key);
    if (!value || trimmed(*value).empty() || is_harmless(field, *value)) continue;
    const std::string said = std::string(field.key) + " = " + *value;
    require<FileError>(field.use != Use::refused, where, ": ", said, ": ", with_spelled(field.meaning));
    notes.push_back(where + ": " + said + " is left out: " + with_spelled(field.meaning));
  }
}

}  // namespace tandem::io
