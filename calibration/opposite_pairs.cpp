#include "opposite_pairs.hpp"

#include <cmath>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "../geometry/view_angles.hpp"

namespace tandem::calibration {

namespace {

using Eigen::Vector3d;

/// The variance by which `smoothed` and the height of a cell blur rows. What was the height y times a
/// difference D is, blurred, y times the blurred D, and this variance times its slope.
constexpr double blur_of_rows = 1 + 1.0 / 12;

}  // namespace

Parted::Parted() {
  for (auto& parting : parts) parting.fill(Vector3d::Zero());
}

void Parted::add(const Parted& view) {
  all.add(view.all);
  views.push_back(view.all.slope);
  for (std::size_t p = 0; p < 2; ++p)
    for (std::size_t g = 0; g < parts_of_cells; ++g) parts[p][g] += view.parts[p][g];
}

Crossing crossing_of(const FrameStack& frames) {
  if (few_rows(frames) || !ViewsOfTurn(frames.angles).is_whole()) return Crossing::nowhere;
  return frames.bin_angle > 0 ? Crossing::beside_midplane : Crossing::everywhere;
}

OppositePairs::OppositePairs(const FrameStack& frames, const AxisLine& about, Crossing where)
    : frames_(frames),
      turn_(frames.angles),
      bin_angle_(frames.bin_angle),
      row_(about.row),
      where_(where),
      is_whole_(turn_.is_whole()) {
  const double last = frames.bins - 1, margin = 3;
  reach_ = std::min(about.axis_bin, last - about.axis_bin) - margin;
  by_row_ = !few_rows(frames);
  const double most_apart = cross() ? 2 : 0.5,  // rows, of opposite rays at the edge of the field
      beside = most_apart / std::max(1e-12, 2 * bin_angle_ * reach_);
  const double up = frames.rows - 1 - about.row, down = about.row;
  above_ = std::min(up, beside), below_ = std::min(down, beside);
  is_even_ = cross() && std::min(up, down) > margin + 1;
  if (is_even_) above_ = below_ = std::min({beside, up - margin, down - margin});
  constexpr double most = 2e6;
  const double samples = frames.views() * std::max(1.0, reach_) * (above_ + below_ + 1);
  const Index stride = std::max<Index>(1, floor_index(samples / most));
  for (Index v = 0; v < frames.views(); v += stride)
    if (turn_.at(frames.angles[v] + half_turn)) views_.push_back(v);
  if (where_ == Crossing::nowhere || reach_ < 1) return;
  const double beyond = margin + reach_ * std::abs(std::tan(about.roll)) / frames.aspect;
  const Range rows{std::max<Index>(0, floor_index(row_ - below_ - beyond)),
                   std::min(frames.rows, ceil_index(row_ + above_ + beyond) + 1)};
  crossing_.emplace(frames, turn_, about, rows, stride);
}

Index OppositePairs::quick() const {
  constexpr double enough = 2e5, most = 8;
  return floor_index(std::clamp(count() * reach_ * (height() + 1) / enough, 1.0, most));
}

Parted OppositePairs::at(const AxisLine& line, Index every) const {
  std::vector<Parted> each(views_.size());
  const Rolled rolled{line, std::cos(line.roll), std::sin(line.roll)};
  parallel_for(count(), [&](Index k) { each[k] = of_view(rolled, k, every); });
  Parted all;
  for (const Parted& one : each) all.add(one);
  return all;
}

Parted OppositePairs::of_view(const Rolled& line, Index k, Index every) const {
  Parted all;
  const Index view = views_[k];
  // Views are sampled at cells of other fractions, so that how interpolation dims noise moves nothing.
  const auto fraction = [&](double step) { return k * step - std::floor(k * step); };
  const double low = by_row_ ? fraction(0.754878) - below_ : std::ceil(-below_);
  for (double x = fraction(0.618034); x < reach_; x += every)
    for (const double side : {x, -x}) {
      if (side < 0 && is_whole_) continue;  // every pair comes twice
      const auto opposite = turn_.at(frames_.angles[view] + half_turn - 2 * std::atan(side * bin_angle_));
      if (!opposite) continue;
      for (double y = low; y <= above_; ++y) add_pair(all, line, view, side, y, *opposite);
    }
  return all;
}

void OppositePairs::add_pair(Parted& all, const Rolled& line, Index view, double side, double y,
                             const Between& opposite) const {
  const double ratio = frames_.aspect;
  const auto place = [&](double away) {
    return std::array{line.line.axis_bin + away * line.c + y * ratio * line.s,
                      row_ - away * line.s / ratio + y * line.c};
  };
  const auto here = place(side), there = place(-side);
  if (!inside(here) || !inside(there)) return;
  const Sample a = Sampler(frames_, here[0], here[1]).of(view), b = between(opposite, there);
  const Sample crossing = crossing_ ? crossing_->per_row(view, side, y) : Sample{};
  const double high = (cross() ? y : 0) + row_ - line.line.row, blur = cross() ? blur_of_rows : 0,
               off = a.value - b.value - high * crossing.value - blur * crossing.by_row;
  const Vector3d by = slopes(a, b, side, y, line, crossing.value);
  Vector3d slope = off * by;
  all.all.squares += off * off, all.all.energy += a.value * a.value + b.value * b.value;
  all.all.curvature += by * by.transpose();
  if (cross_everywhere()) {  // what noise of the crossing adds to the sum of squares is taken away
    const double noise = (1 - told_share()) * crossing.value * crossing.value;
    all.all.noise += high * high * noise, slope[2] += high * noise;
    all.all.curvature(2, 2) -= noise;
  }
  all.all.slope += slope;
  const auto part = [&](double value, double most) {
    return static_cast<std::size_t>(std::clamp(value / most * parts_of_cells, 0.0, parts_of_cells - 1.0));
  };
  all.parts[0][part(y + below_, height() + 1)] += slope;
  all.parts[1][part(std::abs(side), reach_)] += slope;
}

/// Smoothing has no part in it that lies beyond the frame.
bool OppositePairs::inside(const std::array<double, 2>& at) const {
  const double margin = 3, above = frames_.rows > 8 ? margin : -0.5;
  return at[0] >= margin && at[0] <= frames_.bins - 1 - margin && at[1] >= above &&
         at[1] <= frames_.rows - 1 - above;
}

Sample OppositePairs::between(const Between& views, const std::array<double, 2>& at) const {
  const Sampler sampler(frames_, at[0], at[1]);
  const Sample a = sampler.of(views.before), b = sampler.of(views.after);
  const auto mix = [&](double x, double y) { return (1 - views.share) * x + views.share * y; };
  return {mix(a.value, b.value), mix(a.by_bin, b.by_bin), mix(a.by_row, b.by_row)};
}

Vector3d OppositePairs::slopes(const Sample& a, const Sample& b, double x, double y, const Rolled& line,
                               double per_row) const {
  const double ratio = frames_.aspect;
  const auto by_roll = [&](const Sample& g, double away) {
    return g.by_bin * (y * ratio * line.c - away * line.s) - g.by_row * (away * line.c / ratio + y * line.s);
  };
  return {a.by_bin - b.by_bin, by_roll(a, x) - by_roll(b, -x), per_row};
}

}  // namespace tandem::calibration
