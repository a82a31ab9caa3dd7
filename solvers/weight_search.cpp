#include "weight_search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "../operators/algebra.hpp"
#include "../operators/coverage.hpp"
#include "../operators/random.hpp"
#include "../operators/vector.hpp"
#include "pdhg.hpp"

namespace tandem {

namespace {

/// Whether floats can hold a weight that trials halve. Floats cannot hold the squares of differences below
/// about 1e-23, which count as flat, nor of differences above 1e19, whose weight is zero.
bool can_be_tried(double weight) { return weight > 1e-30 && weight < 1e34; }

double squares(const Array& x, Stream& stream) { return total(dot(x, x, stream)); }

/// The mean of the diagonal of At w A, over voxels that are seen, by random signs.
double mean_diagonal(const LinearOperator& A, const std::optional<Array>& w, const Array& seen,
                     Stream& stream) {
  Array signs(A.domain(), stream);
  fill_with_signs(signs, 1, stream);
  multiply(seen, signs, stream);
  const Array rays = A * signs;
  Array weighted = rays.clone();
  if (w) multiply(*w, weighted, stream);
  return total(dot(rays, weighted, stream)) / std::max(squares(signs, stream), 1.0);
}

/// A weight with which noise d is flat, if the diagonal of At w A is h. No number if d or g(Kd) is zero.
double large_weight(const Regulariser& regulariser, const Array& d, double h, Stream& stream) {
  constexpr double outweighs = 16;
  return outweighs * h * squares(d, stream) / total(regulariser.value(regulariser.K * d, stream));
}

/// The weight between trials, each half of the one before, where the error is least.
double weight_of_least_error(const std::vector<WeightTrial>& trials) {
  const auto of = [&](std::size_t k) { return std::pow(trials[k].error, 2); };
  const auto best = std::ranges::min_element(trials, {}, &WeightTrial::error) - trials.begin();
  const auto k = static_cast<std::size_t>(best);
  if (k == 0 || k + 1 == trials.size()) return trials[k].weight;
  const double fall = of(k - 1) - of(k), rise = of(k + 1) - of(k);
  return trials[k].weight * std::exp2(0.5 * (rise - fall) / (rise + fall));
}

}  // namespace

WeightFound find_weight(const LinearOperator& A, Array b, OfHalves halves, const Regulariser& regulariser,
                        std::optional<Array> data_weights, const Bounds& bounds,
                        const ObserveTrial& observe) {
  constexpr int most_trials = 20, first_steps = 20, steps = 10;
  constexpr double usual = 0.1;           // a weight near the best one, over the first one
  constexpr double of_noise_alone = 0.3;  // the same where trials tell nothing
  constexpr auto half = static_cast<float>(1 / std::numbers::sqrt2);
  Stream& stream = default_stream(A.domain().device());
  WeightFound found;
  const Array seen = Coverage(A).above(0.8);
  const double voxels = std::max(squares(seen, stream), 1.0);
  const double h = mean_diagonal(A, data_weights, seen, stream);
  Array& other = halves.second;
  Array difference(A.domain(), stream);
  const auto subtract_other = [&](const Array& x, float times) {
    axpby(1, x, 0, difference, stream);
    axpby(-times, other, times, difference, stream);
    multiply(seen, difference, stream);
  };
  subtract_other(halves.first, half);
  double weight = large_weight(regulariser, difference, h, stream);
  if (!can_be_tried(weight)) return found;
  if (halves.lack_a_part) {
    found.weight = static_cast<float>(of_noise_alone * std::numbers::sqrt2 * weight);
    return found;
  }
  Pdhg solver(A, std::move(b), std::move(halves.first), regulariser, {static_cast<float>(usual * weight)},
              std::move(data_weights), {.bounds = bounds});
  found.applications = 2 + Pdhg::cost.preparation.together();
  const auto make_steps = [&, active = ActiveBlocks(A.domain().block_count(), true)](int count) {
    for (int step = 0; step < count; ++step) solver.step(active);
    found.applications += count * Pdhg::cost.step.together();
  };
  make_steps(first_steps);
  if (halves.aliases) axpby(-1, halves.aliases(solver.solution()), 1, other, stream);
  std::vector<WeightTrial>& trials = found.trials;
  const auto rises = [&] { return trials.size() > 1 && trials.back().error > trials.end()[-2].error; };
  for (; std::ssize(trials) < most_trials && can_be_tried(weight) && !rises(); weight /= 2) {
    solver.weigh({static_cast<float>(weight)});
    make_steps(steps);
    subtract_other(solver.solution(), 1);
    trials.push_back({weight * std::numbers::sqrt2, std::sqrt(squares(difference, stream) / voxels)});
    if (observe) observe(trials.back(), found.applications);
  }
  found.weight = static_cast<float>(weight_of_least_error(trials));
  return found;
}

}  // namespace tandem
