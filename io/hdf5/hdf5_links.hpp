#pragma once

// Used only within io/.

#include <filesystem>
#include <vector>

namespace tandem::io::hdf5 {

/// The files that an HDF5 file leads to, directly or through other files: by external links, as sources of
/// virtual data sets, as external raw files. Only files that exist are listed, and only so far as some
/// thousand links reach.
std::vector<std::filesystem::path> linked_files(const std::filesystem::path& path);

}  // namespace tandem::io::hdf5
