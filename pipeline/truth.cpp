#include "truth.hpp"

#include <algorithm>
#include <cmath>

#include "same_grid.hpp"

namespace tandem::pipeline {

namespace {

double value_range(io::VolumeReader& volume) {
  const Shape n = volume.shape();
  std::vector<float> slice(static_cast<std::size_t>(n[1] * n[2]));
  float low = INFINITY, high = -INFINITY;
  for (Index z = 0; z < n[0]; ++z) {
    volume.read({z, z + 1}, slice.data());
    const auto [a, b] = std::minmax_element(slice.begin(), slice.end());
    low = std::min(low, *a), high = std::max(high, *b);
  }
  return high > low ? static_cast<double>(high) - static_cast<double>(low) : 1.0;
}

}  // namespace

Truth::Truth(const Plan& plan, const std::filesystem::path& path, bool any_external)
    : slice_{1, plan.grid.size[1], plan.grid.size[0]},
      volume_(open_on_grid(plan, path, "--truth", any_external)),
      range_(value_range(*volume_)),
      true_slice_(static_cast<std::size_t>(slice_[1] * slice_[2])) {}

std::shared_ptr<Truth> truth_of(const Plan& plan, const std::filesystem::path& path, bool any_external) {
  return path.empty() ? nullptr : std::make_shared<Truth>(plan, path, any_external);
}

Quality Truth::compared(Index z, const float* slice) {
  const std::lock_guard lock(mutex_);
  volume_->read({z, z + 1}, true_slice_.data());
  return compare({slice, true_slice_.size()}, true_slice_, slice_, range_);
}

}  // namespace tandem::pipeline
