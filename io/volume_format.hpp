#pragma once

// For io/ alone: how voxels become the numbers of a file, and back.

#include <cstddef>
#include <vector>

#include "tandem/io/scan_reader.hpp"
#include "tandem/io/volume_file.hpp"

namespace tandem::io {

PixelType pixel_type(VoxelType type);
/// The largest integer of the type: where `max` goes.
double full_scale(VoxelType type);
/// Voxels as integers of the format, rounded and clipped; nan becomes 0.
std::vector<std::byte> quantised(const VolumeFormat& format, const float* data, Index count);

std::unique_ptr<VolumeWriter> create_hdf5_volume(const std::filesystem::path& path, Shape shape,
                                                 const VolumeFormat& format, const std::string& recipe_json);
std::unique_ptr<VolumeWriter> create_tiff_volume(const std::filesystem::path& path, Shape shape,
                                                 const VolumeFormat& format, const std::string& recipe_json);

/// "NAME_00012.tif" of "NAME.tif".
std::filesystem::path slice_path(const std::filesystem::path& volume, Index slice);
/// Removes slices first, first + 1, ... and beyond of a TIFF volume, as far as tandem wrote them.
/// @throws FileError for one that cannot be removed
void remove_slices_from(const std::filesystem::path& volume, Index first);

}  // namespace tandem::io
