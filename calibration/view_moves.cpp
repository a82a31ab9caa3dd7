#include "view_moves.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../core/units.hpp"
#include "../geometry/fitted_orbit.hpp"
#include "../geometry/view_angles.hpp"
#include "median.hpp"
#include "reprojection.hpp"
#include "slow_moves.hpp"
#include "view_steps.hpp"

namespace tandem::calibration {

namespace {

/// The views of two stacks in turn: the second one has the first view.
FrameStack in_turn(const FrameStack& a, FrameStack b) {
  const Index cells = a.rows * a.bins;
  for (Index view = 1; view < a.views(); view += 2)
    std::copy_n(a.values.begin() + view * cells, cells, b.values.begin() + view * cells);
  return b;
}

std::vector<ViewMove> sum_of(std::vector<ViewMove> a, const std::vector<ViewMove>& b) {
  for (std::size_t v = 0; v < b.size(); ++v)
    for (std::size_t k = 0; k < kinds_of_move; ++k) a[v][k] += b[v][k];
  return a;
}

/// Polynomials over the views (Chebyshev's), in columns, as moves of a kind less what no frame tells.
Eigen::MatrixXd polynomials(Move kind, int degree, const Scan& scan) {
  const Eigen::Index n = views_of(scan), terms = std::min<Eigen::Index>(degree + 1, n);
  Eigen::MatrixXd all(n, terms);
  for (Eigen::Index j = 0; j < terms; ++j) {
    std::vector<ViewMove> moves(n, ViewMove{});
    for (Eigen::Index k = 0; k < n; ++k)
      moves[k][at(kind)] =
          std::cos(j * std::acos(std::clamp(2.0 * k / std::max<Eigen::Index>(1, n - 1) - 1, -1.0, 1.0)));
    subtract_common_moves(moves, scan);
    for (Eigen::Index k = 0; k < n; ++k) all(k, j) = moves[k][at(kind)];
  }
  return all;
}

/// The sum of some columns that is nearest to free numbers with these standard deviations.
Eigen::VectorXd nearest(const Eigen::VectorXd& values, const Eigen::VectorXd& deviations,
                        const Eigen::MatrixXd& columns) {
  const Eigen::VectorXd weights = deviations.cwiseMax(1e-9).cwiseInverse();
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
  solver.setThreshold(1e-6);  // a column may be nothing but rounding
  solver.compute(weights.asDiagonal() * columns);
  return columns * solver.solve(weights.cwiseProduct(values));
}

/// The search, round by round.
class Alignment {
 public:
  Alignment(const FrameStack& frames, const Scan& scan, const MoveSearch& how)
      : frames_(frames), smooth_(smoothed(frames, 1)), base_(scan), how_(how), inner_(frames) {
    const std::size_t views = views_of(scan);
    found_.moves.assign(views, {}), found_.uncertainty.assign(views, {});
    found_.verdict.fill(Verdict::flat);
    for (std::size_t k = 0; k < kinds_of_move && how.degree; ++k)
      polynomials_[k] = polynomials(static_cast<Move>(k), *how.degree, scan);
  }

  /// `start`: where views were found at joined cells
  ViewMoves result(const std::vector<ViewMove>& start) {
    std::vector<ViewMove> none = std::exchange(found_.moves, start);
    inner_ = Inner(frames_, rows_moved());
    choose();
    FrameStack seen = look();
    note(compared(seen));
    found_.misfit_before = found_.misfit;
    if (start != none) {
      std::swap(found_.moves, none);
      found_.misfit_before = misfit_of(compared(look()));
      std::swap(found_.moves, none);
    }
    leave_out_uncertain();
    slow_ = SlowMoves(base_, searched_);
    for (;;) {
      if (!settle(seen)) return found_;
      note(compared(seen));
      if (!leave_out_uncertain()) return found_;
      seen = look();
    }
  }

 private:
  static constexpr double enough = 0.003, told = 0.15, half_known = 0.5;  // cells; cells; a share
  static constexpr double near = 0.1;  // cells: from there reprojections change in proportion to moves

