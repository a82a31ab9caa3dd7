#include "crossing_rays.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
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

/// Frames turned upright about the foot of the axis, which stays where it is.
FrameStack upright(const FrameStack& frames, const AxisLine& about, Range rows) {
  FrameStack all = some_rows(frames, rows.size());
  const double c = std::cos(about.roll), s = std::sin(about.roll), first = 1, last = frames.bins - 3;
  parallel_for(all.rows, [&](Index k) {
    const double y = static_cast<double>(rows.first + k) - about.row;
    for (Index bin = 0; bin < all.bins; ++bin) {
      const double x = bin - about.axis_bin;
      const Sampler sampler(frames, std::clamp(about.axis_bin + x * c + y * frames.aspect * s, first, last),
                            about.row - x * s / frames.aspect + y * c);
      for (Index view = 0; view < all.views(); ++view)
        all.values[(view * all.rows + k) * all.bins + bin] = static_cast<float>(sampler.of(view).value);
    }
  });
  return all;
}

/// A cell of a stack in between two views.
double between(const FrameStack& frames, const Between& views, Index row, Index bin) {
  const auto value = [&](Index view) {
    return double{frames.values[(view * frames.rows + row) * frames.bins + bin]};
  };
  return (1 - views.share) * value(views.before) + views.share * value(views.after);
}

/// The slope by rows, exact for polynomials of the fourth degree but at the ends.
double slope_by_row(const FrameStack& stack, const Between& views, Index row, Index bin) {
  const auto across = [&](Index rows) {
    const Index up = std::min(row + rows, stack.rows - 1), down = std::max<Index>(row - rows, 0);
    return between(stack, views, up, bin) - between(stack, views, down, bin);
  };
  return 2.0 / 3 * across(1) - 1.0 / 12 * across(2);
}

/// How far a place at the edge of the field goes, at least, between the views whose difference tells how rays
/// change: from views that are closer their noise counts more, and frames are smoothed by about one bin.
constexpr double bins_apart = 2;

/// A bin whose rays are paired: the places among views of rays that are parallel to it, and to its opposite.
struct PairedBin {
  std::optional<Between> here, there;
  PairedBin(const FrameStack& frames, const ViewsOfTurn& views, const AxisLine& about, Index view,
            Index bin) {
    const double angle = frames.angles[view] - std::atan((bin - about.axis_bin) * frames.bin_angle);
    here = views.at(angle), there = views.at(angle + half_turn);
  }
};

/// The views whose sums are read for each `stride`-th view.
std::vector<bool> views_read(const FrameStack& frames, const ViewsOfTurn& views, const AxisLine& about,
                             Index stride) {
  std::vector<bool> read(frames.views(), stride == 1);
  if (stride == 1) return read;
  for (Index view = 0; view < frames.views(); view += stride)
    for (Index bin = 0; bin < frames.bins; ++bin) {
      const PairedBin pair(frames, views, about, view, bin);
      for (const auto& place : {pair.here, pair.there})
        if (place) read[place->before] = read[place->after] = true;
    }
  return read;
}

/// Sums over bins, from the first one to each, of how rays of one direction change with it. A view of the
/// result has rays that are parallel to the middle one of the view with its number; it has zeros unless it is
/// read.
FrameStack sums_of_changes(const FrameStack& frames, const ViewsOfTurn& views, const AxisLine& about,
                           const std::vector<bool>& read) {
  FrameStack sums = some_rows(frames, frames.rows);
  const double edge = std::min(about.axis_bin, frames.bins - 1 - about.axis_bin),
               step = std::max(whole_turn / frames.views(), bins_apart / edge);
  parallel_for(frames.views(), [&](Index view) {
    if (!read[view]) return;
    std::vector<double> sum(frames.rows, 0);
    for (Index bin = 0; bin < frames.bins; ++bin) {
      const double way = (bin - about.axis_bin) * frames.bin_angle, fan = std::atan(way),
                   angle = frames.angles[view] + fan,
                   width = frames.bin_angle == 0 ? 1 : std::pow(std::cos(fan), 3) * frames.bin_angle;
      const auto here = views.at(angle), after = views.at(angle + step), before = views.at(angle - step);
      if (!here || !after || !before) continue;
      for (Index row = 0; row < frames.rows; ++row) {
        const double turned = (between(frames, *after, row, bin) - between(frames, *before, row, bin)) /
                              (2 * step),
                     risen = (row - about.row) * way * slope_by_row(frames, *here, row, bin),
                     change = (turned + risen) * width;
        sums.values[(view * sums.rows + row) * sums.bins + bin] = static_cast<float>(sum[row] + 0.5 * change);
        sum[row] += change;
      }
    }
  });
  return sums;
}

}  // namespace

CrossingRays::CrossingRays(const FrameStack& frames, const ViewsOfTurn& views, const AxisLine& about,
                           Range rows, Index stride)
    : slopes_(some_rows(frames, rows.size())), about_(about), first_(rows.first) {
  AxisLine line = about;
  line.row -= static_cast<double>(rows.first);
  const FrameStack sums =
      sums_of_changes(upright(frames, about, rows), views, line, views_read(frames, views, about, stride));
  std::vector<std::array<double, 2>> of_views(
      frames.views());  // products of both, squares of their sum; cells
  parallel_for((frames.views() + stride - 1) / stride, [&](Index k) {
    const Index view = k * stride;
    for (Index bin = 0; bin < frames.bins; ++bin) {
      const double fan = std::atan((bin - about.axis_bin) * frames.bin_angle),
                   mirrored = 2 * about.axis_bin - bin;
      const auto [here, there] = PairedBin(frames, views, about, view, bin);
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
