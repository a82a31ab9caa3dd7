#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../core/array.hpp"
#include "../core/range.hpp"
#include "output.hpp"
#include "volume_place.hpp"

namespace tandem::io {

/// How voxels are stored. Integers map [min, max] onto their whole range, and clip outside.
enum class VoxelType { float32, uint16, uint8 };

struct VolumeFormat {
  VoxelType type = VoxelType::float32;
  float min = 0, max = 1;                 ///< attenuation, for integer types
  std::optional<VolumePlace> place = {};  ///< of the shape that is written; left out: nothing is said of it
  std::string unit() const { return place ? place->unit() : "1/pixel"; }
};

/// HDF5, or one TIFF a slice.
enum class VolumeKind { hdf5, tiff };
/// By the name's ending: ".h5", ".hdf5", ".hdf", ".nxs" or ".tif", ".tiff"; nothing for any other.
std::optional<VolumeKind> volume_kind(const std::filesystem::path& path);

/// Whether `file` is, or would be, of the TIFF volume "NAME.tif": a slice "NAME_00000.tif" beside it, or the
/// manifest "NAME.tif.manifest".
bool is_file_of(const std::filesystem::path& volume, const std::filesystem::path& file);
/// The files that an output of this name may replace: itself, and those of the TIFF volume of that name.
std::vector<std::filesystem::path> files_of_output(const std::filesystem::path& path);

/// What such a volume is called in messages: its name, or, of TIFF, its first and its last file and their
/// number.
std::string files_written(const std::filesystem::path& path, Range slices);

/// Writes a volume (z, y, x) slab by slab, in order. Nothing stands under the final name until `finish`; an
/// unfinished writer takes away what it wrote when it is destroyed.
class VolumeWriter {
 public:
  virtual ~VolumeWriter() = default;
  virtual void write(Range slices, const float* data) = 0;  ///< @throws FileError, a full disk included
  virtual void finish(
      const std::string& report_json) = 0;  ///< marks the volume complete and gives it its name
};

/// HDF5 or one TIFF a slice (NAME_00000.tif), by the name's ending: see `volume_kind`; slices are counted in
/// the full grid. `recipe_json` goes under /process/tandem. A TIFF volume takes the place of an older one of
/// the same slices or of fewer; slices of other numbers stay if they are of the same grid; an older volume of
/// which it would leave a part goes as a whole, with Replace::any. @throws FileError if the folder does not
/// exist or cannot be written, if another run writes there, and for what may not be replaced
std::unique_ptr<VolumeWriter> create_volume(const std::filesystem::path& path, Shape shape,
                                            const VolumeFormat& format, const std::string& recipe_json,
                                            Replace replace = Replace::own);

/// A volume on disk: the HDF5 that tandem (or tomocupy) writes, `/exchange/data` (z, y, x), or the TIFF
/// slices that tandem writes, by the name of any of them or by NAME.tif. Slices of several runs are one
/// volume if they are of one grid.
class VolumeReader {
 public:
  /// `any_external`: raw files that an HDF5 names as its data may lie outside its folder. @throws FileError
  explicit VolumeReader(const std::filesystem::path& path, bool any_external = false);
  ~VolumeReader();
  VolumeKind kind() const;
  Shape shape() const;
  std::optional<VolumePlace> place() const;  ///< if the file says where its voxels lie
  std::optional<double> pitch_mm() const;    ///< along x, if known
  std::string unit() const;
  bool is_reconstruction() const;  ///< whether the file calls itself one, and is no scan
  bool complete() const;           ///< false where the file says so, or slices are missing or do not fit
  std::string missing() const;     ///< what makes it incomplete, and what to do; empty if nothing does
  void require_complete() const;   ///< @throws FileError that says so
  /// Integers are scaled back to attenuation. @throws FileError, also for the first voxel that is not finite
  void read(Range slices, float* data);

 private:
  std::unique_ptr<class VolumeSource> source_;
};

}  // namespace tandem::io