  /// Moves views round by round. False: they run away.
  bool settle(FrameStack& seen) {
    double before = 0;
    for (int round = 0; round < how_.rounds && !searched_.empty(); ++round) {
      how_.watch(round);
      const double moved = go(compared(seen));
      ++found_.rounds;
      if (railed()) return false;
      seen = look();
      if (!learned_ && (moved < near || round + 1 == how_.rounds))
        learn(seen);
      else if (std::max(moved, still_to_go(moved, before)) < enough)
        break;
      before = moved;
    }
    return true;
  }

  /// How far views have still to go after a round, if each further round moves them by the same share of the
  /// one before. What neighbouring views have in common moves the volume, too, and a round tells a part of
  /// it.
  static double still_to_go(double moved, double before) {
    const double share = std::min(0.9, moved / before);
    return moved * share / (1 - share);
  }

  Reprojection reprojected() const { return {frames_, moved_by(base_, found_.moves), how_.device}; }
  FrameStack look() const { return reprojected().of_all(); }

  /// Searches moves by which line integrals change in the same way in the volumes of both halves of the
  /// views, and in the frames of the other half: noise does not, and what a filter makes of frames that are
  /// cut off is in no frame.
  void choose() {
    Reprojection reprojection = reprojected();
    const FrameStack first = reprojection.of_half(0), second = reprojection.of_half(1);
    const auto halves = agreement(first, second), frames = agreement(in_turn(first, second), smooth_);
    for (const Move move : {Move::bins, Move::rows, Move::turn}) {
      if (move != Move::bins && few_rows(frames_)) continue;
      if (move == Move::turn && !how_.turns) continue;
      if (halves[at(move)].correlation > half_known && frames[at(move)].gain > half_known)
        searched_.push_back(move);
    }
  }

  std::vector<Step> compared(const FrameStack& seen) const {
    std::vector<Step> steps(frames_.views());
    parallel_for(frames_.views(),
                 [&](Index view) { steps[view] = step_of(smooth_, seen, view, searched_, inner_); });
    return steps;
  }

  /// Moves with numbers of those that are searched.
  template <class Numbers>
  std::vector<ViewMove> moves_with(const Numbers& of_view) const {
    std::vector<ViewMove> all(frames_.views(), ViewMove{});
    for (std::size_t v = 0; v < all.size(); ++v) {
      const Vector numbers = of_view(v);
      for (std::size_t k = 0; k < searched_.size(); ++k) all[v][at(searched_[k])] = numbers[k];
    }
    return all;
  }

  /// What a round tells of moves that go slowly over the views.
  void learn(const FrameStack& seen) {
    learned_ = true;
    const std::vector<ViewMove> here = found_.moves;
    const std::vector<Step> steps = compared(seen);
    for (int number = 0; number < SlowMoves::trials; ++number) {
      const std::vector<ViewMove> trial = slow_.trial(number);
      found_.moves = sum_of(here, trial);
      const std::vector<Step> then = compared(look());
      slow_.learn(number, moves_with([&](std::size_t v) { return steps[v].move - then[v].move; }));
    }
    found_.moves = here;
  }

  /// Moves of each view, as polynomials if they are, less what no frame tells.
  void tell_apart(std::vector<ViewMove>& moves, const std::vector<Step>& steps) const {
    for (std::size_t k = 0; k < searched_.size() && how_.degree; ++k) {
      const std::size_t kind = at(searched_[k]);
      Eigen::VectorXd values(moves.size()), deviations(moves.size());
      for (std::size_t v = 0; v < moves.size(); ++v)
        values[v] = moves[v][kind], deviations[v] = std::sqrt(std::max(0.0, steps[v].covariance(k, k)));
      values = nearest(values, deviations, polynomials_[kind]);
      for (std::size_t v = 0; v < moves.size(); ++v) moves[v][kind] = values[v];
    }
    subtract_common_moves(moves, base_);
    for (ViewMove& move : moves)
      for (std::size_t k = 0; k < kinds_of_move; ++k)
        if (std::ranges::find(searched_, static_cast<Move>(k)) == searched_.end()) move[k] = 0;
  }

