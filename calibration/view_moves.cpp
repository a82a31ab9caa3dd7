#include "view_moves.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../core/units.hpp"
#include "../geometry/fitted_orbit.hpp"
#include "../geometry/view_angles.hpp"
#include "reprojection.hpp"

namespace tandem::calibration {

namespace {

/// Three moves, brightness and offset at most.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 5, 5>;
using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 5, 1>;

std::size_t at(Move move) { return static_cast<std::size_t>(move); }

/// Cells of the edges that are left out: volumes end there.
struct Inner {
  Range rows, bins;
  explicit Inner(const FrameStack& frames) {
    const auto within = [](Index count, Index least) {
      const Index margin = count <= 4 ? 0 : std::max(least, count / 10);
      return Range{margin, count - margin};
    };
    rows = within(frames.rows, 3), bins = within(frames.bins, 3);
  }
};

/// Slopes of a frame by the moves of its image.
class Slopes {
 public:
  Slopes(const FrameStack& frames, Index view)
      : frames_(frames), values_(frames.values.data() + view * frames.rows * frames.bins) {}
  double value(Index row, Index bin) const { return values_[row * frames_.bins + bin]; }
  ViewMove by_moves(Index row, Index bin) const {
    const double by_bin = slope(bin, frames_.bins, [&](Index b) { return value(row, b); }),
                 by_row =
                     few_rows(frames_) ? 0 : slope(row, frames_.rows, [&](Index r) { return value(r, bin); });
    const double u = bin - 0.5 * (frames_.bins - 1), v = row - 0.5 * (frames_.rows - 1);
    return {-by_bin, -by_row, -v * frames_.aspect * by_bin + u / frames_.aspect * by_row};
  }

 private:
  template <class Value>
  static double slope(Index at, Index count, const Value& value) {
    const Index low = std::max<Index>(at - 1, 0), high = std::min(at + 1, count - 1);
    return (value(high) - value(low)) / (high - low);
  }
  const FrameStack& frames_;
  const float* values_;
};

/// use(row, bin) for the cells that count.
template <class Use>
void for_inner(const Inner& inner, const Use& use) {
  for (Index row = inner.rows.first; row < inner.rows.last; ++row)
    for (Index bin = inner.bins.first; bin < inner.bins.last; ++bin) use(row, bin);
}

/// How slopes of two stacks go together, over all views: their correlation, and by what those of the first
/// one have to be multiplied to be nearest to those of the second one.
struct Agreement {
  double correlation = 0, gain = 0;
};

std::array<Agreement, kinds_of_move> agreement(const FrameStack& a, const FrameStack& b) {
  const Inner inner(a);
  std::vector<std::array<std::array<double, 3>, kinds_of_move>> of_views(a.views());
  parallel_for(a.views(), [&](Index view) {
    auto& sums = of_views[view];
    const Slopes one(a, view), other(b, view);
    for_inner(inner, [&](Index row, Index bin) {
      const ViewMove s = one.by_moves(row, bin), t = other.by_moves(row, bin);
      for (std::size_t k = 0; k < kinds_of_move; ++k)
        sums[k][0] += s[k] * t[k], sums[k][1] += s[k] * s[k], sums[k][2] += t[k] * t[k];
    });
  });
  std::array<Agreement, kinds_of_move> all{};
  for (std::size_t k = 0; k < kinds_of_move; ++k) {
    std::array<double, 3> sum{};
    for (const auto& view : of_views)
      for (std::size_t i = 0; i < 3; ++i) sum[i] += view[k][i];
    if (sum[1] > 0 && sum[2] > 0) all[k] = {sum[0] / std::sqrt(sum[1] * sum[2]), sum[0] / sum[1]};
  }
  return all;
}

/// The views of two stacks in turn: the second one has the first view.
FrameStack in_turn(const FrameStack& a, FrameStack b) {
  const Index cells = a.rows * a.bins;
  for (Index view = 1; view < a.views(); view += 2)
    std::copy_n(a.values.begin() + view * cells, cells, b.values.begin() + view * cells);
  return b;
}

/// What a frame beside its reprojection tells of the moves that are searched.
struct Step {
  Vector move;
  Matrix covariance;
  double misfit = 0, size = 0;  ///< sums of squares
};

/// Sums over cells of products of columns: the slopes by some moves, the values, and 1.
class Equations {
 public:
  Equations(const FrameStack& frames, const FrameStack& seen, Index view, const std::vector<Move>& searched)
      : frame_(frames, view), seen_(seen, view), searched_(searched), inner_(frames) {}

