#include <algorithm>
#include <utility>

#include "../../solvers/pdhg.hpp"
#include "../../solvers/weight_search.hpp"
#include "../row_axes.hpp"
#include "iteration.hpp"
#include "method.hpp"
#include "start.hpp"
#include "variation.hpp"

namespace tandem::pipeline {

namespace {

AnySolver solver(Equations equations, Array x0, const MethodOptions& options) {
  Regulariser tv = variation_of(equations, options);
  return AnySolver(Pdhg(std::move(equations.A), std::move(equations.y), std::move(x0), std::move(tv),
                        {options.tv_weight.value_or(0)}, std::move(equations.weights),
                        {.bounds = options.bounds()}));
}

/// Looks for the weight on some slices, and makes no volume of them.
class Search final : public Computation {
 public:
  explicit Search(Work& work) : work_(work), start_(work) {}

  Array volume(const Problem& problem, LineIntegrals data, Range slices) override {
    const Array x0 = start_(problem, data.y, slices);
    Equations equations = equations_of(problem, std::move(data));
    const Regulariser tv = variation_of(equations, work_.plan.options);
    int trials = 0;
    const auto tell = [&](const WeightTrial& trial) {
      work_.tell("weight", 0,
                 "trial " + std::to_string(++trials) + ", weight " + std::to_string(trial.weight));
    };
    const WeightFound found =
        find_weight(equations.A, std::move(equations.y), x0, tv, std::move(equations.weights),
                    {.bounds = work_.plan.options.bounds()}, tell);
    if (!found.trials.empty()) work_.outcome.weights.push_back(found.weight);
    return Array(problem.A.domain());
  }

 private:
  Work& work_;
  Start start_;
};

bool is_open(const MethodOptions& options) { return !options.tv_weight; }

std::unique_ptr<Computation> begin(Work& work) {
  if (is_open(work.plan.options)) return std::make_unique<Search>(work);
  return iteration(work);
}

/// All slices get one weight, the median, so that they have one texture. Where no ray meets any, and where
/// all are flat, it is of no account.
void settle(const Outcome& found, MethodOptions& options) {
  std::vector<double> weights = found.weights;
  if (weights.empty()) weights = {0};
  const auto middle = weights.begin() + static_cast<std::ptrdiff_t>(weights.size() / 2);
  std::nth_element(weights.begin(), middle, weights.end());
  options.tv_weight = static_cast<float>(*middle);
}

}  // namespace

namespace made {

Method tv() {
  return {.name = "tv",
          .help = "least squares weighted by counts, with total variation; for low doses and few views",
          .options = {"--tv-weight", "--tv-huber", "--nonnegative", "--lowest", "--highest"},
          .weighs_data = true,
          .initial = Initial::fbp,
          .iterations = 100,
          .holds = {{.volumes = Pdhg::cost.volumes,
                     .projections = Pdhg::cost.projections + 2,  // while the weight is looked for
                     .projects = true,
                     .back_projects = true}},
          .cost = Pdhg::cost,
          .lists_state = ListsItsState<Pdhg>,
          .solver = solver,
          .begin = begin,
          .is_open = is_open,
          .settle = settle,
          .conclude = conclude_iterations,
          .tells_gap = TellsItsGap<Pdhg>};
}

}  // namespace made

}  // namespace tandem::pipeline
