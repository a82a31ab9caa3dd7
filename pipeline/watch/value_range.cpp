#include "value_range.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "../../core/rounding.hpp"

namespace tandem::pipeline {

namespace {

constexpr Index most_slices = 16;
constexpr double share_clipped = 1e-4;  // share of a slice's voxels, at each end
constexpr double margin = 0.05;         // share of the width, at each end

std::vector<Index> spread_over(Index count) {
  const Index taken = std::min(count, most_slices);
  std::vector<Index> slices;
  for (Index k = 0; k < taken; ++k) slices.push_back(taken == 1 ? 0 : k * (count - 1) / (taken - 1));
  return slices;
}

/// The value below which `below` of the values lie. Changes the order of the values.
float value_at(std::vector<float>& values, Index below) {
  const auto at = values.begin() + below;
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

RangeFinder::RangeFinder(const VolumeGrid& grid)
    : area_(grid.size[0] * grid.size[1]), slices_(spread_over(grid.size[2])) {}

void RangeFinder::look_at(Range slices, const float* volume) {
  for (const Index z : slices_)
    if (slices.first <= z && z < slices.last) look_at(volume + (z - slices.first) * area_);
}

void RangeFinder::look_at(const float* slice) {
  std::vector<float> values(slice, slice + area_);
  const auto clipped = floor_index(share_clipped * area_);
  const float low = value_at(values, clipped);
  seen_.push_back({low, value_at(values, area_ - 1 - clipped)});
}

void RangeFinder::join(const Comm& ranks) {
  std::array<double, 2> ends{INFINITY, INFINITY};
  for (const ValueRange& one : seen_)
    ends = {std::min<double>(ends[0], one.min), std::min(ends[1], -double{one.max})};
  double count = seen_.size();
  ranks.all_reduce(ends, Combine::least);
  ranks.all_reduce({&count, 1});
  seen_.assign(count, {static_cast<float>(ends[0]), static_cast<float>(-ends[1])});
}

std::optional<ValueRange> RangeFinder::range() const {
  if (seen_.size() < slices_.size()) return std::nullopt;
  ValueRange all = seen_.front();
  for (const ValueRange& one : seen_) all = {std::min(all.min, one.min), std::max(all.max, one.max)};
  return widened(all.min, all.max);
}

ValueRange widened(double low, double high) {
  if (!(low < high)) high = low == 0 ? 1 : low + std::abs(low);
  constexpr double most = std::numeric_limits<float>::max();
  const double width = high - low, step = std::pow(10, std::floor(std::log10(width)) - 2);
  const auto bound = [&](double value) { return static_cast<float>(std::clamp(value, -most, most)); };
  const float min = bound(std::floor((low - margin * width) / step) * step);
  const float max = bound(std::ceil((high + margin * width) / step) * step);
  return {min, max > min ? max : std::nextafter(min, INFINITY)};
}

}  // namespace tandem::pipeline