  Step solved() const {
    const Eigen::Index n = searched_.size();
    Matrix normal = Matrix::Zero(n + 2, n + 2);
    Vector right = Vector::Zero(n + 2);
    Step step;
    for_inner(inner_, [&](Index row, Index bin) {
      const Vector columns = columns_at(row, bin);
      const double off = residual(row, bin);
      normal.noalias() += columns * columns.transpose(), right += off * columns;
      step.misfit += off * off, step.size += std::pow(frame_.value(row, bin), 2);
    });
    normal.diagonal() *= 1 + 1e-9;
    normal.diagonal().array() += 1e-300;  // for a frame without anything
    const Matrix inverse = normal.ldlt().solve(Matrix::Identity(n + 2, n + 2));
    const Vector found = inverse * right;
    step.move = found.head(n);
    step.covariance = (inverse * scatter(found) * inverse).topLeftCorner(n, n);
    return step;
  }

 private:
  Vector columns_at(Index row, Index bin) const {
    const Eigen::Index n = searched_.size();
    Vector columns(n + 2);
    const ViewMove slopes = seen_.by_moves(row, bin);
    for (Eigen::Index k = 0; k < n; ++k) columns[k] = slopes[at(searched_[k])];
    columns[n] = seen_.value(row, bin), columns[n + 1] = 1;
    return columns;
  }
  double residual(Index row, Index bin) const { return frame_.value(row, bin) - seen_.value(row, bin); }

  /// The sum over blocks of cells of squares of what each pulls: neighbours are wrong together.
  Matrix scatter(const Vector& found) const {
    constexpr Index block = 6;
    Matrix all = Matrix::Zero(found.size(), found.size());
    for (Index row = inner_.rows.first; row < inner_.rows.last; row += block)
      for (Index bin = inner_.bins.first; bin < inner_.bins.last; bin += block) {
        Vector pull = Vector::Zero(found.size());
        for (Index r = row; r < std::min(row + block, inner_.rows.last); ++r)
          for (Index b = bin; b < std::min(bin + block, inner_.bins.last); ++b) {
            const Vector columns = columns_at(r, b);
            pull += (residual(r, b) - columns.dot(found)) * columns;
          }
        all.noalias() += pull * pull.transpose();
      }
    return all;
  }

  Slopes frame_, seen_;
  const std::vector<Move>& searched_;
  Inner inner_;
};

/// A polynomial over the views in the place of free numbers, each with its variance.
void make_smooth(std::vector<double>& values, std::vector<double>& deviations, int degree) {
  const Eigen::Index n = values.size(), terms = std::min<Eigen::Index>(degree + 1, n);
  Eigen::MatrixXd basis(n, terms);
  Eigen::VectorXd right(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const double t = n > 1 ? 2.0 * k / (n - 1) - 1 : 0, weight = 1 / std::max(1e-9, deviations[k]);
    for (Eigen::Index j = 0; j < terms; ++j)  // Chebyshev's polynomials
      basis(k, j) = weight * std::cos(j * std::acos(std::clamp(t, -1.0, 1.0)));
    right[k] = weight * values[k];
  }
  const Eigen::MatrixXd inverse = (basis.transpose() * basis).inverse();
  const Eigen::VectorXd found = inverse * basis.transpose() * right;
  for (Eigen::Index k = 0; k < n; ++k) {
    double& deviation = deviations[k];
    const Eigen::VectorXd line = basis.row(k).transpose() * std::max(1e-9, deviation);
    values[k] = line.dot(found);
    deviation = std::sqrt(line.dot(inverse * line));
  }
}

/// The search, round by round.
class Alignment {
 public:
  Alignment(const FrameStack& frames, const FlexibleBeam& scan, const MoveSearch& how)
      : frames_(frames), smooth_(smoothed(frames, 1)), base_(scan), how_(how) {
    const auto views = scan.views.size();
    found_.moves.assign(views, {}), found_.uncertainty.assign(views, {});
    found_.verdict.fill(Verdict::flat);
  }

  ViewMoves result() {
    FrameStack seen = look(true);
    step(seen, false);
    found_.misfit_before = found_.misfit;
    leave_out_uncertain();
    double before = 0;
    for (int round = 0; round < how_.rounds && !searched_.empty(); ++round) {
      how_.watch(round);
      const double moved = step(seen, true);
      found_.rounds = round + 1;
      if (railed()) return found_;
      seen = look(false);
      if (std::max(moved, still_to_go(moved, before)) < enough) break;
      before = moved;
    }
    step(seen, false);
    return found_;
  }

 private:
  static constexpr double enough = 0.003, told = 0.15, half_known = 0.5;  // cells; cells; a share

  /// How far views have still to go after a round, if each further round moves them by the same share of the
  /// one before. What neighbouring views have in common moves the volume, too, and a round tells a part of
  /// it.
  static double still_to_go(double moved, double before) {
    const double share = std::min(0.9, moved / before);
    return moved * share / (1 - share);
  }

  FlexibleBeam moved() const {
    FlexibleBeam scan = base_;
    for (std::size_t k = 0; k < scan.views.size(); ++k)
      scan.views[k] = moved_by(base_, base_.views[k], found_.moves[k]);
    return scan;
  }

  /// The reprojections, and at first what is searched.
  FrameStack look(bool first) {
    Reprojection reprojection(frames_, moved(), how_.device);
    if (first) choose(reprojection.of_half(0), reprojection.of_half(1));
    return reprojection.of_all();
  }

