#pragma once

// For io/ alone: how voxels become the numbers of a file, and back.

#include <cstddef>
#include <map>
#include <vector>

#include "output.hpp"
#include "scan_reader.hpp"
#include "volume_file.hpp"

namespace tandem::io {

/// Where a volume in HDF5 has the checksums of its slices.
constexpr const char* checksums_path = "/process/tandem/checksums";

PixelType pixel_type(VoxelType type);
/// The largest integer of the type: where `max` goes.
double full_scale(VoxelType type);
/// Voxels as integers of the format, rounded and clipped; nan becomes 0.
std::vector<std::byte> quantised(const VolumeFormat& format, const float* data, Index count);

/// A place as files hold it, all in the order (z, y, x): "pitch", "centre", "full_shape", and "region", first
/// and last of each axis.
using PlaceNumbers = std::map<std::string, std::vector<double>>;
PlaceNumbers numbers_of(const VolumePlace& place);
/// @throws FileError for numbers that are missing or cannot be those of a volume of this shape
VolumePlace place_of(const PlaceNumbers& numbers, bool in_mm, Shape shape, const std::string& where);

std::unique_ptr<VolumeWriter> create_hdf5_volume(Output output, Shape shape, const VolumeFormat& format,
                                                 const std::string& recipe_json);
std::unique_ptr<VolumeWriter> create_tiff_volume(const std::filesystem::path& path, Shape shape,
                                                 const VolumeFormat& format, const std::string& recipe_json,
                                                 Replace replace);

/// What a volume's file says of it, and how its voxels are read.
class VolumeSource {
 public:
  virtual ~VolumeSource() = default;
  /// Numbers as they are stored. The caller has checked the range.
  virtual void read(Range slices, float* stored) = 0;

  std::string where;  ///< "volume.h5: /exchange/data"
  VolumeKind kind = VolumeKind::hdf5;
  Shape shape{};
  PixelType type = PixelType::float32;
  std::string unit = "1/pixel";
  std::optional<VolumePlace> place;
  std::optional<double> pitch_mm;  ///< along x
  std::string missing;  ///< what is not there or does not fit, and what to do; empty if the volume is whole
  bool reconstruction = false;
  std::optional<double> min, max;  ///< where the ends of an integer type's range lie
};
/// Why a volume is not whole that says so itself.
constexpr const char* not_finished =
    "is marked incomplete, as the run that wrote it did not finish; make it again";

/// @throws FileError
std::unique_ptr<VolumeSource> open_hdf5_volume(const std::filesystem::path& path, bool any_external);
/// The volume that tandem wrote as NAME_00000.tif ..., from the name of any slice or from NAME.tif; null for
/// other files. @throws FileError for slices that cannot be read
std::unique_ptr<VolumeSource> open_tiff_volume(const std::filesystem::path& path);

/// "NAME_00012.tif" of "NAME.tif".
std::filesystem::path slice_path(const std::filesystem::path& volume, Index slice);
/// The number that stands in a slice's name; nothing if it is none of this volume's, the folder apart.
std::optional<Index> slice_number(const std::filesystem::path& volume, const std::filesystem::path& file);
/// NAME.tif of the name of a slice that is there; any other name as it is.
std::filesystem::path volume_of(const std::filesystem::path& path);
/// By what a TIFF file says of itself.
bool written_by_tandem(const std::string& description);
/// What a slice of a TIFF volume says of itself, a line a quantity; slices of one run differ in one line.
std::string slice_description(Shape shape, const VolumeFormat& format, Index slice,
                              const std::string& recipe_json);
/// All files with such a name, by their numbers.
std::map<Index, std::filesystem::path> slices_on_disk(const std::filesystem::path& volume);

}  // namespace tandem::io
