#pragma once

// Used only within io/.

#include <filesystem>
#include <memory>

#include "volume_format.hpp"

namespace tandem::io {

/// Opens a folder that is an OME-Zarr 0.4, or an array, in Zarr 2, with the axes z, y, x. Null for any other
/// path. @throws FileError
std::unique_ptr<VolumeSource> open_zarr(const std::filesystem::path& path, bool any_external);

}  // namespace tandem::io
