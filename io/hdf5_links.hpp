#pragma once

// For io/ alone.

#include <filesystem>
#include <vector>

namespace tandem::io::hdf5 {

/// The files that an HDF5 file leads to, directly or by others: external links, sources of virtual data sets,
/// external raw files. As far as they exist, and as some thousand links reach.
std::vector<std::filesystem::path> linked_files(const std::filesystem::path& path);

}  // namespace tandem::io::hdf5