  /// Moves views; by how many cells, root mean square.
  double go(const std::vector<Step>& steps) {
    std::vector<ViewMove> further = moves_with([&](std::size_t v) { return steps[v].move; });
    slow_.make_whole(further);
    tell_apart(further, steps);
    found_.moves = sum_of(found_.moves, further);
    inner_ = Inner(frames_, rows_moved());
    double sum = 0;
    for (const ViewMove& move : further)
      for (std::size_t k = 0; k < kinds_of_move; ++k)
        sum += std::pow(move[k] * cells_of(static_cast<Move>(k)), 2);
    return std::sqrt(sum / further.size());
  }

  /// The most rows by which a view is moved.
  double rows_moved() const {
    double rows = 0;
    for (const ViewMove& move : found_.moves) rows = std::max(rows, std::abs(move[at(Move::rows)]));
    return rows;
  }

  /// The variances of a move by blocks of cells. Few blocks tell one badly, and views side by side are alike.
  std::vector<double> variances(const std::vector<Step>& steps, std::size_t k) const {
    constexpr Index cells = 32 * 36;
    const Index beside = cells / std::max<Index>(1, inner_.rows.size() * inner_.bins.size()) / 2,
                last = std::ssize(steps) - 1;
    std::vector<double> all;
    for (Index v = 0; v <= last; ++v) {
      const Range alike{std::max<Index>(0, v - beside), std::min(last, v + beside) + 1};
      all.push_back(0);
      for (Index w = alike.first; w < alike.last; ++w) all.back() += steps[w].covariance(k, k) / alike.size();
    }
    return all;
  }

  static double misfit_of(const std::vector<Step>& steps) {
    double misfit = 0, size = 0;
    for (const Step& each : steps) misfit += each.misfit, size += each.size;
    return size > 0 ? std::sqrt(misfit / size) : 1;
  }

  /// Notes what is left between frames and reprojections, and how certain moves are. Each patch of the frames
  /// moves all views a little, as its pulls say; as far as all patches together scatter, views are uncertain.
  /// Pulls that go slowly over the views are few numbers, so their scatter is itself uncertain.
  void note(const std::vector<Step>& steps) {
    found_.misfit = misfit_of(steps);
    std::vector<ViewMove> squares(steps.size(), ViewMove{}), slow = squares;
    const Patches patches(inner_);
    for (Index patch = 0; patch < patches.count(); ++patch) {
      std::vector<ViewMove> moves = moves_with([&](std::size_t v) { return steps[v].pulls[patch]; });
      if (how_.degree) slow_.make_whole(moves);
      tell_apart(moves, steps);
      if (!how_.degree) slow_.take_out(moves, slow);
      for (std::size_t v = 0; v < moves.size(); ++v)
        for (std::size_t k = 0; k < kinds_of_move; ++k) squares[v][k] += std::pow(moves[v][k], 2);
    }
    for (std::size_t k = 0; k < searched_.size(); ++k) {
      const std::size_t kind = at(searched_[k]);
      const std::vector<double> blocks = variances(steps, k);
      const double at_edges = std::pow(error_at_edges(searched_[k]), 2);
      double all = 0, by_blocks = 0;
      for (std::size_t v = 0; v < steps.size(); ++v) all += squares[v][kind], by_blocks += blocks[v];
      // Blocks of cells tell better how views differ among each other.
      for (std::size_t v = 0; v < steps.size(); ++v) {
        const double fast = how_.degree || !(by_blocks > 0) ? squares[v][kind] : all / by_blocks * blocks[v];
        found_.uncertainty[v][kind] =
            std::sqrt(patches.scale() * (fast + patches.few() * slow[v][kind]) + at_edges);
      }
    }
  }

  /// What cells at the edges, which some views miss, pull all views by: as measured of ellipsoids on 40 x 56
  /// cells whose parallel views were moved by 1 to 3 cells, root mean square.
  double error_at_edges(Move move) const {
    if (move == Move::turn) return 0;
    double squares = 0;
    for (const ViewMove& each : found_.moves) squares += std::pow(each[at(move)], 2) / found_.moves.size();
    const double cells = move == Move::rows ? frames_.rows : frames_.bins;
    return (move == Move::rows ? 20 : 12) * squares / (cells * cells);
  }

