#include "recipe_text.hpp"

#include <algorithm>
#include <sstream>

#include "../../core/error.hpp"
#include "../../core/version.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../command.hpp"
#include "settings_text.hpp"
#include "step_options.hpp"
#include "values.hpp"

namespace tandem::apps {

using nlohmann::json;

namespace {

std::string default_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "false";
  const std::string text = option.get_default_str();
  const bool none = text.empty() || text == "[]" || text == "{}";
  return none ? "" : toml_of({text});
}

/// The lines of a text, without the one that sets this option.
std::string without(const std::string& text, const std::string& option) {
  std::istringstream lines(text);
  std::string left;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with(option + " = ")) left += line + '\n';
  return left;
}

}  // namespace

bool names_a_file(const std::string& option, const std::string& kind,
                  const std::vector<std::string>& values) {
  std::vector<std::string> words = parts_of(kind, '|');
  const bool takes_files = std::erase_if(words, [](const auto& one) { return one.starts_with("FILE"); }) > 0;
  const auto is_word = [&](const std::string& value) {
    return std::ranges::find(words, in_lower_case(value)) != words.end();
  };
  return (takes_files && (words.empty() || !std::ranges::all_of(values, is_word))) ||
         names_file_of_step(option, values);
}

std::string config_text(const CLI::App& command, const std::map<std::string, std::string>& found,
                        const std::function<bool(const std::string& option)>& applies) {
  std::string text = std::string("# tandem ") + TANDEM_VERSION + ": a recipe of tandem " +
                     command.get_name() + ", for --config\n";
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty() || !decides_the_volume(*option)) continue;
    const std::string& name = option->get_lnames().front();
    const auto at = found.find(name);
    if (at == found.end() && option->count() == 0 && !applies("--" + name)) continue;
    const std::string value = at != found.end()     ? at->second
                              : option->count() > 0 ? toml_of(option->reduced_results())
                                                    : default_of(*option);
    if (!value.empty()) text += name + " = " + value + '\n';
  }
  return text;
}

json recipe_in(const std::filesystem::path& volume) {
  const io::VolumeReader reader(volume);
  json recipe = parsed(reader.recipe());
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

}  // namespace tandem::apps
