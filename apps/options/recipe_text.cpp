#include "recipe_text.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "../../core/error.hpp"
#include "../../core/version.hpp"
#include "../../io/files/text.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../beams/beam.hpp"
#include "../command.hpp"
#include "settings_text.hpp"
#include "step_options.hpp"

namespace tandem::apps {

using nlohmann::json;

namespace {

constexpr const char* unheeded =
    "allow-external-files checkpoint compare config device device-memory dry-run "
    "follow help json like log memory output overwrite part-of port preview quiet "
    "resume save-config save-format scan score serve sweep threads truth version";

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

bool decides_the_volume(const std::string& option) { return !io::is_among(option, unheeded); }

bool names_a_file(const std::string& option, const std::vector<std::string>& values) {
  for (const char* list : {"angles", "view-shifts", "view-row-shifts", "row-axes", "flats", "darks"})
    if (option == list) return true;
  if (option == "geometry")
    return std::ranges::any_of(values, [](const std::string& value) { return kind_called(value).empty(); });
  if (option == "initial")
    return !std::ranges::all_of(values, [](const std::string& value) {
      return in_lower_case(value) == "zero" || in_lower_case(value) == "fbp";
    });
  return names_file_of_step(option, values);
}

bool is_for_the_command_line(const std::string& command, const std::string& option) {
  for (const char* one : {"allow-external-files", "checkpoint", "json", "log", "output", "overwrite",
                          "part-of", "preview", "resume", "save-config", "serve"})
    if (option == one) return true;
  return command == "simulate" && option == "truth";  // which it writes
}

std::string config_text(const CLI::App& command, const std::map<std::string, std::string>& found,
                        const std::function<bool(const std::string& option)>& applies) {
  std::string text = std::string("# tandem ") + TANDEM_VERSION + ": a recipe of tandem " +
                     command.get_name() + ", for --config\n";
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty() || !decides_the_volume(option->get_lnames().front())) continue;
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
