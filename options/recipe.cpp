#include "recipe.hpp"

#include <algorithm>
#include <sstream>

#include "../core/error.hpp"
#include "../core/version.hpp"
#include "../io/files/json.hpp"
#include "../io/volumes/volume_file.hpp"
#include "toml.hpp"

namespace tandem::options {

using nlohmann::json;

namespace {

/// The lines of a text, without the one that sets this option.
std::string without(const std::string& text, const std::string& option) {
  std::istringstream lines(text);
  std::string left;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with(option + " = ")) left += line + '\n';
  return left;
}

}  // namespace

std::string config_text(const Table& table, const std::map<std::string, std::string>& found,
                        const std::function<bool(const std::string& option)>& applies) {
  std::string text = std::string("# tandem ") + TANDEM_VERSION + ": a recipe of tandem " + table.command +
                     ", for --config\n" + recipe_version + " = \"" + TANDEM_VERSION + "\"\n";
  for (const Option& row : table.rows()) {
    if (row.is_argument || row.on != On::result) continue;
    const auto at = found.find(row.name);
    if (at == found.end() && !row.is_given() && !applies("--" + row.name)) continue;
    const std::string value = at != found.end()   ? at->second
                              : row.is_given()    ? toml_of(row.given)
                              : row.usual.empty() ? std::string()
                                                  : toml_of({row.usual});
    if (!value.empty()) text += row.name + " = " + value + '\n';
  }
  return text;
}

json recipe_in(const std::filesystem::path& volume) {
  const io::VolumeReader reader(volume);
  json recipe = io::json_of(reader.recipe());
  const bool known = recipe.is_object() && recipe.contains("config") && recipe["config"].is_string() &&
                     recipe.contains("version") && recipe["version"].is_string();
  require<FileError>(known, volume.string(),
                     ": holds no recipe of tandem recon; --like takes a volume that tandem recon wrote");
  return recipe;
}

std::string config_in(const std::filesystem::path& volume) {
  const json recipe = recipe_in(volume);
  std::string config = recipe["config"];
  const json about = recipe.value("volume", json());
  const json shape = about.is_object() ? about.value("shape", json()) : json();
  const bool has_shape = shape.is_array() && shape.size() == 3 && shape[0].is_number_integer();
  const Index slices = has_shape ? shape[0].get<Index>() : 0;
  const bool is_part = slices != io::VolumeReader(volume).shape()[0];
  return is_part ? without(config, "slices") : config;
}

}  // namespace tandem::options
