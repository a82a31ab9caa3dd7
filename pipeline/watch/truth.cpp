#include "truth.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../plan/grids.hpp"

namespace tandem::pipeline {

namespace {

/// The first voxel, x, y, z, of the wanted grid in a volume that holds its voxels; empty if the volume does
/// not hold them.
std::optional<std::array<Index, 3>> place_within(const io::VolumePlace& volume,
                                                 const io::VolumePlace& wanted) {
  constexpr double near = 1e-3;  // voxels, as io::difference has it
  std::array<Index, 3> first{};
  for (std::size_t i = 0; i < first.size(); ++i) {
    const VolumeGrid &a = volume.grid, &b = wanted.grid;
    const double pitch = b.pitch[i], count = b.size[i];
    const double before =
        (b.centre[i] - 0.5 * count * pitch - a.centre[i]) / pitch + 0.5 * a.size[i] * a.pitch[i] / pitch;
    first[i] = std::lround(before);
    const bool aligned =
        std::abs(before - std::round(before)) < near && std::abs(a.pitch[i] - pitch) * count < near * pitch;
    if (!aligned || first[i] < 0 || first[i] + b.size[i] > a.size[i]) return std::nullopt;
  }
  return volume.in_mm == wanted.in_mm ? std::optional(first) : std::nullopt;
}

}  // namespace

TrueVolume::TrueVolume(const io::VolumePlace& place, const std::filesystem::path& path, bool any_external)
    : size_(place.grid.size), file_(std::make_unique<io::VolumeReader>(path, any_external)) {
  require_comparable(place.grid.shape());
  file_->require_complete();
  const std::optional<io::VolumePlace> there = file_->place();
  const auto found = there ? place_within(*there, place) : std::nullopt;
  if (found)
    first_ = *found;
  else
    file_ = open_on_grid(place, path, spelled("truth"), any_external);  // its message says what is wrong
  slice_.resize(file_->shape()[1] * file_->shape()[2]);
}

void TrueVolume::read(Index z, float* slice) {
  file_->read({first_[2] + z, first_[2] + z + 1}, slice_.data());
  for (Index y = 0; y < size_[1]; ++y)
    std::copy_n(slice_.data() + (first_[1] + y) * file_->shape()[2] + first_[0], size_[0],
                slice + y * size_[0]);
}

double TrueVolume::value_range() {
  float low = INFINITY, high = -INFINITY;
  for (Index z = 0; z < file_->shape()[0]; ++z) {
    file_->read({z, z + 1}, slice_.data());
    const auto [a, b] = std::minmax_element(slice_.begin(), slice_.end());
    low = std::min(low, *a), high = std::max(high, *b);
  }
  return high > low ? double{high} - low : 1.0;
}

Truth::Truth(const io::VolumePlace& place, const std::filesystem::path& path, bool any_external)
    : shape_{1, place.grid.size[1], place.grid.size[0]},
      volume_(place, path, any_external),
      range_(volume_.value_range()),
      true_slice_(shape_[1] * shape_[2]) {}

std::shared_ptr<Truth> truth_of(const io::VolumePlace& place, const std::filesystem::path& path,
                                bool any_external) {
  return path.empty() ? nullptr : std::make_shared<Truth>(place, path, any_external);
}

Quality Truth::compared(Index z, const float* slice) {
  const std::lock_guard lock(mutex_);
  volume_.read(z, true_slice_.data());
  return compare({slice, true_slice_.size()}, true_slice_, shape_, range_);
}

}  // namespace tandem::pipeline
