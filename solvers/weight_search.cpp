#include "weight_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "../core/ceil_div.hpp"
#include "../core/comm.hpp"
#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../core/random.hpp"
#include "../operators/algebra.hpp"
#include "../operators/vector.hpp"
#include "pdhg.hpp"
#include "run.hpp"

namespace tandem {

namespace {

using Observe = std::function<void(const WeightTrial&)>;

double sum(const std::vector<double>& of_blocks) {
  return std::accumulate(of_blocks.begin(), of_blocks.end(), 0.0);
}

/// Data are held out in small patches of each view, since one alone would be too easy to predict from its
/// neighbours. Where rows are blocks of their own, a patch is of one row.
struct HeldOut {
  Array weights;      ///< of the data that remain; 0 for the others
  Array only_others;  ///< sqrt(w) of the others; 0 for those that remain

  HeldOut(Array w, const WeightSearch& how) : weights(std::move(w)), only_others(weights.space()) {
    const Random random(how.seed);
    const Index first = weights.space().first_of_portion();
    parallel_for(weights.space().shape()[0],
                 [&](Index view) { split(view, random.at(static_cast<std::uint64_t>(first + view)), how); });
  }

 private:
  void split(Index view, const Random& random, const WeightSearch& how) {
    const Image<float> remain = image(VectorView(weights)), others = image(VectorView(only_others));
    const Index rows_together = weights.space().block_count() == 1 ? how.together : 1;
    const Index across = ceil_div(remain.n2, how.together);
    for (Index row = 0; row < remain.n1; ++row)
      for (Index bin = 0; bin < remain.n2; ++bin) {
        const Index patch = row / rows_together * across + bin / how.together;
        const bool out = random.at(static_cast<std::uint64_t>(patch)).uniform() < how.share;
        float& weight = remain(view, row, bin);
        others(view, row, bin) = out ? std::sqrt(weight) : 0;
        if (out) weight = 0;
      }
  }
};

struct Mean {
  double value = 0, standard_error = 0;
};

/// factor |misfit| where the factor is not zero. Of many data, those of all ranks, it takes each 2nd, or 3rd,
/// ...
std::vector<float> some_errors(const Array& factors, const Array& misfit) {
  constexpr Index enough = 1 << 24;
  const Space& space = factors.space();
  const auto [views, rows, bins] = space.shape();
  const Index step = 1 + space.whole().size() / enough, before = space.first_of_portion() * rows * bins;
  std::vector<float> errors;
  for (Index i = (step - before % step) % step; i < factors.size(); i += step)
    if (factors.data()[i] > 0) errors.push_back(factors.data()[i] * std::abs(misfit.data()[i]));
  return errors;
}

/// Of the smallest three quarters.
Mean trimmed_mean(std::vector<float> errors) {
  constexpr double kept = 0.75;
  const auto last = errors.begin() + static_cast<std::ptrdiff_t>(kept * static_cast<double>(errors.size()));
  if (last == errors.begin()) return {};
  std::nth_element(errors.begin(), last, errors.end());
  const auto count = static_cast<double>(last - errors.begin());
  const double mean = std::accumulate(errors.begin(), last, 0.0) / count;
  const double squares = std::inner_product(errors.begin(), last, errors.begin(), 0.0);
  return {mean, std::sqrt(std::max(squares / count - mean * mean, 0.0) / count)};
}

Mean trimmed_mean(const Array& factors, const Array& misfit) {
  std::vector<float> own = some_errors(factors, misfit);
  if (!factors.space().is_portion()) return trimmed_mean(std::move(own));
  const Comm ranks = Comm::world();
  const Mean of_first = trimmed_mean(ranks.gather(own));  // which has all; of the others it is zero
  std::array both{of_first.value, of_first.standard_error};
  ranks.all_reduce(both);
  return {both[0], both[1]};
}

/// The weights on the host; ones if there are none.
Array on_host(const Space& space, std::optional<Array> weights) {
  if (weights) return on_device(std::move(*weights), Device::cpu());
  Array ones(space.on(Device::cpu()));
  fill(ones, 1, default_stream(Device::cpu()));
  return ones;
}

const WeightTrial& best_of(const std::vector<WeightTrial>& trials) {
  return *std::ranges::min_element(trials, {}, &WeightTrial::error);
}

/// The largest weight among those whose errors cannot be told from the least one.
double chosen(const std::vector<WeightTrial>& trials, double settled) {
  const WeightTrial& best = best_of(trials);
  const double most = best.error + std::max(best.uncertainty, settled * best.error);
  double weight = 0;
  for (const WeightTrial& trial : trials)
    if (trial.error <= most) weight = std::max(weight, trial.weight);
  return weight;
}

/// A weight whose solution is too smooth: the regulariser then outweighs the data where both are those of a
/// first volume. Infinite for a flat one, which is as smooth as can be.
double large_weight(const LinearOperator& A, const Array& b, const Array& x, const Regulariser& regulariser,
                    const std::optional<Array>& data_weights) {
  constexpr double outweighs = 4;
  Stream& stream = default_stream(A.domain().device());
  Array misfit = b.clone();
  A.apply(-1, x, 1, misfit, stream);
  Array weighted = misfit.clone();
  if (data_weights) multiply(*data_weights, weighted, stream);
  const double squares = sum(dot(misfit, weighted, stream));
  const double rough = sum(regulariser.value(regulariser.K * x, stream));
  if (!(rough > 0)) return std::numeric_limits<double>::infinity();
  return squares > 0 ? outweighs * 0.5 * squares / rough : 1;
}

/// `large_weight` of the first volume. Where that one is far from the data, as FBP is if views are missing,
/// its weight would be so large that the steps of a trial come to no end: a few steps without a regulariser
/// tell better.
double first_weight(const LinearOperator& A, const Array& b, const Array& x, const Regulariser& regulariser,
                    const std::optional<Array>& data_weights) {
  constexpr int steps = 20;
  constexpr double at_most = 8;
  std::optional<Array> weights;
  if (data_weights) weights = data_weights->clone();
  Pdhg closer(A, b.clone(), zeros(A.domain(), default_stream(A.domain().device())), regulariser, {0},
              std::move(weights));
  run(closer, max_iterations(steps));
  const double weight = large_weight(A, b, x, regulariser, data_weights);
  return std::min(weight, at_most * large_weight(A, b, closer.solution(), regulariser, data_weights));
}

/// One solver that goes from weight to weight. It begins at zero, since a first volume may know the data that
/// are held out.
class Search {
 public:
  Search(const LinearOperator& A, Array b, const Regulariser& regulariser, HeldOut data,
         const WeightSearch& how)
      : how_(how),
        active_(static_cast<std::size_t>(A.domain().block_count()), true),
        only_others_(std::move(data.only_others)),
        solver_(A, std::move(b), zeros(A.domain(), default_stream(A.domain().device())), regulariser, {0},
                on_device(std::move(data.weights), A.domain().device()), {.bounds = how.bounds}) {}

