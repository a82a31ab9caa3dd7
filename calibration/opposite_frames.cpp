#include "opposite_frames.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "opposite_views.hpp"

namespace tandem::calibration {

namespace {

using Eigen::Matrix2d, Eigen::Vector2d;

constexpr int groups = 8;  // so wide, in rows or distances, that few of their cells share noise with others

/// Sums over pairs of rays: of squares of differences, and their slopes by axis and roll.
struct Sums {
  double squares = 0, energy = 0;
  Vector2d slope = Vector2d::Zero();
  Matrix2d curvature = Matrix2d::Zero();  ///< by Gauss and Newton
  void add(const Sums& o) {
    squares += o.squares, energy += o.energy, slope += o.slope, curvature += o.curvature;
  }
};

/// The same parted by rows and by distances from the axis, and the slopes of views.
struct Parted {
  Sums all;
  std::array<std::array<Vector2d, groups>, 2> parts;
  std::vector<Vector2d> views{};
  Parted() {
    for (auto& parting : parts) parting.fill(Vector2d::Zero());
  }
  void add(const Parted& view) {
    all.add(view.all);
    views.push_back(view.all.slope);
    for (std::size_t p = 0; p < 2; ++p)
      for (std::size_t g = 0; g < groups; ++g) parts[p][g] += view.parts[p][g];
  }
};

double misfit_of(const Parted& all) { return all.all.energy > 0 ? all.all.squares / all.all.energy : 1; }

/// Pairs of opposite rays of a stack about any axis.
class Pairs {
 public:
  Pairs(const FrameStack& frames, const AxisLine& about)
      : frames_(frames), turn_(frames.angles), bin_angle_(frames.bin_angle) {
    const double last = frames.bins - 1, margin = 3;
    reach_ = std::min(about.axis_bin, last - about.axis_bin) - margin;
    const double beside = 0.25 / std::max(1e-12, frames.bin_angle * std::max(reach_, 1.0));
    const double up = frames.rows - 1 - about.row, down = about.row;
    above_ = std::min(up, beside), below_ = std::min(down, beside);
    by_row_ = !few_rows(frames);
    constexpr double most = 2e6;
    const double samples = frames.views() * std::max(1.0, reach_) * (above_ + below_ + 1);
    stride_ = std::max<Index>(1, floor_index(samples / most));
    for (Index v = 0; v < frames.views(); v += stride_)
      if (turn_.at(frames.angles[v] + half_turn)) views_.push_back(v);
  }
  Index count() const { return views_.size(); }
  double reach() const { return reach_; }
  double height() const { return above_ + below_; }
  /// Whether opposite rays of a whole turn cross in the midplane alone.
  bool cross_in_midplane() const { return frames_.bin_angle > 0 && by_row_ && turn_.is_whole(); }

  Parted at(const AxisLine& line) const {
    std::vector<Parted> each(views_.size());
    parallel_for(count(), [&](Index k) { each[k] = of_view(line, k); });
    Parted all;
    for (const Parted& one : each) all.add(one);
    return all;
  }

 private:
  Parted of_view(const AxisLine& line, Index k) const {
    Parted all;
    const Index view = views_[k];
    const double c = std::cos(line.roll), s = std::sin(line.roll), ratio = frames_.aspect;
    // Views are sampled at cells of other fractions, so that how interpolation dims noise moves nothing.
    const auto fraction = [&](double step) { return k * step - std::floor(k * step); };
    for (double x = fraction(0.618034); x < reach_; ++x) {
      for (const double side : {x, -x}) {
        if (side < 0 && turn_.is_whole()) continue;  // every pair comes twice
        const auto opposite = turn_.at(frames_.angles[view] + half_turn - 2 * std::atan(side * bin_angle_));
        if (!opposite) continue;
        for (double y = std::ceil(-below_) + (by_row_ ? fraction(0.754878) : 0); y <= above_; ++y) {
          const auto place = [&](double away) {
            return std::array{line.axis_bin + away * c + y * ratio * s, line.row - away * s / ratio + y * c};
          };
          const auto here = place(side), there = place(-side);
          if (!inside(here) || !inside(there)) continue;
          const Sample a = Sampler(frames_, here[0], here[1]).of(view), b = between(*opposite, there);
          const Vector2d slope = add_pair(all.all, a, b, side, y, c, s);
          const auto part = [&](double value, double most) {
            return static_cast<std::size_t>(std::clamp(value / most * groups, 0.0, groups - 1.0));
          };
          all.parts[0][part(y + below_, height() + 1)] += slope;
          all.parts[1][part(x, reach_)] += slope;
        }
      }
    }
    return all;
  }

