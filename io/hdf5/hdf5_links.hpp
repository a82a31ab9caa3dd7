#pragma once

// Used only within io/.

#include <filesystem>
#include <vector>

namespace tandem::io::hdf5 {

/// The files to which an HDF5 file leads, directly or through other files: by external links, as sources of
/// virtual data sets, or as external raw files. Only files that exist are listed, and only the first
/// thousands of links are followed.
std::vector<std::filesystem::path> linked_files(const std::filesystem::path& path);

}  // namespace tandem::io::hdf5
