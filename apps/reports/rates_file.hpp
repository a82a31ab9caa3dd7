#pragma once

#include <filesystem>

#include "../../forecast/rates.hpp"

namespace tandem::apps {

/// Where rates are kept: `rates.json` in the folder that TANDEM_CACHE names, else in `tandem` in
/// XDG_CACHE_HOME, else in ~/.cache/tandem. Empty if there is no such folder, not even by name.
std::filesystem::path rates_file();

/// The rates that are kept in a file. There are none if it cannot be read; what is damaged is left out.
pipeline::Rates read_rates(const std::filesystem::path& path);

/// Adds rates to a file, which is made if need be. The file is replaced as a whole, so several programs may
/// do this at the same time; then one of them may be the only one that is heard. If the file cannot be
/// written, nothing happens.
void keep_rates(const std::filesystem::path& path, const pipeline::Rates& newer);

}  // namespace tandem::apps
