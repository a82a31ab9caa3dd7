#pragma once

// The JSON of an OME-Zarr volume. Used only within io/.

#include <string>
#include <vector>

#include "volume_file.hpp"

namespace tandem::io::zarr_text {

/// The file ".zarray" of one level, in Zarr 2.
std::string array(Shape shape, const VolumeFormat& format);

/// The file ".zattrs" of one level: the names of its axes for xarray, which takes all levels as variables of
/// one data set.
std::string dimensions(std::size_t level);

/// The file ".zattrs" of the volume: its levels with the size and the place of their voxels, in millimetres
/// if lengths are known, and what tandem says about the volume.
std::string attributes(const std::string& name, const std::vector<Shape>& levels, const VolumeFormat& format,
                       const std::string& recipe_json, const std::string& report_json);

/// The text that each ".zattrs" of tandem has, and no other one.
constexpr const char* mark = R"("tandem":{"command":"recon")";

/// The file ".zattrs" as long as files are missing.
std::string unfinished();

}  // namespace tandem::io::zarr_text
