#pragma once

#include <filesystem>

#include "../../forecast/rates.hpp"

namespace tandem::apps {

/// The file where rates are kept: `rates.json` in the folder that TANDEM_CACHE names, else in `tandem` in
/// XDG_CACHE_HOME, else in ~/.cache/tandem. Empty if none of these folders is named.
std::filesystem::path rates_file();

/// The rates in a file. There are none if it cannot be read; damaged ones are left out.
pipeline::Rates read_rates(const std::filesystem::path& path);

/// Adds rates to a file, and makes it if it is not there. The file is replaced as a whole, so several
/// programs may do this at the same time; then the rates of only one of them may be kept. If the file cannot
/// be written, nothing happens.
void keep_rates(const std::filesystem::path& path, const pipeline::Rates& newer);

}  // namespace tandem::apps
