#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "../../io/volumes/volume_file.hpp"
#include "quality.hpp"

namespace tandem::pipeline {

/// The true volume on the grid of a plan: a file, or the part of a larger one whose voxels are those of the
/// grid, as far as the file says where it lies.
class TrueVolume {
 public:
  /// @throws FileError if it does not hold the grid, GeometryError if slices are too small to be compared
  TrueVolume(const io::VolumePlace& place, const std::filesystem::path& path, bool any_external);
  void read(Index z, float* slice);
  double value_range();  ///< from the lowest to the highest value of the file, all of which is read

 private:
  std::array<Index, 3> size_, first_{};  ///< x, y, z: of the grid, and where it begins in the file
  std::unique_ptr<io::VolumeReader> file_;
  std::vector<float> slice_;  ///< of the file
};

/// The volume that results are compared with. Several threads may use it at once.
class Truth {
 public:
  /// Reads all of it once, for its range of values. @throws FileError if it does not hold the plan's grid
  Truth(const io::VolumePlace& place, const std::filesystem::path& path, bool any_external);
  Quality compared(Index z, const float* slice);
  double range() const { return range_; }  ///< from the lowest to the highest value

 private:
  Shape shape_;  ///< of a slice
  TrueVolume volume_;
  double range_;
  std::mutex mutex_;  ///< of the volume and of the slice that it gives
  std::vector<float> true_slice_;
};

/// Null if the path is empty.
std::shared_ptr<Truth> truth_of(const io::VolumePlace& place, const std::filesystem::path& path,
                                bool any_external);

}  // namespace tandem::pipeline
