#include "opposite_views.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "../core/rounding.hpp"

namespace tandem::pipeline {

namespace {

constexpr double turn = 2 * std::numbers::pi;

/// How far two angles are from half a turn, 0 to pi.
double from_opposite(double a, double b) { return std::abs(std::remainder(b - a - std::numbers::pi, turn)); }

/// The widest gap that is usual: the median of the gaps between angles in order, within a turn.
double usual_gap(std::vector<double> angles) {
  for (double& angle : angles) angle -= turn * std::floor(angle / turn);
  std::ranges::sort(angles);
  std::vector<double> gaps;
  for (std::size_t k = 1; k < angles.size(); ++k) gaps.push_back(angles[k] - angles[k - 1]);
  if (gaps.empty()) return 0;
  const auto middle = gaps.begin() + gaps.size() / 2;
  std::ranges::nth_element(gaps, middle);
  return *middle;
}

std::optional<std::size_t> opposite_of(std::size_t view, const std::vector<double>& angles, double most) {
  std::size_t best = view;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < angles.size(); ++k)
    if (const double off = from_opposite(angles[view], angles[k]); off < least) least = off, best = k;
  if (least > most) return std::nullopt;
  return best;
}

/// Between bins; NaN beyond the ends.
double value_at(std::span<const float> row, double bin) {
  const double last = row.size() - 1;
  if (!(bin >= 0 && bin <= last)) return std::numeric_limits<double>::quiet_NaN();
  const auto k = std::min(floor_index(bin), std::ssize(row) - 2);
  const double t = bin - k;
  return (1 - t) * row[k] + t * row[k + 1];
}

}  // namespace

OppositeViews opposite_views_of(std::span<const float> sinogram, const Scan& scan) {
  constexpr std::size_t quarters = 4;
  constexpr double rounding = 1e-6;  // rad
  const std::vector<double>& angles = angles_of(scan);
  const std::vector<double>& shifts = view_shifts_of(scan);
  const std::size_t bins = sinogram.size() / angles.size();
  const double axis = detector_of(scan).axis_bin, most = usual_gap(angles) + rounding;
  OppositeViews all{std::vector<double>(quarters), std::vector<double>(quarters)};
  const auto shift_of = [&](std::size_t view) { return shifts.empty() ? 0 : shifts[view]; };
  const auto row_of = [&](std::size_t view) { return sinogram.subspan(view * bins, bins); };
  for (std::size_t view = 0; view < angles.size(); ++view) {
    const std::optional<std::size_t> other = opposite_of(view, angles, most);
    if (!other) continue;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const double s = bin - axis - shift_of(view);
      const double there = value_at(row_of(*other), axis + shift_of(*other) - s);
      if (!std::isfinite(there)) continue;
      const double difference = row_of(view)[bin] - there;
      all.squares[quarters * bin / bins] += difference * difference;
      all.counts[quarters * bin / bins] += 1;
    }
  }
  if (std::ranges::all_of(all.counts, [](double count) { return count == 0; })) return {};
  return all;
}

}  // namespace tandem::pipeline
