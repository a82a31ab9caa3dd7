#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "../../io/volumes/volume_file.hpp"
#include "quality.hpp"

namespace tandem::pipeline {

/// The true volume on the grid of a plan. It is a whole file, or, if the file says where its volume lies, the
/// part that has the voxels of the grid.
class TrueVolume {
 public:
  /// @throws FileError if the file does not hold the grid, GeometryError if slices are too small to be
  /// compared
  TrueVolume(const io::VolumePlace& place, const std::filesystem::path& path, bool any_external);
  void read(Index z, float* slice);
  /// The difference of the highest and the lowest value of the file. Reads the whole file.
  double value_range();

 private:
  std::array<Index, 3> size_, first_{};  ///< size of the grid, and its first voxel in the file; x, y, z
  std::unique_ptr<io::VolumeReader> file_;
  std::vector<float> slice_;  ///< a slice of the file
};

/// The volume that results are compared with. Several threads may use it at once.
class Truth {
 public:
  /// Reads the file once, for its range of values. @throws FileError if it does not hold the plan's grid
  Truth(const io::VolumePlace& place, const std::filesystem::path& path, bool any_external);
  Quality compared(Index z, const float* slice);
  double range() const { return range_; }  ///< difference of the highest and the lowest value

 private:
  Shape shape_;  ///< shape of a slice
  TrueVolume volume_;
  double range_;
  std::mutex mutex_;  ///< guards the volume and `true_slice_`
  std::vector<float> true_slice_;
};

/// Opens the truth of a plan; null if the path is empty.
std::shared_ptr<Truth> truth_of(const io::VolumePlace& place, const std::filesystem::path& path,
                                bool any_external);

}  // namespace tandem::pipeline
