#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tandem::apps {

/// The words of a command line, command first, with the options of its `--config FILE` added, and, for
/// `recon`, those of the recipe that `--like VOLUME` has. A file has a line `name = value` for each option,
/// in TOML (or INI). Options on the command line come before those in the file, and these before those of the
/// volume; an option that excludes one that came before is left out. Of a volume only options that decide a
/// volume are taken, and none that names a file; of a file none that decides what is written, replaced or
/// served, and never --allow-external-files. @throws FileError for a file or a volume that cannot be read,
/// and for a recipe with other options; UsageError for sections, and for an option that is not known or not
/// taken
std::vector<std::string> with_option_file(const CLI::App& command, std::vector<std::string> words);

}  // namespace tandem::apps