  /// Smoothing has no part in it that lies beyond the frame.
  bool inside(const std::array<double, 2>& at) const {
    const double margin = 3, above = frames_.rows > 8 ? margin : -0.5;
    return at[0] >= margin && at[0] <= frames_.bins - 1 - margin && at[1] >= above &&
           at[1] <= frames_.rows - 1 - above;
  }
  Sample between(const Between& views, const std::array<double, 2>& at) const {
    const Sampler sampler(frames_, at[0], at[1]);
    const Sample a = sampler.of(views.before), b = sampler.of(views.after);
    const auto mix = [&](double x, double y) { return (1 - views.share) * x + views.share * y; };
    return {mix(a.value, b.value), mix(a.by_bin, b.by_bin), mix(a.by_row, b.by_row)};
  }
  Vector2d slopes(const Sample& a, const Sample& b, double x, double y, double c, double s) const {
    const double ratio = frames_.aspect;
    const auto by_roll = [&](const Sample& g, double away) {
      return g.by_bin * (y * ratio * c - away * s) - g.by_row * (away * c / ratio + y * s);
    };
    return {a.by_bin - b.by_bin, by_roll(a, x) - by_roll(b, -x)};
  }
  /// Returns the slope of half the square.
  Vector2d add_pair(Sums& sums, const Sample& a, const Sample& b, double x, double y, double c,
                    double s) const {
    const double off = a.value - b.value;
    const Vector2d by = slopes(a, b, x, y, c, s);
    sums.squares += off * off, sums.energy += a.value * a.value + b.value * b.value;
    sums.slope += off * by, sums.curvature += by * by.transpose();
    return off * by;
  }