  /// How many cells one unit of a move is, half way to the edge of the frame.
  double cells_of(Move move) const {
    return move == Move::turn ? 0.25 * std::max(frames_.rows, frames_.bins) : 1;
  }

  double typical_uncertainty(Move move) const {
    std::vector<double> all;
    for (const ViewMove& each : found_.uncertainty) all.push_back(each[at(move)] * cells_of(move));
    return median_of(std::move(all));
  }

  /// Whether something is left out, and something else is searched.
  bool leave_out_uncertain() {
    found_.verdict.fill(Verdict::flat);
    const auto left_out =
        std::erase_if(searched_, [&](Move move) { return !(typical_uncertainty(move) < told); });
    for (const Move move : searched_) found_.verdict[at(move)] = Verdict::resolved;
    for (std::size_t k = 0; k < kinds_of_move; ++k)
      for (std::size_t v = 0; v < found_.moves.size() && found_.verdict[k] == Verdict::flat; ++v)
        found_.moves[v][k] = found_.uncertainty[v][k] = 0;
    return left_out > 0 && !searched_.empty();
  }

  /// Whether a view went farther than reprojections can say.
  bool railed() {
    const double most = 0.2 * frames_.bins;
    bool any = false;
    for (const Move move : searched_)
      for (const ViewMove& each : found_.moves)
        if (!(std::abs(each[at(move)]) * cells_of(move) < most))
          found_.verdict[at(move)] = Verdict::railed, any = true;
    return any;
  }

  const FrameStack& frames_;
  FrameStack smooth_;
  const Scan& base_;
  const MoveSearch& how_;
  Inner inner_;
  std::vector<Move> searched_{};
  std::array<Eigen::MatrixXd, kinds_of_move> polynomials_{};
  SlowMoves slow_;
  bool learned_ = false;
  ViewMoves found_{};
};

/// A volume whose views leave out much of half a turn is smeared along the rays that are there, and what it
/// shows of each view lies elsewhere.
void require_half_turn(const Scan& scan) {
  const FittedOrbit orbit = fitted_orbit(scan);
  const double gap = orbit.goes_on ? 0 : in_degrees(widest_gap(orbit.angles));
  require<GeometryError>(
      gap < 60.001, "calibrate: no view lies within ", std::round(gap),
      " degrees of half a turn; such frames make no volume that tells shifts of views, and "
      "60 degrees at most may be left out");
}

/// Whether cells can be joined two by two, and frames still have some.
bool can_be_coarser(const FrameStack& frames) {
  constexpr Index fewest = 32;
  return frames.bins >= fewest && (frames.rows == 1 || frames.rows >= fewest);
}

/// Where views were found at cells joined two by two, in cells of the frames: none where they were not.
std::vector<ViewMove> moves_at_joined_cells(const FrameStack& frames, const Scan& scan, MoveSearch how) {
  constexpr int rounds = 8;
  std::vector<ViewMove> start(frames.views(), ViewMove{});
  if (!can_be_coarser(frames)) return start;
  how.rounds = rounds;
  how.watch = [](int) {};
  const FrameStack coarse = smoothed(frames, 2, {0, 0});
  const Scan there = bin_down(scan, 1, true);
  const ViewMoves found = Alignment(coarse, there, how).result(moves_at_joined_cells(coarse, there, how));
  const bool ran_away = std::ranges::count(found.verdict, Verdict::railed) > 0;
  const double rows = frames.rows > 1 ? 2 : 1;
  for (std::size_t v = 0; v < start.size() && !ran_away; ++v)
    start[v] = {2 * found.moves[v][at(Move::bins)], rows * found.moves[v][at(Move::rows)],
                found.moves[v][at(Move::turn)]};
  return start;
}

}  // namespace

ViewMoves find_view_moves(const FrameStack& frames, const Scan& scan, const MoveSearch& how) {
  require_half_turn(scan);
  return Alignment(frames, scan, how).result(moves_at_joined_cells(frames, scan, how));
}

}  // namespace tandem::calibration
