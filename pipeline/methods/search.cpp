#include "method.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "../../core/rounding.hpp"
#include "../../solvers/weight/weight_search.hpp"
#include "../beams/row_axes.hpp"
#include "coarser.hpp"
#include "start.hpp"
#include "variation.hpp"

namespace tandem::pipeline {

namespace {

/// Looks for the weight on some slices, and makes no volume of them.
class Search {
 public:
  explicit Search(Work& work) : work_(work), start_(work) {}

  Array operator()(const Problem& problem, LineIntegrals data, Range slices) {
    const Array x0 = start_(problem, data.y, slices);
    Equations equations = equations_of(problem, std::move(data));
    if (has_row_axes(problem.scan))
      equations.weights = measured(problem.scan, problem.grid, problem.A.range());
    const Recipe& options = work_.plan.job.options;
    const Regulariser tv = variation_of(equations.A.domain(), equations.pitch, options);
    int trials = 0;
    double weight = 0;
    const auto tell = [&](const WeightTrial& trial, double applications) {
      if (trial.weight != weight) ++trials;
      weight = trial.weight;
      tell_of(trial, trials, applications, slices);
    };
    work_.tell("weight", 0, "its first trial");
    const WeightFound found =
        find_weight(equations.A, std::move(equations.y), x0, tv, std::move(equations.weights),
                    {.bounds = options.bounds()}, coarser_problems(work_.plan.flow, options, problem), tell);
    work_.outcome.searched.trials += int_of(found.trials.size());
    work_.outcome.searched.slices += slices.size();
    work_.outcome.searched.updates += found.applications * updates_of(problem);
    if (!found.trials.empty()) work_.outcome.weights.push_back(found.weight);
    return Array(problem.A.domain());
  }

 private:
  void tell_of(const WeightTrial& trial, int number, double applications, Range slices) {
    constexpr double nearly_all = 0.99;
    const double share = std::min(nearly_all, applications / usual_applications_of_search);
    std::ostringstream detail;
    detail.precision(3);
    detail << "trial " << number << ", weight " << trial.weight;
    if (trial.wider > 1) detail << ", voxels " << trial.wider << " times as wide";
    work_.tell("weight", share * slices.size(), detail.str());
  }

  Work& work_;
  Start start_;
};

bool is_open(const Recipe& options) { return !options.tv_weight; }

Computation begin_search(Work& work) {
  if (!is_open(work.plan.job.options)) return iteration(work);
  return [search = std::make_shared<Search>(work)](const Problem& problem, LineIntegrals data, Range slices) {
    return (*search)(problem, std::move(data), slices);
  };
}

/// Gives all slices one weight, the median, so that they have the same texture. If no ray meets these slices,
/// or if all are flat, the weight does not matter.
void settle(const Outcome& found, Recipe& options) {
  std::vector<double> weights = found.weights;
  if (weights.empty()) weights = {0};
  const auto middle = weights.begin() + weights.size() / 2;
  std::nth_element(weights.begin(), middle, weights.end());
  options.tv_weight = static_cast<float>(*middle);
}

}  // namespace

Method with_search(Method method) {
  method.weighs_data = true;
  method.initial = Initial::fbp;
  method.is_open = is_open;
  method.settle = settle;
  method.begin = begin_search;
  Holding searching = method.holds.front();  // with the first volume, beside what find_weight says
  searching.volumes += 2, searching.projections += 2;
  method.holds.insert(method.holds.begin(), searching);
  return method;
}

}  // namespace tandem::pipeline
