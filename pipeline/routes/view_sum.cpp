#include "view_sum.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../../operators/filtered_scan.hpp"
#include "../plan/grids.hpp"

namespace tandem::pipeline {

namespace {

Space space_of(const Plan& plan) {
  const Device device = plan.flow.home();
  return rows_are_slices(plan.job.scan) ? volume_space(plan.job.grid, device)
                                        : cone_volume_space(plan.job.grid, device);
}

}  // namespace

ViewSum::ViewSum(const Plan& plan) : plan_(plan), scan_(plan.job.scan), volume_(Array(space_of(plan))) {
  use(plan.job.scan);
}

void ViewSum::use(Scan scan) {
  const Detector before = filtered_detector(scan_), now = filtered_detector(scan);
  const bool same = before.bins == now.bins && before.axis_bin == now.axis_bin &&
                    bin_shares_of(scan_) == bin_shares_of(scan);
  scan_ = std::move(scan);
  weights_ = filter_weights(scan_);
  of_view_ = weights_.size() / views_of(scan_);
  if (!same && !added_.empty()) {
    std::fill(added_.begin(), added_.end(), 0.0f);
    volume_.reset();
    volume_.emplace(space_of(plan_));
  }
  added_.resize(std::max(added_.size(), weights_.size()), 0.0f);
}

void ViewSum::add(Range views, Array y) {
  const auto first = views.first * of_view_, last = views.last * of_view_;
  std::vector<float> more;
  for (std::size_t k = first; k < last; ++k) more.push_back(weights_[k] - added_[k]);
  const Device device = plan_.flow.home();
  const LinearOperator part = fbp_of_views(scan_, views, more, plan_.job.grid, plan_.job.options.fbp_filter,
                                           plan_.flow.pair.model, device, plan_.flow.execution());
  const Array data = on_device(std::move(y), device);
  Stream& stream = default_stream(device);
  part.apply(1, data, 1, *volume_, stream);
  stream.synchronize();
  std::copy(weights_.begin() + first, weights_.begin() + last, added_.begin() + first);
}

std::vector<Range> ViewSum::unsettled() const {
  float largest = 0;
  for (const float weight : weights_) largest = std::max(largest, std::abs(weight));
  const auto differs = [&](Index view) {
    for (std::size_t k = view * of_view_, end = k + of_view_; k < end; ++k)
      if (std::abs(weights_[k] - added_[k]) > 1e-6f * largest) return true;
    return false;
  };
  std::vector<Range> found;
  for (Index view = 0; view < views_of(scan_); ++view) {
    if (!differs(view)) continue;
    if (found.empty() || found.back().last < view) found.push_back({view, view});
    found.back().last = view + 1;
  }
  return found;
}

/// A box of the volume that is one voxel thick, as a picture (height, width).
io::Picture ViewSum::plane(Shape first, Shape extents) const {
  const auto [nx, ny, nz] = plan_.job.grid.size;
  const Device device = plan_.flow.home();
  Stream& stream = default_stream(device);
  const float* from = volume_->data() + (first[0] * ny + first[1]) * nx + first[2];
  Array there(Space(extents).on(device), stream);
  if (extents[2] == 1)  // a voxel of each line
    copy(Image<const float>{from, nz * ny, 1, 1, nx, 1}, Image<float>{there.data(), nz * ny, 1, 1, 1, 1},
         stream);
  else
    copy(Image<const float>{from, extents[0], extents[1], nx, ny * nx, nx}, image(VectorView(there)), stream);
  stream.synchronize();
  const Array here = on_device(std::move(there), Device::cpu());
  const Index width = extents[2] == 1 ? ny : nx, height = extents[0] == 1 ? ny : nz;
  return shrunk(std::span(here.data(), here.size()), width, height);
}

std::vector<LivePicture> ViewSum::planes() const {
  const auto [nx, ny, nz] = plan_.job.grid.size;
  return {{"z", nz / 2, nz, plane({nz / 2, 0, 0}, {1, ny, nx})},
          {"y", ny / 2, ny, plane({0, ny / 2, 0}, {nz, 1, nx})},
          {"x", nx / 2, nx, plane({0, 0, nx / 2}, {nz, ny, 1})}};
}

Array ViewSum::take() {
  clear_unmet(plan_.job, {0, plan_.job.grid.size[2]}, *volume_);
  return std::move(*volume_);
}

}  // namespace tandem::pipeline
