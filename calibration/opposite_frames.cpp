#include "opposite_frames.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "axis_spread.hpp"
#include "crossing_rays.hpp"
#include "opposite_views.hpp"

namespace tandem::calibration {

namespace {

using Eigen::Matrix3d, Eigen::Vector2d, Eigen::Vector3d;  // the numbers are axis, roll and midplane; of
// parallel rays the lean of the axis along the beam, rad, has the place of the midplane

constexpr double least_share = 0.25;  // that is no noise in what crossing rays differ by

constexpr int groups = 8;  // so wide, in rows or distances, that few of their cells share noise with others

/// The variance by which `smoothed` and the height of a cell blur rows. What was the height y times a
/// difference D is, blurred, y times the blurred D, and this variance times its slope.
constexpr double blur_of_rows = 1 + 1.0 / 12;

/// Sums over pairs of rays: of squares of differences, and their slopes.
struct Sums {
  double squares = 0, energy = 0;
  Vector3d slope = Vector3d::Zero();
  Matrix3d curvature = Matrix3d::Zero();  ///< by Gauss and Newton
  void add(const Sums& o) {
    squares += o.squares, energy += o.energy, slope += o.slope, curvature += o.curvature;
  }
};

/// The same parted by rows and by distances from the axis, and the slopes of views.
struct Parted {
  Sums all;
  std::array<std::array<Vector3d, groups>, 2> parts;
  std::vector<Vector3d> views{};
  Parted() {
    for (auto& parting : parts) parting.fill(Vector3d::Zero());
  }
  void add(const Parted& view) {
    all.add(view.all);
    views.push_back(view.all.slope);
    for (std::size_t p = 0; p < 2; ++p)
      for (std::size_t g = 0; g < groups; ++g) parts[p][g] += view.parts[p][g];
  }
};

double misfit_of(const Parted& all) { return all.all.energy > 0 ? all.all.squares / all.all.energy : 1; }

/// Where opposite rays of a whole turn cross: those of a point source beside the midplane, and parallel ones
/// by as much everywhere, if the axis leans along the beam.
enum class Crossing { nowhere, beside_midplane, everywhere };
Crossing crossing_of(const FrameStack& frames) {
  if (few_rows(frames) || !ViewsOfTurn(frames.angles).is_whole()) return Crossing::nowhere;
  return frames.bin_angle > 0 ? Crossing::beside_midplane : Crossing::everywhere;
}

/// Pairs of opposite rays of a stack about any axis, in rows about that of a line.
class Pairs {
 public:
  Pairs(const FrameStack& frames, const AxisLine& about, Crossing where)
      : frames_(frames), turn_(frames.angles), bin_angle_(frames.bin_angle), row_(about.row), where_(where) {
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
    stride_ = std::max<Index>(1, floor_index(samples / most));
    for (Index v = 0; v < frames.views(); v += stride_)
      if (turn_.at(frames.angles[v] + half_turn)) views_.push_back(v);
    if (where_ == Crossing::nowhere || reach_ < 1) return;
    const double beyond = margin + reach_ * std::abs(std::tan(about.roll)) / frames.aspect;
    const Range rows{std::max<Index>(0, floor_index(row_ - below_ - beyond)),
                     std::min(frames.rows, ceil_index(row_ + above_ + beyond) + 1)};
    crossing_.emplace(frames, turn_, about, rows, stride_);
  }
  Index count() const { return views_.size(); }
  double reach() const { return reach_; }
  double height() const { return above_ + below_; }
  /// By how many rows opposite rays at the edge of the field come apart, for each row over the midplane, or
  /// rad by which an axis leans.
  double apart() const { return 2 * (where_ == Crossing::everywhere ? 1 : bin_angle_) * reach_; }
  /// What of `CrossingRays` is no noise, and what of it counts as none.
  double share() const { return crossing_ ? crossing_->share() : 1; }
  double told_share() const { return std::max(least_share, share()); }
  bool cross() const { return where_ == Crossing::beside_midplane; }
  bool cross_everywhere() const { return where_ == Crossing::everywhere; }
  /// Whether there are as many rows above the midplane as below it; it is not sought elsewhere.
  bool is_even() const { return is_even_; }

  /// How many bins a first descent goes from ray to ray: of very many rays some say enough.
  Index quick() const {
    constexpr double enough = 2e5, most = 8;
    return floor_index(std::clamp(count() * reach_ * (height() + 1) / enough, 1.0, most));
  }

  /// `every`: how many bins it is from ray to ray.
  Parted at(const AxisLine& line, Index every = 1) const {
    std::vector<Parted> each(views_.size());
    parallel_for(count(), [&](Index k) { each[k] = of_view(line, k, every); });
    Parted all;
    for (const Parted& one : each) all.add(one);
    return all;
  }

