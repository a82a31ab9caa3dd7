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

/// A stack that has the views of frames and some rows. Its values are not set.
FrameStack some_rows(const FrameStack& frames, Index rows) {
  FrameStack all{{}, rows, frames.bins, frames.angles, frames.bin_angle, frames.aspect};
  all.values.resize(frames.views() * rows * frames.bins);
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
        all.values[(view * all.rows + k) * all.bins + bin] = sampler.value(view);
    }
  });
  return all;
}

/// What a bin takes from two neighbouring views, for all rows.
struct Mix {
  const float *before, *after;
  float share;
  Mix(const FrameStack& frames, const Between& views, Index bin)
      : before(frames.values.data() + views.before * frames.rows * frames.bins + bin),
        after(frames.values.data() + views.after * frames.rows * frames.bins + bin),
        share(static_cast<float>(views.share)) {}
  float at(Index line) const { return before[line] + share * (after[line] - before[line]); }
};

/// The lines about a row: a slope by rows that is exact for polynomials of the fourth degree but at the ends.
struct AboutRow {
  Index line, down, up, down2, up2;
  AboutRow(const FrameStack& stack, Index row) {
    const auto begin = [&](Index k) { return std::clamp<Index>(k, 0, stack.rows - 1) * stack.bins; };
    line = begin(row), down = begin(row - 1), up = begin(row + 1), down2 = begin(row - 2),
    up2 = begin(row + 2);
  }
  float slope(const Mix& mix) const {
    return 2.0F / 3 * (mix.at(up) - mix.at(down)) - 1.0F / 12 * (mix.at(up2) - mix.at(down2));
  }
};

/// How far a place at the edge of the field goes, at least, between the views whose difference tells how rays
/// change: from views that are closer their noise counts more, and frames are smoothed by about one bin.
constexpr double bins_apart = 2;

/// A bin whose rays are paired: the places among views of rays that are parallel to it, and to its opposite.
struct PairedBin {
  std::optional<Between> here, there;
  double over_cosine;  ///< 1 over the cosine of its angle in the fan
  PairedBin(const FrameStack& frames, const ViewsOfTurn& views, const AxisLine& about, Index view,
            Index bin) {
    const double fan = std::atan((bin - about.axis_bin) * frames.bin_angle),
                 angle = frames.angles[view] - fan;
    here = views.at(angle), there = views.at(angle + half_turn), over_cosine = 1 / std::cos(fan);
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

/// What a bin of a view needs to tell how its ray changes: neighbouring views with the same direction, those
/// a step before and after, and how wide the ray is.
struct Changing {
  Mix here, before, after;
  Index bin;
  float way, width;
};

/// Sums over bins, from the first one to each, of how rays of one direction change with it. A view of the
/// result has rays that are parallel to the middle one of the view with its number. Those that are not read
/// are not set.
FrameStack sums_of_changes(const FrameStack& frames, const ViewsOfTurn& views, const AxisLine& about,
                           const std::vector<bool>& read) {
  FrameStack sums = some_rows(frames, frames.rows);
  const double edge = std::min(about.axis_bin, frames.bins - 1 - about.axis_bin),
               step = std::max(whole_turn / frames.views(), bins_apart / edge);
  const auto over_steps = static_cast<float>(0.5 / step);
  parallel_for(frames.views(), [&](Index view) {
    if (!read[view]) return;
    std::vector<Changing> bins;
    for (Index bin = 0; bin < frames.bins; ++bin) {
      const double way = (bin - about.axis_bin) * frames.bin_angle, fan = std::atan(way),
                   angle = frames.angles[view] + fan,
                   width = frames.bin_angle == 0 ? 1 : std::pow(std::cos(fan), 3) * frames.bin_angle;
      const auto here = views.at(angle), after = views.at(angle + step), before = views.at(angle - step);
      if (here && after && before)
        bins.push_back({Mix(frames, *here, bin), Mix(frames, *before, bin), Mix(frames, *after, bin), bin,
                        static_cast<float>(way), static_cast<float>(width)});
    }
    for (Index row = 0; row < frames.rows; ++row) {
      const AboutRow about_row(frames, row);
      const auto high = static_cast<float>(row - about.row);
      float* line = sums.values.data() + (view * sums.rows + row) * sums.bins;
      std::fill_n(line, sums.bins, 0.0F);
      double sum = 0;
      for (const Changing& ray : bins) {
        const float turned = (ray.after.at(about_row.line) - ray.before.at(about_row.line)) * over_steps,
                    risen = ray.way == 0 ? 0 : high * ray.way * about_row.slope(ray.here),
                    change = (turned + risen) * ray.width;
        line[ray.bin] = static_cast<float>(sum + 0.5 * change);
        sum += change;
      }
    }
  });
  return sums;
}

/// A bin of a view, and its mirror image in the opposite view, between two bins.
struct Opposite {
  Mix here, there, beside;
  Index bin;
  float share, over_cosine;
};

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
    std::vector<Opposite> bins;
    for (Index bin = 0; bin < frames.bins; ++bin) {
      const double mirrored = 2 * about.axis_bin - bin;
      const PairedBin pair(frames, views, about, view, bin);
      if (mirrored < 0 || mirrored >= frames.bins - 1 || !pair.here || !pair.there) continue;
      const auto other = static_cast<Index>(mirrored);
      bins.push_back({Mix(sums, *pair.here, bin), Mix(sums, *pair.there, other),
                      Mix(sums, *pair.there, other + 1), bin, static_cast<float>(mirrored - other),
                      static_cast<float>(pair.over_cosine)});
    }
    std::fill_n(slopes_.values.data() + view * sums.rows * sums.bins, sums.rows * sums.bins, 0.0F);
    for (Index row = 1; row + 1 < sums.rows; ++row) {
      const AboutRow about_row(sums, row);
      float* slopes = slopes_.values.data() + (view * sums.rows + row) * sums.bins;
      for (const Opposite& ray : bins) {
        const double there = about_row.slope(ray.there), beside = about_row.slope(ray.beside),
                     opposite = there + ray.share * (beside - there), own = -about_row.slope(ray.here),
                     both = own + opposite;
        of_views[view][0] += 4 * own * opposite, of_views[view][1] += both * both;
        slopes[ray.bin] = static_cast<float>(both) * ray.over_cosine;
      }
    }
  });
  double products = 0, squares = 0;
  for (const auto& [product, square] : of_views) products += product, squares += square;
  share_ = squares > 0 ? std::max(0.0, products / squares) : 0;
}

}  // namespace tandem::calibration
