#include "beside_axis.hpp"

#include <algorithm>
#include <cmath>

#include "vector3.hpp"

namespace tandem {

BesideAxis::BesideAxis(const FlexibleView& view, const FittedOrbit& orbit, std::size_t number)
    : parallel_(orbit.parallel),
      from_(orbit.parallel ? Vector3{} : view.source),
      aside_(orbit.along(number)),
      towards_(-1 * orbit.outwards(number)) {
  if (!parallel_) return;
  aside_ = cross(view.source, orbit.axis);
  aside_ = 1 / length(aside_) * aside_;
}

double BesideAxis::of(const Vector3& place) const {
  return dot(aside_, place - from_) / (parallel_ ? 1 : dot(towards_, place - from_));
}

double BesideAxis::bin(double beside, const FlexibleView& on) const {
  const double away = parallel_ ? 1 : dot(towards_, on.detector - from_),
               farther = parallel_ ? 0 : dot(towards_, on.bin_step);
  return (beside * away - dot(aside_, on.detector - from_)) / (dot(aside_, on.bin_step) - beside * farther);
}

namespace {

/// A row that reaches so many bins to both sides of the axis; on the farther side, a whole number in all.
Detector reaching(Detector d, double low, double high) {
  constexpr double no_side = -0.5, step = 1e-6;  // bins; what rounding leaves
  const double nearer = std::max(no_side, step * std::round(std::min(low, high) / step));
  d.bins = std::max<Index>(1, 1 + std::lround(nearer + std::max(low, high)));
  d.axis_bin = low <= high ? nearer : d.bins - 1 - nearer;
  return d;
}

}  // namespace

std::vector<BesideAxis> beside_axis(const std::vector<FlexibleView>& views, const FittedOrbit& orbit) {
  std::vector<BesideAxis> all;
  for (std::size_t k = 0; k < views.size(); ++k) all.emplace_back(views[k], orbit, k);
  return all;
}

Detector facing_detector(Detector d, const std::vector<std::array<double, 4>>& corners) {
  double low = 0, high = 0, all_low = INFINITY, all_high = INFINITY;
  for (const std::array<double, 4>& at : corners) {
    low -= 0.5 * (at[0] + at[1]) / corners.size(), high += 0.5 * (at[2] + at[3]) / corners.size();
    all_low = std::min(all_low, -at[1]), all_high = std::min(all_high, at[2]);  // all rows reach there
  }
  d = reaching(d, low, high);
  if (missing_bins(d) == 0) return d;
  return low <= high ? reaching(d, all_low, high) : reaching(d, low, all_high);
}

}  // namespace tandem
