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

/// Writes a volume (z, y, x) slab by slab, in order. Nothing stands under the final name until `finish`; an
/// unfinished writer takes away what it wrote when it is destroyed.
class VolumeWriter {
 public:
  virtual ~VolumeWriter() = default;
  virtual void write(Range slices, const float* data) = 0;  ///< @throws FileError, a full disk included
  virtual void finish(
      const std::string& report_json) = 0;  ///< marks the volume complete and gives it its name
};

/// HDF5 (".h5", ".hdf5", ".nxs", ".hdf") or one TIFF a slice (".tif", ".tiff": NAME_00000.tif), by the name's
/// ending. `recipe_json` goes under /process/tandem. @throws FileError if the folder does not exist or cannot
/// be written.
std::unique_ptr<VolumeWriter> create_volume(const std::filesystem::path& path, Shape shape,
                                            const VolumeFormat& format, const std::string& recipe_json);

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
