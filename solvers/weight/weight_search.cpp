#include "weight_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/vector.hpp"
#include "../pdhg.hpp"
#include "../run.hpp"
#include "error_curve.hpp"
#include "held_out.hpp"
#include "wider.hpp"

namespace tandem {

namespace {

constexpr int together = 20;  // steps between two looks at the error

/// Whether floats can hold a weight that trials halve and double. Floats cannot hold the squares of
/// differences below about 1e-23, which count as flat, nor of differences above 1e19, whose weight is zero.
bool can_be_tried(double weight) { return weight > 1e-30 && weight < 1e34; }

double sum(const std::vector<double>& of_blocks) {
  return std::accumulate(of_blocks.begin(), of_blocks.end(), 0.0);
}

/// The weights on the host; ones, if there are none.
Array on_host(const Space& space, std::optional<Array> weights) {
  if (weights) return on_device(std::move(*weights), Device::cpu());
  Array ones(space.on(Device::cpu()));
  fill(ones, 1, default_stream(Device::cpu()));
  return ones;
}

/// Counts applications of operators, weighted by the number of voxels, and reports trials.
class Account {
 public:
  Account(const LinearOperator& A, const ObserveTrial& observe) : voxels_(voxels_of(A)), observe_(observe) {}
  void add(const LinearOperator& A, int applications) { done_ += applications * voxels_of(A) / voxels_; }
  void tell(const WeightTrial& trial) const {
    if (observe_) observe_(trial, done_);
  }
  double done() const { return done_; }

 private:
  static double voxels_of(const LinearOperator& A) { return A.domain().whole().size(); }
  double voxels_, done_ = 0;
  const ObserveTrial& observe_;
};

/// A problem with voxels of some width, and its data.
struct Level {
  LinearOperator A;
  const Regulariser& regulariser;
  Array b;  ///< data, on the device of A
  Array w;  ///< weights, on the host
  double weights_times = 1;
  Cells cells;
  Index wider = 1;
};

/// The volume and the dual variables of a regulariser from which a problem in narrower voxels goes on.
struct Found {
  Array x, q;
};

/// A weight whose solution is too smooth: with it the regulariser of a first volume outweighs the data.
/// Infinite for a flat volume, which cannot be smoother.
double large_weight(const Level& of, const Array& x, Account& account) {
  constexpr double outweighs = 4;
  Stream& stream = default_stream(of.A.domain().device());
  Array misfit = of.b.clone();
  of.A.apply(-1, x, 1, misfit, stream);
  account.add(of.A, 1);
  Array weighted = misfit.clone();
  multiply(on_device(of.w, of.A.domain().device()), weighted, stream);
  const double squares = sum(dot(misfit, weighted, stream));
  const double rough = sum(of.regulariser.value(of.regulariser.K * x, stream));
  if (!(rough > 0)) return std::numeric_limits<double>::infinity();
  return squares > 0 ? outweighs * 0.5 * squares / rough / of.weights_times : 1;
}

/// The first weight to try: `large_weight` of the first volume. If this volume is far from the data, as FBP
/// is if views are missing, its weight would be so large that trials would take very long. Then a few steps
/// without a regulariser give a better volume.
double first_weight(double of_first_volume, const Level& coarsest, Account& account) {
  constexpr int steps = 20;
  constexpr double at_most = 8;
  const LinearOperator& A = coarsest.A;
  Pdhg closer(A, coarsest.b.clone(), zeros(A.domain(), default_stream(A.domain().device())),
              coarsest.regulariser, {0}, on_device(coarsest.w, A.domain().device()));
  run(closer, max_iterations(steps));
  account.add(A, (Pdhg::cost.preparation + steps * Pdhg::cost.step).together());
  return std::min(of_first_volume, at_most * large_weight(coarsest, closer.solution(), account));
}

/// A solver that goes from weight to weight of a problem. It begins at zero, since a first volume may have
/// seen the data that are held out; or at what wider voxels found without these data.
class Trials {
 public:
  Trials(Level level, const WeightSearch& how, std::optional<Found> found, Account& account)
      : how_(how),
        account_(account),
        A_(level.A),
        regulariser_(level.regulariser),
        weights_times_(level.weights_times),
        wider_(level.wider),
        active_(A_.domain().block_count(), true),
        data_(std::move(level.w), level.cells, how),
        solver_(solver(std::move(level.b), std::move(found))) {}