 private:
  Parted of_view(const AxisLine& line, Index k, Index every) const {
    Parted all;
    const Index view = views_[k];
    const double c = std::cos(line.roll), s = std::sin(line.roll), ratio = frames_.aspect;
    // Views are sampled at cells of other fractions, so that how interpolation dims noise moves nothing.
    const auto fraction = [&](double step) { return k * step - std::floor(k * step); };
    const auto part = [&](double value, double most) {
      return static_cast<std::size_t>(std::clamp(value / most * groups, 0.0, groups - 1.0));
    };
    for (double x = fraction(0.618034); x < reach_; x += every) {
      Vector3d& of_distance = all.parts[1][part(x, reach_)];
      for (const double side : {x, -x}) {
        if (side < 0 && turn_.is_whole()) continue;  // every pair comes twice
        const auto opposite = turn_.at(frames_.angles[view] + half_turn - 2 * std::atan(side * bin_angle_));
        if (!opposite) continue;
        for (double y = by_row_ ? fraction(0.754878) - below_ : std::ceil(-below_); y <= above_; ++y) {
          const auto place = [&](double away) {
            return std::array{line.axis_bin + away * c + y * ratio * s, row_ - away * s / ratio + y * c};
          };
          const auto here = place(side), there = place(-side);
          if (!inside(here) || !inside(there)) continue;
          const Sample a = Sampler(frames_, here[0], here[1]).of(view), b = between(*opposite, there);
          const Sample crossing = crossing_ ? crossing_->per_row(view, side, y) : Sample{};
          const double high = (cross() ? y : 0) + row_ - line.row, blur = cross() ? blur_of_rows : 0,
                       off = a.value - b.value - high * crossing.value - blur * crossing.by_row;
          const Vector3d by = slopes(a, b, side, y, c, s, crossing.value);
          Vector3d slope = off * by;
          all.all.squares += off * off, all.all.energy += a.value * a.value + b.value * b.value;
          all.all.curvature += by * by.transpose();
          if (cross_everywhere()) {  // what noise of the crossing adds to the sum of squares is taken away
            const double noise = (1 - told_share()) * crossing.value * crossing.value;
            all.all.squares -= high * high * noise, slope[2] += high * noise;
            all.all.curvature(2, 2) -= noise;
          }
          all.all.slope += slope;
          all.parts[0][part(y + below_, height() + 1)] += slope;
          of_distance += slope;
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
  Vector3d slopes(const Sample& a, const Sample& b, double x, double y, double c, double s,
                  double per_row) const {
    const double ratio = frames_.aspect;
    const auto by_roll = [&](const Sample& g, double away) {
      return g.by_bin * (y * ratio * c - away * s) - g.by_row * (away * c / ratio + y * s);
    };
    return {a.by_bin - b.by_bin, by_roll(a, x) - by_roll(b, -x), per_row};
  }
  const FrameStack& frames_;
  ViewsOfTurn turn_;
  double bin_angle_, row_, reach_ = 0, above_ = 0, below_ = 0;
  Crossing where_;
  bool by_row_ = false, is_even_ = false;
  Index stride_ = 1;
  std::vector<Index> views_{};
  std::optional<CrossingRays> crossing_{};
};

AxisLine moved(const AxisLine& line, const Vector3d& by) {
  return {line.axis_bin + by[0], line.row + by[2], line.roll + by[1]};
}

/// What is sought besides the axis.
struct Unknowns {
  bool roll, midplane;
  /// Equations that leave a number which is not sought as it is.
  void hold(Matrix3d& curvature, Vector3d* slope = nullptr) const {
    for (const auto& [is_sought, k] : {std::pair{roll, 1}, std::pair{midplane, 2}}) {
      if (is_sought) continue;
      curvature.row(k).setZero(), curvature.col(k).setZero(), curvature(k, k) = 1;
      if (slope) (*slope)[k] = 0;
    }
  }
};

/// Steps that lower the misfit, until they are small; false if they run away.
bool descend(const Pairs& pairs, AxisLine& line, const Unknowns& what, Index every) {
  const AxisLine start = line;
  constexpr double farthest = 0.2, longest = 2, enough = 1e-4;  // shares of the reach, and rad; bins
  const auto size = [&](const Vector3d& move) {
    return std::max(
        {std::abs(move[0]), std::abs(move[1]) * pairs.reach(), std::abs(move[2]) * pairs.apart()});
  };
  Parted here = pairs.at(line, every);
  for (int step = 0; step < 20; ++step) {
    Matrix3d curvature = here.all.curvature;
    Vector3d slope = here.all.slope;
    what.hold(curvature, &slope);
    Vector3d move = -curvature.inverse() * slope;
    if (!move.allFinite()) return false;
    move *= std::min(1.0, longest / size(move));
    if (size(move) <= enough) return true;
    Parted next = pairs.at(moved(line, move), every);
    while (misfit_of(next) > misfit_of(here) && size(move) > enough)
      move *= 0.5, next = pairs.at(moved(line, move), every);
    if (size(move) <= enough) return true;
    line = moved(line, move), here = next;
    if (std::abs(line.axis_bin - start.axis_bin) > farthest * pairs.reach() || std::abs(line.roll) > farthest)
      return false;
  }
  return true;
}

/// The curvature of the sum of squares, by slopes on both sides: noise adds nothing to it.
Matrix3d curvature_at(const Pairs& pairs, const AxisLine& line, const Vector3d& steps) {
  Matrix3d all;
  for (int k = 0; k < 3; ++k) {
    const Vector3d step = steps[k] * Vector3d::Unit(k);
    all.col(k) =
        (pairs.at(moved(line, step)).all.slope - pairs.at(moved(line, -step)).all.slope) / (2 * steps[k]);
  }
  return 0.5 * (all + all.transpose());
}

/// Spreads of axis, roll and midplane. Noise of what crossing rays differ by draws the midplane down above it
/// and up below it: of the midplane, rows tell nothing.
Vector3d uncertainties(const Parted& here, const Matrix3d& curvature) {
  const Matrix3d inverse = curvature.inverse();
  Vector3d all;
  for (int k = 0; k < 3; ++k) {
    std::array<std::vector<double>, 3> pulls;
    const auto add = [&](std::size_t parting, const auto& slopes) {
      for (Vector3d slope : slopes) {
        if (parting == 1) slope[2] = 0;
        if (slope.squaredNorm() > 0) pulls[parting].push_back((inverse * slope)[k]);
      }
    };
    add(0, here.views), add(2, here.parts[1]);
    if (k < 2) add(1, here.parts[0]);
    all[k] = axis_spread(pulls);
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

/// The same line by its axis in another row.
AxisLine in_row(const FrameStack& frames, const AxisLine& line, double from, double to) {
  return {line.axis_bin + (to - from) * frames.aspect * std::tan(line.roll), line.row, line.roll};
}

/// A line of a level, whose axis is that in its row, and the pairs of rays about it.
struct Settled {
  AxisLine line;
  std::optional<Pairs> pairs{};
  bool stays = true;  ///< it did not run away
};

/// How well the midplane is known, as a share of the rows: at least where opposite rays tell it, and about so
/// well where they do not.
constexpr double most_of_rows = 0.05;

/// Lowers the misfit, with rays paired anew about each midplane that is found: noise of what crossing rays
/// differ by draws the midplane to the middle of these rows.
Settled settled(const FrameStack& level, const AxisLine& start, const Unknowns& what) {
  constexpr int most = 8;
  constexpr double enough = 0.05, farthest = 0.2;  // rows; a share of them
  Settled all{start};
  Crossing where = crossing_of(level);
  if (where == Crossing::everywhere && !what.midplane) where = Crossing::nowhere;
  for (const bool quick : {true, false})
    for (int turn = 0; turn < most; ++turn) {
      if (!all.pairs || !all.pairs->cross_everywhere()) all.pairs.emplace(level, all.line, where);
      const Pairs& pairs = *all.pairs;
      if (quick && pairs.quick() == 1) break;
      all.stays =
          !what.midplane || (pairs.share() > least_share && (pairs.is_even() || pairs.cross_everywhere()));
      if (!all.stays || pairs.count() == 0 || pairs.reach() < 4) return all;
      const double row = all.line.row;
      all.stays = descend(pairs, all.line, what, quick ? pairs.quick() : 1);
      if (!all.stays) return all;
      if (pairs.cross_everywhere()) break;
      const double move = (all.line.row - row) / pairs.told_share();
      all.line.row = row + move;
      all.stays = std::abs(all.line.row - start.row) <= farthest * level.rows;
      if (!all.stays) return all;
      if (std::abs(move) < enough) break;
      all.line = in_row(level, all.line, row, all.line.row);
    }
  return all;
}

/// Uncertainties of an estimate, in cells of the level, and whether there is one.
/// `row_uncertainty`: of a midplane that is not sought.
void judge(AxisLineEstimate& found, const Settled& at, const Unknowns& what, double row_uncertainty) {
  const Pairs& pairs = *at.pairs;
  // Bins, at the edge of the field for the roll, and rows: what interpolation leaves, as noise-free
  // ellipsoids and foam show.
  constexpr double half_bin = 0.5, floor = 0.0005, floor_of_row = 0.08, most = 0.05;
  const double floor_of_roll = pairs.cross() ? 0.002 : 0.001;
  const double arm = what.roll ? std::max({1.0, 0.5 * pairs.height(), pairs.reach()}) : 1;
  const Parted here = pairs.at(at.line);
  found.misfit = misfit_of(here);
  Matrix3d curvature = curvature_at(pairs, at.line, {half_bin, half_bin / arm, 1});
  curvature(2, 2) *= pairs.share() / (pairs.cross() ? 1 : pairs.told_share());
  const Vector2d with_row = curvature.topRightCorner<2, 1>();
  what.hold(curvature);
  found.verdict = Verdict::flat;
  if (what.midplane) found.row_uncertainty = INFINITY;
  if (!(curvature(0, 0) > 0 && curvature.topLeftCorner<2, 2>().determinant() > 0 && curvature(2, 2) > 0))
    return;
  const Vector3d spread = uncertainties(here, curvature);
  Vector2d untold = Vector2d::Zero();
  if (!what.midplane && pairs.cross())
    untold = row_uncertainty * curvature.topLeftCorner<2, 2>().inverse() * with_row;
  found.axis_uncertainty = std::hypot(spread[0], untold[0], floor);
  found.roll_uncertainty = what.roll ? std::hypot(spread[1], untold[1], floor_of_roll / arm) : 0;
  if (what.midplane && pairs.cross() && curvature.determinant() > 0)
    found.row_uncertainty = std::hypot(spread[2], floor_of_row);
  if (found.misfit < nothing_in_common && spread.allFinite() && spread[0] < most * pairs.reach())
    found.verdict = Verdict::resolved;
}

/// What a level makes of an estimate in cells of the frames; false if it does not tell it.
bool refine(AxisLineEstimate& found, const FrameStack& level, double factor, const Unknowns& what) {
  const auto coarse = [&](double cell) { return (cell + 0.5) / factor - 0.5; };
  const auto fine = [&](double cell) { return (cell + 0.5) * factor - 0.5; };
  const AxisLine& line = found.line;
  const Settled now =
      settled(level, {coarse(line.axis_bin), what.roll ? coarse(line.row) : line.row, line.roll}, what);
  const Pairs& pairs = *now.pairs;
  found.pairs = pairs.count();
  if (pairs.count() == 0 || pairs.reach() < 4) return false;
  if (what.midplane && pairs.share() <= least_share) return false;
  if (now.stays) {
    const double row =
        std::isfinite(found.row_uncertainty) ? found.row_uncertainty / factor : most_of_rows * level.rows;
    judge(found, now, what, row);
    found.axis_uncertainty *= factor;
    if (what.midplane) found.row_uncertainty *= factor;
  } else {
    const bool alike = misfit_of(pairs.at({now.line.axis_bin, now.line.row, 0})) < nothing_in_common;
    found.verdict = alike ? Verdict::railed : Verdict::flat;
  }
  const bool is_row = what.roll && !pairs.cross_everywhere();
  found.line = {fine(now.line.axis_bin), is_row ? fine(now.line.row) : line.row, now.line.roll};
  return now.stays;
}

}  // namespace

AxisLineEstimate find_axis_line(const FrameStack& frames, const AxisLine& start, const LineSearch& how) {
  const bool by_roll = !few_rows(frames);
  AxisLineEstimate found{start};
  for (const Index factor : {4L, 1L}) {
    if (factor < how.finest || frames.bins / factor < 16 || (by_roll && frames.rows / factor < 5)) continue;
    FrameStack level = comparable(frames, factor);
    if (how.reversed) std::ranges::transform(level.angles, level.angles.begin(), std::negate());
    if (const Crossing where = crossing_of(level); where != Crossing::nowhere) {
      AxisLineEstimate with_crossing = found;
      if (refine(with_crossing, level, factor, {true, true}) &&
          (where == Crossing::everywhere || with_crossing.row_uncertainty < most_of_rows * frames.rows)) {
        found = with_crossing;
        continue;
      }
    }
    if (!refine(found, level, factor, {by_roll, false})) return found;
  }
  return found;
}

double misfit_at(const FrameStack& frames, const AxisLine& line) {
  const FrameStack level = comparable(frames, 1);
  const Crossing where = crossing_of(level);
  return misfit_of(
      Pairs(level, line, where == Crossing::everywhere ? Crossing::nowhere : where).at(line));  // no lean
}

}  // namespace tandem::calibration
