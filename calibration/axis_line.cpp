#include "axis_line.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "opposite_pairs.hpp"
#include "spread.hpp"

namespace tandem::calibration {

namespace {

using Eigen::Matrix3d, Eigen::Vector2d, Eigen::Vector3d;  // the numbers are axis, roll and midplane; of
// parallel rays the lean of the axis along the beam, rad, has the place of the midplane

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
bool descend(const OppositePairs& pairs, AxisLine& line, const Unknowns& what, Index every) {
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
    while (next.made_least() > here.made_least() && size(move) > enough)
      move *= 0.5, next = pairs.at(moved(line, move), every);
    if (size(move) <= enough) return true;
    line = moved(line, move), here = next;
    if (std::abs(line.axis_bin - start.axis_bin) > farthest * pairs.reach() || std::abs(line.roll) > farthest)
      return false;
  }
  return true;
}

/// The curvature of the sum of squares, by slopes on both sides: noise adds nothing to it.
Matrix3d curvature_at(const OppositePairs& pairs, const AxisLine& line, const Vector3d& steps) {
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
  std::optional<OppositePairs> pairs{};
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
      const OppositePairs& pairs = *all.pairs;
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
  const OppositePairs& pairs = *at.pairs;
  // Bins, at the edge of the field for the roll, and rows: what interpolation leaves, as noise-free
  // ellipsoids and foam show.
  constexpr double half_bin = 0.5, floor = 0.0005, floor_of_row = 0.08, most = 0.05;
  const double floor_of_roll = pairs.of_parallel_rays() ? 0.001 : 0.002;
  const double arm = what.roll ? std::max({1.0, 0.5 * pairs.height(), pairs.reach()}) : 1;
  const Parted here = pairs.at(at.line);
  found.misfit = here.misfit();
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
  const OppositePairs& pairs = *now.pairs;
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
    const bool alike = pairs.at({now.line.axis_bin, now.line.row, 0}).misfit() < nothing_in_common;
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
  const OppositePairs pairs(level, line,
                            where == Crossing::everywhere ? Crossing::nowhere : where);  // no lean
  return pairs.at(line).misfit();
}

}  // namespace tandem::calibration