  /// Tries a weight: makes steps until the error settles.
  WeightTrial operator()(double weight, int most_steps) {
    solver_.weigh({static_cast<float>(weight * weights_times_)});
    Mean error;
    double before = 0;
    int made = 0;
    do {
      for (int step = 0; step < together; ++step) solver_.step(active_);
      account_.add(A_, together * Pdhg::cost.step.together() + 1);
      error = error_now();
      before = std::exchange(last_, error.value);
      made += together;
      account_.tell({weight, error.value, error.standard_error, wider_});
    } while (made < most_steps && std::abs(error.value - before) > how_.settled * error.value);
    steps_ += made;
    return {weight, error.value, error.standard_error, wider_};
  }

  int steps() const { return steps_; }
  /// What narrower voxels go on from.
  Found found() { return {solver_.solution().clone(), dual()}; }

 private:
  Pdhg solver(Array b, std::optional<Found> found) {
    const Device device = A_.domain().device();
    Array x0 = found ? in_narrower_voxels(found->x, A_.domain()) : zeros(A_.domain(), default_stream(device));
    Pdhg made(A_, std::move(b), std::move(x0), regulariser_, {0}, on_device(data_.weights, device),
              {.bounds = how_.bounds});
    account_.add(A_, found ? Pdhg::cost.preparation.forward : Pdhg::cost.preparation.together());
    if (found) made.begin_at(in_narrower_voxels(found->q, regulariser_.K.range()));
    return made;
  }

  Array dual() {
    for (const StatePart& part : solver_.state())
      if (part.name == "q") return copy_of(std::get<VectorView>(part.value));
    throw SpaceError("find_weight: the solver has no dual variables");
  }

  static Array copy_of(const VectorView& view) {
    Stream& stream = default_stream(view.space.device());
    Array copied(view.space, stream);
    axpby(1, view, 0, copied, stream);
    return copied;
  }

  Mean error_now() {
    const Array& misfit = solver_.residual();
    if (misfit.space().device() == Device::cpu()) return trimmed_mean(data_.only_others, misfit);
    return trimmed_mean(data_.only_others, on_device(misfit.clone(), Device::cpu()));
  }

  WeightSearch how_;
  Account& account_;
  LinearOperator A_;
  const Regulariser& regulariser_;
  double weights_times_;
  Index wider_;
  ActiveBlocks active_;
  HeldOut data_;
  Pdhg solver_;
  double last_ = 0;
  int steps_ = 0;
};

/// The trials of one problem, and the curve through them.
class Look {
 public:
  Look(const WeightSearch& how, std::shared_ptr<const ErrorCurve> coarser, std::vector<WeightTrial>& all)
      : how_(how), curve_(std::make_shared<ErrorCurve>(std::move(coarser))), all_(all) {}

  /// Tries a weight. False if the error is zero, because then no other weight can be better.
  bool at(Trials& trials, double weight, int most_steps) {
    const WeightTrial trial = trials(weight, most_steps);
    all_.push_back(trial);
    if (!(trial.error > 0)) exact_ = weight;
    if (!exact_) curve_->add(trial);
    return !exact_;
  }
  double largest() const { return exact_ ? *exact_ : curve_->largest_weight(how_.settled); }
  bool is_exact() const { return exact_.has_value(); }
  std::shared_ptr<const ErrorCurve> curve() const { return curve_; }

