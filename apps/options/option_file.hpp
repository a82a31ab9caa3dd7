#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tandem::apps {

/// The words of a command line, command first, with the options of its `--config FILE` added, and for `recon`
/// also those of the recipe of `--like VOLUME`. A file has a line `name = value` for each option, in TOML (or
/// INI). Options on the command line have precedence over those of the file, and these over those of the
/// volume. An option is left out if it excludes one with precedence. From a volume, only options that decide
/// a volume and name no file are taken. From a file, no option is taken that decides what is written,
/// replaced or served, and never --allow-external-files. @throws FileError for a file or a volume that cannot
/// be read, and for a recipe with other options; UsageError for sections, and for an option that is not known
/// or not taken
std::vector<std::string> with_option_file(const CLI::App& command, std::vector<std::string> words);

}  // namespace tandem::apps
