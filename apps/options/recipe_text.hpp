#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace tandem::apps {

/// Whether these values of an option of `recon` that decides the volume name a file. Its kind of value tells:
/// "FILE|cone|fan|parallel".
bool names_a_file(const std::string& option, const std::string& kind, const std::vector<std::string>& values);

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
