#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace tandem::apps {

/// Whether an option of `recon` (without dashes) decides what the volume becomes. Others say where files are,
/// which devices compute, and what is shown.
bool decides_the_volume(const std::string& option);

/// Whether these values of an option of `recon` that decides the volume name a file.
bool names_a_file(const std::string& option, const std::vector<std::string>& values);

/// Whether an option is never taken from a file of options, since it says what is written, replaced or
/// served, or opens files that the scan names.
bool is_for_the_command_line(const std::string& command, const std::string& option);

/// The options of a command that decide the volume, in TOML: as they were given, or with their defaults if
/// these have a meaning (`applies`). `found` has values, by option, that replace the given ones; an empty
/// value leaves an option out.
std::string config_text(const CLI::App& command, const std::map<std::string, std::string>& found,
                        const std::function<bool(const std::string& option)>& applies);

/// The recipe of a volume that tandem wrote. @throws FileError if it has none
nlohmann::json recipe_in(const std::filesystem::path& volume);

/// The options of that recipe, as `config_text` wrote them. If several runs made parts of the volume, these
/// are the options of the first run, changed so that they make all slices. @throws FileError
std::string config_in(const std::filesystem::path& volume);

}  // namespace tandem::apps