  /// Searches moves by which line integrals change in the same way in the volumes of both halves of the
  /// views, and in the frames of the other half: noise does not, and what a filter makes of frames that are
  /// cut off is in no frame.
  void choose(const FrameStack& first, const FrameStack& second) {
    const auto halves = agreement(first, second), frames = agreement(in_turn(first, second), smooth_);
    for (const Move move : {Move::bins, Move::rows, Move::turn}) {
      if (move != Move::bins && few_rows(frames_)) continue;
      if (move == Move::turn && !how_.turns) continue;
      if (halves[at(move)].correlation > half_known && frames[at(move)].gain > half_known)
        searched_.push_back(move);
    }
  }

  /// Moves views, or only says how certain the moves are; by how many cells, root mean square.
  double step(const FrameStack& seen, bool go) {
    const std::size_t views = frames_.views();
    std::vector<Step> steps(views);
    parallel_for(frames_.views(),
                 [&](Index view) { steps[view] = Equations(smooth_, seen, view, searched_).solved(); });
    double misfit = 0, size = 0;
    for (const Step& each : steps) misfit += each.misfit, size += each.size;
    found_.misfit = size > 0 ? std::sqrt(misfit / size) : 1;
    const std::vector<ViewMove> before = found_.moves;
    for (std::size_t k = 0; k < searched_.size(); ++k) {
      std::vector<double> values, deviations;
      for (std::size_t v = 0; v < views; ++v) {
        const Eigen::Index i = k;
        values.push_back(before[v][at(searched_[k])] + steps[v].move[i]);
        deviations.push_back(std::sqrt(std::max(0.0, steps[v].covariance(i, i))));
      }
      if (how_.degree) make_smooth(values, deviations, *how_.degree);
      for (std::size_t v = 0; v < views; ++v) {
        if (go) found_.moves[v][at(searched_[k])] = values[v];
        found_.uncertainty[v][at(searched_[k])] = deviations[v];
      }
    }
    if (!go) return 0;
    subtract_common_moves(found_.moves, base_);
    for (std::size_t v = 0; v < views; ++v)
      for (std::size_t k = 0; k < kinds_of_move; ++k)
        if (std::ranges::find(searched_, static_cast<Move>(k)) == searched_.end()) found_.moves[v][k] = 0;
    double sum = 0;
    for (std::size_t v = 0; v < views; ++v)
      for (std::size_t k = 0; k < kinds_of_move; ++k)
        sum += std::pow((found_.moves[v][k] - before[v][k]) * cells_of(static_cast<Move>(k)), 2);
    return std::sqrt(sum / views);
  }

  /// How many cells one unit of a move is, half way to the edge of the frame.
  double cells_of(Move move) const {
    return move == Move::turn ? 0.25 * std::max(frames_.rows, frames_.bins) : 1;
  }

  double typical_uncertainty(Move move) const {
    std::vector<double> all;
    for (const ViewMove& each : found_.uncertainty) all.push_back(each[at(move)] * cells_of(move));
    const auto middle = all.begin() + all.size() / 2;
    std::ranges::nth_element(all, middle);
    return *middle;
  }

  void leave_out_uncertain() {
    std::erase_if(searched_, [&](Move move) { return !(typical_uncertainty(move) < told); });
    for (const Move move : searched_) found_.verdict[at(move)] = Verdict::resolved;
    for (ViewMove& each : found_.uncertainty)
      for (std::size_t k = 0; k < kinds_of_move; ++k)
        if (found_.verdict[k] == Verdict::flat) each[k] = 0;
  }

  /// Whether a view went farther than reprojections can say.
  bool railed() {
    const double most = 0.1 * frames_.bins;
    bool any = false;
    for (const Move move : searched_)
      for (const ViewMove& each : found_.moves)
        if (!(std::abs(each[at(move)]) * cells_of(move) < most))
          found_.verdict[at(move)] = Verdict::railed, any = true;
    return any;
  }

  const FrameStack& frames_;
  FrameStack smooth_;
  const FlexibleBeam& base_;
  const MoveSearch& how_;
  std::vector<Move> searched_{};
  ViewMoves found_{};
};

/// A volume whose views leave out much of half a turn is smeared along the rays that are there, and what it
/// shows of each view lies elsewhere.
void require_half_turn(const FlexibleBeam& scan) {
  const FittedOrbit orbit = fitted_orbit(scan);
  const double gap = orbit.goes_on ? 0 : in_degrees(widest_gap(orbit.angles));
  require<GeometryError>(
      gap < 60.001, "calibrate: no view lies within ", std::round(gap),
      " degrees of half a turn; such frames make no volume that tells shifts of views, and "
      "60 degrees at most may be left out");
}

}  // namespace

ViewMoves find_view_moves(const FrameStack& frames, const FlexibleBeam& scan, const MoveSearch& how) {
  require_half_turn(scan);
  return Alignment(frames, scan, how).result();
}

}  // namespace tandem::calibration