 private:
  const WeightSearch& how_;
  std::shared_ptr<ErrorCurve> curve_;
  std::vector<WeightTrial>& all_;
  std::optional<double> exact_;
};

/// Halves the weight until two errors in a row are no longer clearly below the one before. Then doubles the
/// first weight as long as that makes no difference.
void look_along(Trials& trials, double weight, const WeightSearch& how, Look& look) {
  constexpr int most = 20, most_up = 10;
  double last = INFINITY, down = weight;
  for (int k = 0, still = 0; k < most && still < 2; ++k, down /= 2) {
    if (!look.at(trials, down, how.most_steps)) return;
    const double error = look.curve()->trials().front().error;
    still = error > (1 - how.settled) * last ? still + 1 : 0;
    last = error;
  }
  constexpr double rounding = 1e-6;
  for (int k = 0; k < most_up && look.largest() >= (1 - rounding) * weight; ++k)
    if (!look.at(trials, weight *= 2, how.most_steps)) return;
}

/// The weight of wider voxels, and whether it is above the first weight that they tried.
struct Before {
  double weight;
  bool upwards;
};

/// Tries weights near the one of wider voxels. The first trial is above it. The second is where the least
/// error may be: above it if these are the narrowest voxels and weights rose before, and below it otherwise.
/// Others follow, as long as there are steps, if the result is not near these trials, or if the least error
/// may be above both. There are fewer steps if narrower voxels follow. If the error still falls at the
/// largest weight, a few more steps are made in any case, because wide voxels, which smooth by themselves,
/// may have had a weight that is far too small.
void look_around(Trials& trials, const Before& before, bool is_last, Look& look) {
  const bool upwards = is_last && before.upwards;
  const int most_steps = is_last ? 100 : 80, of_second = 40, of_first = upwards ? 40 : most_steps - of_second;
  constexpr double above = 0.3, below = 1, beside = 0.25, rounding = 1e-6;  // octaves
  constexpr int most_up = 3;
  const double first = before.weight * std::exp2(above);
  if (!look.at(trials, first, of_first)) return;
  const double second = upwards ? 2 * first : before.weight * std::exp2(-below);
  if (!look.at(trials, second, of_second)) return;
  for (int up = 0; up < most_up;) {
    const auto& tried = look.curve()->trials();
    const double now = look.largest(), lowest = tried.front().weight, highest = tried.back().weight;
    const bool falls = tried.back().error < tried[tried.size() - 2].error;
    const bool goes_up = falls || now > (1 - rounding) * highest;
    const int left = most_steps - trials.steps();
    if (left < together && !falls) return;
    if (!goes_up && now >= lowest * std::exp2(beside)) return;
    if (!look.at(trials, goes_up ? 2 * highest : lowest / 2, std::max(left, together))) return;
    up += goes_up ? 1 : 0;
  }
}

/// The problem and the coarser ones. Each has its data from the one before, and the last one is the coarsest.
std::vector<Level> levels_of(Level finest, const std::vector<CoarserProblem>& coarser) {
  std::vector<Level> levels;
  levels.push_back(std::move(finest));
  if (coarser.empty()) return levels;
  WeighedData data{on_device(levels.front().b, Device::cpu()), levels.front().w.clone()};
  for (const auto& [A, regulariser, weights_times] : coarser) {
    const Level& before = levels.back();
    const Shape narrow = data.values.space().shape();
    data = in_wider_cells(data, A.range());
    const Shape wide = data.values.space().shape();
    const Cells cells{wide[1] < narrow[1] ? 2 * before.cells.rows : before.cells.rows,
                      wide[2] < narrow[2] ? 2 * before.cells.bins : before.cells.bins,
                      before.cells.finest_bins};
    levels.push_back({A, regulariser, on_device(data.values, A.domain().device()), data.weights.clone(),
                      before.weights_times * weights_times, cells, 2 * before.wider});
  }
  return levels;
}

}  // namespace

double weights_times_of(int detector_dimensions, int volume_dimensions) {
  return std::exp2(volume_dimensions - 1 - detector_dimensions);
}

WeightFound find_weight(const LinearOperator& A, Array b, const Array& x, const Regulariser& regulariser,
                        std::optional<Array> data_weights, const WeightSearch& how,
                        const std::vector<CoarserProblem>& coarser, const ObserveTrial& observe) {
  require<GeometryError>(how.share > 0 && how.share < 1 && how.together > 0, "find_weight: ", how.share,
                         " of the data, ", how.together, " together; a share between 0 and 1 is needed");
  require<GeometryError>(how.most_steps > 0, "find_weight: most_steps ", how.most_steps,
                         "; a number from 1 on is needed");
  constexpr double of_largest = 1.5;
  WeightFound found;
  Account account(A, observe);
  const Cells cells{.finest_bins = A.range().shape()[2]};
  Array w = on_host(A.range(), std::move(data_weights));
  std::vector<Level> levels = levels_of({A, regulariser, std::move(b), std::move(w), 1, cells, 1}, coarser);
  double weight = first_weight(large_weight(levels.front(), x, account), levels.back(), account);
  if (!can_be_tried(weight)) return found;
  std::shared_ptr<const ErrorCurve> curve;
  std::optional<Found> start;
  Before before{weight, true};
  for (; !levels.empty(); levels.pop_back()) {
    Look look(how, curve, found.trials);
    const bool from_zero = !start.has_value();
    Trials trials(std::move(levels.back()), how, std::exchange(start, {}), account);
    from_zero ? look_along(trials, weight, how, look) : look_around(trials, before, levels.size() == 1, look);
    weight = look.largest();
    before = {weight, from_zero || weight > before.weight};
    if (look.is_exact()) break;
    curve = look.curve();
    if (levels.size() > 1) start = trials.found();
  }
  found.weight = static_cast<float>(weight / of_largest);
  found.applications = account.done();
  return found;
}

}  // namespace tandem
