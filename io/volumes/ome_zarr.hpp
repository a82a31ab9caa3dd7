#pragma once

// OME-Zarr volumes: how they are opened, and their JSON. Used only within io/.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "volume_file.hpp"
#include "volume_format.hpp"

namespace tandem::io {

/// Whether a path is a folder that is a Zarr, or has the name of one.
bool is_zarr(const std::filesystem::path& path);

/// Opens a folder that is an OME-Zarr 0.4 or 0.5, or an array in Zarr 2 or 3, with the axes z, y, x. Null for
/// any other path. @throws FileError
std::unique_ptr<VolumeSource> open_zarr(const std::filesystem::path& path, bool any_external);

namespace zarr_text {

/// The file ".zarray" of one level, in Zarr 2; "zarr.json" in Zarr 3. `file`: voxels of a file.
std::string array(const Shape& file, const Shape& shape, const VolumeFormat& format);

/// The file ".zattrs" of one level: the names of its axes for xarray, which takes all levels as variables of
/// one data set.
std::string dimensions(std::size_t level);

/// The file ".zattrs", or "zarr.json", of the volume: its levels with the size and the place of their voxels,
/// in millimetres if lengths are known, and what tandem says about the volume.
std::string attributes(const std::string& name, const std::vector<Shape>& levels, const VolumeFormat& format,
                       const std::string& recipe_json, const std::string& report_json);

/// A new text with the attributes of the older text that are a user's: with all that it has no attribute for,
/// except the levels. The two may be of different versions of Zarr.
std::string with_attributes_of(const std::string& older, const std::string& text);

/// Whether the text is that of the ".zattrs" or "zarr.json" of a volume of tandem.
bool is_own(const std::string& text);

/// The file ".zattrs" or "zarr.json" as long as files are missing.
std::string unfinished(const VolumeFormat& format);

}  // namespace zarr_text

}  // namespace tandem::io
