#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tandem::apps {

/// The words of a command line, command first, with the options of its `--config FILE` added. The file has a
/// line `name = value` for each option, in TOML (or INI). Options on the command line come before those in
/// the file. @throws FileError for a file that cannot be read; UsageError for one with sections
std::vector<std::string> with_option_file(const CLI::App& command, std::vector<std::string> words);

}  // namespace tandem::apps
