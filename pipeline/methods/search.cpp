#include "method.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "../../core/rounding.hpp"
#include "../../core/units.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/weight_search.hpp"
#include "../beams/ray_gap.hpp"
#include "../beams/row_axes.hpp"
#include "start.hpp"
#include "variation.hpp"
#include "voxel_bounds.hpp"

namespace tandem::pipeline {

namespace {

/// What the views of the first half are multiplied by, and what the others are.
struct OfEachHalf {
  float first, others;
};

/// The filter without a window, which would blur.
Filter sharp(Filter how) {
  how.window = Filter{}.window, how.cutoff = Filter{}.cutoff;
  return how;
}

/// Whether the views lack so much of the turn that their halves cannot judge each other.
bool lacks_a_part(const Scan& scan) {
  constexpr double much = 30;  // degrees
  const RayGap gap = widest_ray_gap(scan);
  return gap.is_hole && in_degrees(gap.width) > much;
}

/// Looks for the weight on some slices, and makes no volume of them.
class Search {
 public:
  explicit Search(Work& work)
      : work_(work), fbp_(work, sharp(work.plan.job.options.fbp_filter)), bounds_(work) {}

  Array operator()(const Problem& problem, LineIntegrals data, Range slices) {
    OfHalves halves = halves_of(problem, data.y, slices);
    Equations half = first_half(problem, equations_of(problem, std::move(data)));
    clear_unseen(half.A, half.y, halves.first);
    Recipe options = work_.plan.job.options;
    if (halves.lack_a_part) options.tv_direction.reset();  // with which the weight of noise is another
    const Regulariser tv = variation_of(half.A.domain(), half.pitch, options);
    int trials = 0;
    const auto tell = [&](const WeightTrial& trial, double applications) {
      tell_of(trial, ++trials, applications, slices);
    };
    work_.tell("weight", 0, "its first trial");
    const WeightFound found = find_weight(half.A, std::move(half.y), std::move(halves), tv,
                                          std::move(half.weights), bounds_(problem, slices), tell);
    work_.outcome.searched.trials += int_of(found.trials.size());
    work_.outcome.searched.slices += slices.size();
    work_.outcome.searched.updates += found.applications * updates_of(problem) / 2;
    if (found.weight > 0) work_.outcome.weights.push_back(found.weight);
    return Array(problem.A.domain());
  }

 private:
  OfHalves halves_of(const Problem& problem, const Array& y, Range slices) {
    Stream& stream = default_stream(work_.device());
    Array second = fbp(problem, times_halves(problem, y.clone(), {0, 2}), slices),
          first = fbp(problem, times_halves(problem, y.clone(), {2, 0}), slices);
    if (lacks_a_part(problem.scan)) return {std::move(first), std::move(second), {}, true};
    if (has_row_axes(problem.scan)) return {std::move(first), std::move(second)};  // A has other rows
    const auto aliases = [this, &problem, &stream, slices](const Array& x) {
      Array projections(problem.A.range(), stream);
      problem.A.apply(1, x, 0, projections, stream);
      return fbp(problem, times_halves(problem, std::move(projections), {-1, 1}), slices);
    };
    return {std::move(first), std::move(second), aliases};
  }

  Array fbp(const Problem& problem, Array y, Range slices) {
    return fbp_.back_projected(problem, fbp_.filtered(problem, std::move(y)), slices);
  }

  /// The data, with each view times the number of its half.
  Array times_halves(const Problem& problem, Array y, OfEachHalf times) {
    Array factors(y.space().on(Device::cpu()));
    const auto [views, rows, bins] = factors.space().shape();
    std::fill_n(factors.data(), factors.size(), times.first);
    for (const Index view : own_views_of(problem, 1))
      std::fill_n(factors.data() + view * rows * bins, rows * bins, times.others);
    multiply(on_device(std::move(factors), work_.device()), y, default_stream(work_.device()));
    return y;
  }

  /// The views of a half that this process has, counted from its first one.
  static std::vector<Index> own_views_of(const Problem& problem, std::size_t half) {
    const std::vector<Index> views = view_subsets(problem.scan, 2)[half];
    const Range own = places_within(views, problem.own_views);
    std::vector<Index> mine(views.begin() + own.first, views.begin() + own.last);
    for (Index& view : mine) view -= problem.own_views.first;
    return mine;
  }

  static Equations first_half(const Problem& problem, Equations all) {
    LinearOperator A = all.in_subsets(2)[0];
    const auto first_of = [&](const Array& data) {
      const Array from = on_device(data, Device::cpu());
      Array to(A.range().on(Device::cpu()));
      const auto [views, rows, bins] = from.space().shape();
      float* next = to.data();
      for (const Index view : own_views_of(problem, 0))
        next = std::copy_n(from.data() + view * rows * bins, rows * bins, next);
      return on_device(std::move(to), A.range().device());
    };
    Array y = first_of(all.y);
    std::optional<Array> weights;
    if (all.weights) weights = first_of(*all.weights);
    return {std::move(A), std::move(y), std::move(weights), all.pitch};
  }

  void tell_of(const WeightTrial& trial, int number, double applications, Range slices) {
    constexpr double nearly_all = 0.99;
    const double share = std::min(nearly_all, applications / usual_applications_of_search);
    std::ostringstream detail;
    detail.precision(3);
    detail << "trial " << number << ", weight " << trial.weight;
    work_.tell("weight", share * slices.size(), detail.str());
  }

  Work& work_;
  FilteredBackProjection fbp_;
  VoxelBounds bounds_;
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
  searching.volumes += 4;
  method.holds.insert(method.holds.begin(), searching);
  return method;
}

}  // namespace tandem::pipeline
