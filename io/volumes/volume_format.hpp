#pragma once

// Turns voxels into the numbers of a file, and back. Used only within io/.

#include <cstddef>
#include <map>
#include <vector>

#include "../files/number_type.hpp"
#include "../files/output.hpp"
#include "../scans/scan_reader.hpp"
#include "volume_file.hpp"

namespace tandem::io {

/// The data sets of an HDF5 volume with the checksums of its slices and with `VolumeFormat::made_by`.
constexpr const char* checksums_path = "/process/tandem/checksums";
constexpr const char* made_by_path = "/process/tandem/made_by";

NumberType number_type(VoxelType type);
/// Whether the type stands for a range of attenuation, `min` to `max`.
bool is_integer(VoxelType type);
/// The largest integer of the type, which stands for `max`.
double full_scale(VoxelType type);
/// Voxels as they are stored, if not in float32: rounded, and clipped for integers. As integers, NaN becomes
/// 0. As halves, voxels that are too large become infinite. Adds to `clipped` the voxels that integers could
/// not hold.
std::vector<std::byte> quantised(const VolumeFormat& format, const float* data, Index count,
                                 Clipped* clipped = nullptr);

/// @throws FileError unless integers can stand for this range
void require_range(float min, float max, const std::string& where);
/// Turns integers from 0 to `full_scale` into attenuation.
void scale_back(VoxelType type, double min, double max, Index count, float* data);
/// Turns stored numbers into attenuation.
void from_stored(const VolumeFormat& format, const std::byte* stored, Index count, float* data);

/// A place as files hold it, in the order (z, y, x): "pitch", "centre", "full_shape", and "region", which is
/// the half-open range along each axis.
using PlaceNumbers = std::map<std::string, std::vector<double>>;
PlaceNumbers numbers_of(const VolumePlace& place);
/// The place from these numbers. @throws FileError if numbers are missing, or do not fit a volume of this
/// shape
VolumePlace place_of(const PlaceNumbers& numbers, bool in_mm, Shape shape, const std::string& where);

/// An open volume: what its file says about it, and how its voxels are read.
class VolumeSource {
 public:
  virtual ~VolumeSource() = default;
  /// Reads numbers as they are stored. The caller has checked the range. Default: by `read_part`.
  virtual void read(Range slices, float* stored);
  /// Reads a rectangle of a slice of a level as numbers of `type`. Several threads may call it at once.
  virtual void read_part(std::size_t level, Index slice, Range y, Range x, std::byte* out) const = 0;
  /// Whether a call of `read_part` costs little beside the lines that it reads. If not, a slice is read by
  /// one call.
  virtual bool reads_lines() const { return decoded_bytes() == 0; }
  /// Bytes that all threads together hold for packed chunks while they read.
  virtual std::size_t decoded_bytes() const { return 0; }
  /// Reads a box as numbers as they are stored. The caller has checked it.
  void read_box(const VolumeBox& box, std::size_t level, float* stored) const;
  /// Bytes that this takes beside its result.
  double bytes_for(const VolumeBox& box) const;

  std::string where;  ///< "volume.h5: /exchange/data"
  Shape shape{};
  std::vector<Shape> smaller;           ///< shapes of the levels behind the first one
  PixelType type = PixelType::float32;  ///< type in which it is read
  bool is_float16 = false;              ///< whether it is stored in half precision and read as float32
  std::string unit = "1/pixel";
  std::optional<VolumePlace> place;
  std::optional<double> pitch_mm;  ///< pitch along x
  std::string missing;  ///< what is missing or does not fit, and a remedy; empty if the volume is complete
  bool reconstruction = false;
  std::string recipe;              ///< recipe as its writer got it; empty if there is none
  std::optional<double> min, max;  ///< the attenuation at the ends of an integer type's range

 protected:
  /// The checksum of numbers that were read, as if they were stored.
  std::uint32_t stored_checksum(const std::byte* numbers, Index count) const;
};
/// The text of `missing` if the volume itself says that it is incomplete.
constexpr const char* not_finished =
    "is marked incomplete, as the run that wrote it did not finish; make it again";

/// @throws FileError
std::unique_ptr<VolumeSource> open_hdf5_volume(const std::filesystem::path& path, bool any_external);
struct Creation;  // volume_kind.hpp
std::unique_ptr<VolumeWriter> create_hdf5_volume(const Creation& creation);
std::unique_ptr<VolumeWriter> create_slice_files(const Creation& creation);
struct SliceFile;
/// Opens a volume that tandem wrote as NAME_00000.tif ..., by the name of any slice or by NAME.tif, if this
/// is how its slices are read. Null for other files. @throws FileError for slices that cannot be read
std::unique_ptr<VolumeSource> open_slice_files(const std::filesystem::path& path, const SliceFile& as);
/// The manifest of such a volume, and its slices that are there.
std::vector<std::filesystem::path> slice_files(const std::filesystem::path& volume);

/// The path "NAME_00012.tif" of slice 12 of "NAME.tif".
std::filesystem::path slice_path(const std::filesystem::path& volume, Index slice);
/// The number in the name of a slice, in any folder. Empty if the file is not a slice of this volume.
std::optional<Index> slice_number(const std::filesystem::path& volume, const std::filesystem::path& file);
/// The volume of a path: NAME.tif for the name of a slice that exists; any other name stays as it is.
std::filesystem::path volume_of(const std::filesystem::path& path);
/// The facts of a volume as text, by names: shape, type, unit, place, range and recipe.
using VolumeFacts = std::vector<std::pair<std::string, std::string>>;
VolumeFacts volume_facts(Shape shape, const VolumeFormat& format, const std::string& recipe_json);
/// Whether the description of a file, or the start of a text, says that tandem wrote it.
bool written_by_tandem(const std::string& description);
/// The description of the file of a slice, with one line for each quantity. The slices of one run differ
/// in one line.
std::string slice_description(Shape shape, const VolumeFormat& format, Index slice,
                              const std::string& recipe_json);
/// All files on disk with the name of a slice of this volume, by their numbers.
std::map<Index, std::filesystem::path> slices_on_disk(const std::filesystem::path& volume);

}  // namespace tandem::io
