#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "../io/volume_file.hpp"
#include "plan.hpp"
#include "quality.hpp"

namespace tandem::pipeline {

/// The volume that results are compared with. Several threads may use it at once.
class Truth {
 public:
  /// Reads all of it once, for its range of values. @throws FileError if it is not on the grid of the plan
  Truth(const Plan& plan, const std::filesystem::path& path, bool any_external);
  Quality compared(Index z, const float* slice);
  double range() const { return range_; }  ///< from the lowest to the highest value

 private:
  Shape slice_;
  std::unique_ptr<io::VolumeReader> volume_;
  double range_;
  std::mutex mutex_;  ///< of the reader and of the slice that it gives
  std::vector<float> true_slice_;
};

/// Null if the path is empty.
std::shared_ptr<Truth> truth_of(const Plan& plan, const std::filesystem::path& path, bool any_external);

}  // namespace tandem::pipeline
