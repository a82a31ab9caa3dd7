#pragma once

// The JSON of an OME-Zarr volume. Used only within io/.

#include <string>
#include <vector>

#include "volume_file.hpp"

namespace tandem::io::zarr_text {

/// ".zarray" of one level, in Zarr 2.
std::string array(Shape shape, const VolumeFormat& format);

/// ".zattrs" of one level: the names of its axes for xarray, which takes all levels as variables of one data
/// set.
std::string dimensions(std::size_t level);

/// ".zattrs": the levels with the size and the place of their voxels, in millimetres if lengths are known,
/// and what tandem says of the volume.
std::string attributes(const std::string& name, const std::vector<Shape>& levels, const VolumeFormat& format,
                       const std::string& recipe_json, const std::string& report_json);

/// What stands in each ".zattrs" that tandem writes, and in no other.
constexpr const char* mark = R"("tandem":{"command":"recon")";

/// ".zattrs" until all files are in their places.
std::string unfinished();

}  // namespace tandem::io::zarr_text