  const FrameStack& frames_;
  ViewsOfTurn turn_;
  double bin_angle_, reach_, above_, below_;
  bool by_row_;
  Index stride_;
  std::vector<Index> views_;
};

AxisLine moved(const AxisLine& line, const Vector2d& by) {
  return {line.axis_bin + by[0], line.row, line.roll + by[1]};
}

/// Steps that lower the misfit, until they are small; false if they run away.
bool descend(const Pairs& pairs, AxisLine& line, bool by_roll) {
  const AxisLine start = line;
  constexpr double farthest = 0.2, longest = 2, enough = 1e-4;  // shares of the reach, and rad; bins
  const auto size = [&](const Vector2d& move) {
    return std::max(std::abs(move[0]), std::abs(move[1]) * pairs.reach());
  };
  Parted here = pairs.at(line);
  for (int step = 0; step < 20; ++step) {
    Matrix2d curvature = here.all.curvature;
    if (!by_roll) curvature(0, 1) = curvature(1, 0) = 0, curvature(1, 1) = 1;
    Vector2d move = -curvature.inverse() * here.all.slope;
    if (!by_roll) move[1] = 0;
    if (!move.allFinite()) return false;
    move *= std::min(1.0, longest / size(move));
    Parted next = pairs.at(moved(line, move));
    while (misfit_of(next) > misfit_of(here) && size(move) > enough)
      move *= 0.5, next = pairs.at(moved(line, move));
    if (size(move) <= enough) return true;
    line = moved(line, move), here = next;
    if (std::abs(line.axis_bin - start.axis_bin) > farthest * pairs.reach() || std::abs(line.roll) > farthest)
      return false;
  }
  return true;
}

/// The curvature of the sum of squares, by slopes on both sides: noise adds nothing to it.
Matrix2d curvature_at(const Pairs& pairs, const AxisLine& line, const Vector2d& steps) {
  Matrix2d all;
  for (int k = 0; k < 2; ++k) {
    const Vector2d step = steps[k] * Vector2d::Unit(k);
    all.col(k) =
        (pairs.at(moved(line, step)).all.slope - pairs.at(moved(line, -step)).all.slope) / (2 * steps[k]);
  }
  return 0.5 * (all + all.transpose());
}

/// The standard deviation of a sum of what parts pull, if these are independent; a single part tells none.
/// Few parts have a wider one: by about Student's factor for one standard deviation.
double spread_of(const std::vector<double>& pulls) {
  double squares = 0;
  for (const double pull : pulls) squares += pull * pull;
  const double free = pulls.size() - 1.0;
  return free < 1 ? 0 : std::sqrt(squares * (free + 1) / free) * (1 + 0.5 / free);
}

/// The same of pulls that also change evenly from view to view: from views that are two apart. Neighbours
/// share the frames between which opposite rays are interpolated.
double spread_of_differences(const std::vector<double>& pulls) {
  constexpr std::size_t lag = 2;
  double squares = 0;
  for (std::size_t k = 0; k < pulls.size(); ++k)
    squares += std::pow(pulls[k] - pulls[(k + lag) % pulls.size()], 2);
  return std::sqrt(0.5 * squares);
}

std::vector<double> in_groups(const std::vector<double>& pulls) {
  constexpr std::size_t most = 16;
  std::vector<double> sums(std::min(most, pulls.size()), 0);
  for (std::size_t k = 0; k < pulls.size(); ++k) sums[k * sums.size() / pulls.size()] += pulls[k];
  return sums;
}

/// How much axis or roll spreads by what parts of the data pull it. The noise of views is independent. Out of
/// the midplane, opposite rays of a point source cross, so that views pull axis and roll to and fro. Over a
/// whole turn that cancels: it is the derivative of something by the angle, and it changes slowly from view
/// to view. Rows and distances tell the spread where they differ by more than chance, which is then an error
/// of another kind, and where few views have an opposite one.
double spread_of(const std::array<std::vector<double>, 3>& pulls, bool cross_in_midplane) {
  constexpr double beyond_chance = 1.6;  // the 95 % point of the root of Fisher's ratio, 7 to 15 parts
  constexpr std::size_t few = 8;
  const double others = std::max(spread_of(pulls[1]), spread_of(pulls[2]));
  if (pulls[0].size() < few) return others;
  const double views = cross_in_midplane ? spread_of_differences(pulls[0]) : spread_of(in_groups(pulls[0]));
  return others > beyond_chance * views ? others : views;
}

/// Spreads of axis and roll.
Vector2d uncertainties(const Parted& here, const Matrix2d& curvature, bool cross_in_midplane) {
  const Matrix2d inverse = curvature.inverse();
  Vector2d all;
  for (int k = 0; k < 2; ++k) {
    std::array<std::vector<double>, 3> pulls;
    const auto add = [&](std::size_t parting, const auto& slopes) {
      for (const Vector2d& slope : slopes)
        if (slope.squaredNorm() > 0) pulls[parting].push_back((inverse * slope)[k]);
    };
    add(0, here.views), add(1, here.parts[0]), add(2, here.parts[1]);
    all[k] = spread_of(pulls, cross_in_midplane);
  }
  return all;
}

constexpr double nothing_in_common = 0.7;

/// What is compared: smoothed, and of views all round less their means.
FrameStack comparable(const FrameStack& frames, Index factor) {
  FrameStack level = smoothed(frames, factor);
  if (ViewsOfTurn(frames.angles).is_whole()) subtract_means(level);
  return level;
}

/// Uncertainties of an estimate, in bins of the level, and whether there is one.
void judge(AxisLineEstimate& found, const Pairs& pairs, const AxisLine& line, bool by_roll) {
  // Bins, at the edge of the field for the roll: what interpolation leaves, as noise-free ellipsoids show.
  constexpr double half_bin = 0.5, floor = 0.0005, floor_of_roll = 0.004;
  constexpr double most = 0.05;
  const double arm = by_roll ? std::max({1.0, 0.5 * pairs.height(), pairs.reach()}) : 1;
  const Parted here = pairs.at(line);
  found.misfit = misfit_of(here);
  Matrix2d curvature = curvature_at(pairs, line, {half_bin, half_bin / arm});
  if (!by_roll) curvature(0, 1) = curvature(1, 0) = 0, curvature(1, 1) = 1;
  found.verdict = Verdict::flat;
  if (!(curvature(0, 0) > 0 && curvature.determinant() > 0)) return;
  Vector2d spread = uncertainties(here, curvature, pairs.cross_in_midplane());
  spread = {std::hypot(spread[0], floor), by_roll ? std::hypot(spread[1], floor_of_roll / arm) : 0};
  found.axis_uncertainty = spread[0], found.roll_uncertainty = spread[1];
  if (found.misfit < nothing_in_common && spread.allFinite() && spread[0] < most * pairs.reach())
    found.verdict = Verdict::resolved;
}

}  // namespace

AxisLineEstimate find_axis_line(const FrameStack& frames, const AxisLine& start) {
  AxisLineEstimate found{start};
  for (const Index factor : {4L, 1L}) {
    const bool by_roll = !few_rows(frames);
    if (frames.bins / factor < 16 || (by_roll && frames.rows / factor < 5)) continue;
    const FrameStack level = comparable(frames, factor);
    const double f = factor;
    const double row = by_roll ? (start.row + 0.5) / f - 0.5 : start.row;
    AxisLine line{(found.line.axis_bin + 0.5) / f - 0.5, row, found.line.roll};
    const Pairs pairs(level, line);
    found.pairs = pairs.count();
    if (pairs.count() == 0 || pairs.reach() < 4) return found;
    const bool stays = descend(pairs, line, by_roll);
    found.line = {(line.axis_bin + 0.5) * f - 0.5, start.row, line.roll};
    if (!stays) {
      found.verdict = misfit_of(pairs.at({line.axis_bin, line.row, 0})) < nothing_in_common ? Verdict::railed
                                                                                            : Verdict::flat;
      return found;
    }
    judge(found, pairs, line, by_roll);
    found.axis_uncertainty *= f;
  }
  return found;
}

double misfit_at(const FrameStack& frames, const AxisLine& line) {
  const FrameStack level = comparable(frames, 1);
  return misfit_of(Pairs(level, line).at(line));
}

}  // namespace tandem::calibration
