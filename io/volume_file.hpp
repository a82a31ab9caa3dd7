#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tandem/core/array.hpp"
#include "tandem/core/range.hpp"

namespace tandem::io {

/// How voxels are stored. Integers map [min, max] onto their whole range, and clip outside.
enum class VoxelType { float32, uint16, uint8 };

struct VolumeFormat {
  VoxelType type = VoxelType::float32;
  float min = 0, max = 1;               ///< attenuation, for integer types
  std::optional<double> pitch_mm = {};  ///< unknown: the unit is 1/pixel
  std::string unit = "1/pixel";         ///< or "1/mm"
};

/// HDF5, or one TIFF a slice.
enum class VolumeKind { hdf5, tiff };
/// By the name's ending: ".h5", ".hdf5", ".hdf", ".nxs" or ".tif", ".tiff"; nothing for any other.
std::optional<VolumeKind> volume_kind(const std::filesystem::path& path);

/// Whether `file` is, or would be, a slice of the TIFF volume "NAME.tif": "NAME_00000.tif" beside it.
bool is_slice_of(const std::filesystem::path& volume, const std::filesystem::path& file);

/// Writes a volume (z, y, x) slab by slab, in order. Nothing stands under the final name until `finish`; an
/// unfinished writer takes away what it wrote when it is destroyed.
class VolumeWriter {
 public:
  virtual ~VolumeWriter() = default;
  virtual void write(Range slices, const float* data) = 0;  ///< @throws FileError, a full disk included
  virtual void finish(
      const std::string& report_json) = 0;  ///< marks the volume complete and gives it its name
};

/// HDF5 or one TIFF a slice (NAME_00000.tif), by the name's ending: see `volume_kind`. `recipe_json` goes
/// under /process/tandem. When a TIFF volume is finished, slices beyond its last that tandem wrote under the
/// same name are removed: they are an earlier, longer volume's. @throws FileError if the folder does not
/// exist or cannot be written.
std::unique_ptr<VolumeWriter> create_volume(const std::filesystem::path& path, Shape shape,
                                            const VolumeFormat& format, const std::string& recipe_json);

/// What the slices of a TIFF volume say of it.
struct TiffVolume {
  Shape shape;  ///< as many slices as there are files of the name
  std::string unit;
  std::optional<double> pitch_mm;
};
/// The volume that tandem wrote as NAME_00000.tif ..., from the name of any slice or from NAME.tif; nothing
/// for other files. @throws FileError for a first slice that cannot be read
std::optional<TiffVolume> find_tiff_volume(const std::filesystem::path& path);

/// A volume on disk: the HDF5 that tandem (or tomocupy) writes, `/exchange/data` (z, y, x).
class VolumeReader {
 public:
  explicit VolumeReader(const std::filesystem::path& path);  ///< @throws FileError
  ~VolumeReader();
  Shape shape() const;
  std::optional<double> pitch_mm() const;
  std::string unit() const;
  bool is_reconstruction() const;  ///< whether the file calls itself one, and is no scan
  bool complete() const;           ///< false only where the file says so
  void read(Range slices, float* data);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::io