  /// Makes steps until the error settles.
  WeightTrial trial(double weight) {
    constexpr int together = 20;
    solver_.weigh({static_cast<float>(weight)});
    Mean error;
    double before = 0;
    int made = 0;
    do {
      for (int step = 0; step < together; ++step) solver_.step(active_);
      before = std::exchange(error, error_now()).value;
      made += together;
    } while (made < how_.most_steps && std::abs(error.value - before) > how_.settled * error.value);
    return {weight, error.value, error.standard_error};
  }

 private:
  Mean error_now() {
    const Array& misfit = solver_.residual();
    if (misfit.space().device() == Device::cpu()) return trimmed_mean(only_others_, misfit);
    return trimmed_mean(only_others_, on_device(misfit.clone(), Device::cpu()));
  }

  WeightSearch how_;
  ActiveBlocks active_;
  Array only_others_;
  Pdhg solver_;
};

/// Halves the weight until two errors, one after the other, are clearly above the least one.
void descend(Search& search, double weight, std::vector<WeightTrial>& trials, const Observe& observe) {
  constexpr int most = 20;
  constexpr double clearly = 1.03;
  for (int k = 0, above = 0; k < most && above < 2; ++k, weight /= 2) {
    trials.push_back(search.trial(weight));
    observe(trials.back());
    const double least = best_of(trials).error;
    if (!(least > 0)) return;
    above = trials.back().error > clearly * least ? above + 1 : 0;
  }
}

/// Doubles it while that makes no difference.
void ascend(Search& search, double settled, std::vector<WeightTrial>& trials, const Observe& observe) {
  constexpr int most = 10;
  for (int k = 0; k < most && chosen(trials, settled) == trials.front().weight; ++k) {
    trials.insert(trials.begin(), search.trial(2 * trials.front().weight));
    observe(trials.front());
  }
}

}  // namespace

WeightFound find_weight(const LinearOperator& A, Array b, const Array& x, const Regulariser& regulariser,
                        std::optional<Array> data_weights, const WeightSearch& how,
                        const std::function<void(const WeightTrial&)>& observe) {
  require<GeometryError>(how.share > 0 && how.share < 1 && how.together > 0, "find_weight: ", how.share,
                         " of the data, ", how.together, " together; a share between 0 and 1 is needed");
  const double weight = first_weight(A, b, x, regulariser, data_weights);
  if (!std::isfinite(weight)) return {};
  Search search(A, std::move(b), regulariser, HeldOut(on_host(A.range(), std::move(data_weights)), how), how);
  WeightFound found;
  const Observe tell = [&](const WeightTrial& trial) {
    if (observe) observe(trial);
  };
  descend(search, weight, found.trials, tell);
  ascend(search, how.settled, found.trials, tell);
  found.weight = static_cast<float>(chosen(found.trials, how.settled));
  return found;
}

}  // namespace tandem
