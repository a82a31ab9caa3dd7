#include "crossing_rays.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "../core/parallel.hpp"
#include "../geometry/view_angles.hpp"

namespace tandem::calibration {

namespace {

/// A stack of zeros that has the views of frames and some rows.
FrameStack some_rows(const FrameStack& frames, Index rows) {
  FrameStack all{{}, rows, frames.bins, frames.angles, frames.bin_angle, frames.aspect};
  all.values.assign(frames.views() * rows * frames.bins, 0);
  return all;
}

/// A cell of a stack in between two views.
double between(const FrameStack& frames, const Between& views, Index row, Index bin) {
  const auto value = [&](Index view) {
    return double{frames.values[(view * frames.rows + row) * frames.bins + bin]};
  };
  return (1 - views.share) * value(views.before) + views.share * value(views.after);
}

/// Sums over bins, from the first one to each, of how rays of one direction change with it. A view of the
/// result has rays that are parallel to the middle one of the view with its number.
FrameStack sums_of_changes(const FrameStack& frames, const ViewsOfTurn& views, double axis, Range rows) {
  FrameStack sums = some_rows(frames, rows.size());
  const double step = whole_turn / frames.views();
  parallel_for(frames.views(), [&](Index view) {
    std::vector<double> sum(rows.size(), 0);
    for (Index bin = 0; bin < frames.bins; ++bin) {
      const double fan = std::atan((bin - axis) * frames.bin_angle), angle = frames.angles[view] + fan,
                   width = std::pow(std::cos(fan), 3) * frames.bin_angle;
      const auto after = views.at(angle + step), before = views.at(angle - step);
      if (!after || !before) continue;
      for (Index row = rows.first; row < rows.last; ++row) {
        const double change =
            (between(frames, *after, row, bin) - between(frames, *before, row, bin)) / (2 * step) * width;
        const Index k = row - rows.first;
        sums.values[(view * sums.rows + k) * sums.bins + bin] = static_cast<float>(sum[k] + 0.5 * change);
        sum[k] += change;
      }
    }
  });
  return sums;
}

double slope_by_row(const FrameStack& sums, const Between& views, Index row, Index bin) {
  return 0.5 * (between(sums, views, row + 1, bin) - between(sums, views, row - 1, bin));
}

}  // namespace

CrossingRays::CrossingRays(const FrameStack& frames, const ViewsOfTurn& views, double axis, Range rows)
    : slopes_(some_rows(frames, rows.size())), first_(rows.first) {
  const FrameStack sums = sums_of_changes(frames, views, axis, rows);
  std::vector<std::array<double, 2>> of_views(
      frames.views());  // products of both, squares of their sum; cells
  parallel_for(frames.views(), [&](Index view) {
    for (Index bin = 0; bin < frames.bins; ++bin) {
      const double fan = std::atan((bin - axis) * frames.bin_angle), angle = frames.angles[view] - fan,
                   mirrored = 2 * axis - bin;
      const auto here = views.at(angle), there = views.at(angle + half_turn);
      if (mirrored < 0 || mirrored >= frames.bins - 1 || !here || !there) continue;
      const auto other = static_cast<Index>(mirrored);
      const double share = mirrored - other;
      for (Index row = 1; row + 1 < sums.rows; ++row) {
        const double opposite = (1 - share) * slope_by_row(sums, *there, row, other) +
                                share * slope_by_row(sums, *there, row, other + 1);
        const double own = -slope_by_row(sums, *here, row, bin), both = own + opposite;
        of_views[view][0] += 4 * own * opposite, of_views[view][1] += both * both;
        slopes_.values[(view * sums.rows + row) * sums.bins + bin] = static_cast<float>(both / std::cos(fan));
      }
    }
  });
  double products = 0, squares = 0;
  for (const auto& [product, square] : of_views) products += product, squares += square;
  share_ = squares > 0 ? std::max(0.0, products / squares) : 0;
}

}  // namespace tandem::calibration
