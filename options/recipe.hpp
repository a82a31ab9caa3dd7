#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "option.hpp"

namespace tandem::options {

/// The name of the line of a recipe with the version of tandem that wrote it.
constexpr const char* recipe_version = "recipe-of";

/// The options of a command that decide the volume, in TOML: as they were given, or with their defaults if
/// these have a meaning (`applies`). `found` has values, by option, that replace the given ones; an empty
/// value leaves an option out.
std::string config_text(const Table& table, const std::map<std::string, std::string>& found,
                        const std::function<bool(const std::string& option)>& applies);

/// The recipe of a volume that tandem wrote. @throws FileError if it has none
nlohmann::json recipe_in(const std::filesystem::path& volume);

/// The options of that recipe, as `config_text` wrote them. If several runs made parts of the volume, these
/// are the options of the first run, changed so that they make all slices. @throws FileError
std::string config_in(const std::filesystem::path& volume);

}  // namespace tandem::options
