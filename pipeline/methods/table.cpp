#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../core/names.hpp"
#include "../../core/rounding.hpp"
#include "method.hpp"
#include "voxel_bounds.hpp"

namespace tandem::pipeline {

Method fbp_method();

/// The methods that are no solvers, one line for each, and all solvers that have a name in the program.
std::span<const Method> methods() {
  static const std::vector<Method> all = [] {
    std::vector<Method> some{fbp_method()};
    for (const SolverKind& kind : solver_kinds())
      if (!kind.name.empty()) some.push_back(method_of(kind));
    return some;
  }();
  return all;
}

const Method& method_named(std::string_view name) {
  for (const Method& method : methods())
    if (!name.empty() && name == method.name_for_cones) return method;
  return named(methods(), name, "method", &Method::name, "is not known; give one of");
}

std::string_view Job::method_name() const {
  const bool crossed = !rows_are_slices(scan) && !method->name_for_cones.empty();
  return crossed ? method->name_for_cones : method->name;
}

bool Job::filters() const { return method->filters || options.initial == Initial::fbp; }

Bounds Recipe::bounds() const {
  if (levels) return {.lowest = levels->first, .highest = levels->second};
  Bounds bounds = nonnegative ? above_zero : Bounds{};
  bounds.lowest = lowest.value_or(bounds.lowest);
  bounds.highest = highest.value_or(bounds.highest);
  return bounds;
}

int Method::iterations_with(Index parts) const {
  return kind.updates > 0 ? int_of(ceil_div<Index>(kind.updates, parts)) : kind.iterations;
}

namespace {

int solvers(const Recipe& asked) { return asked.stop_by_gcv ? 2 : 1; }  // one follows

}  // namespace

Applications Method::preparation_with(const Recipe& asked) const {
  return solvers(asked) * kind.cost.preparation +
         (asked.stop_by_discrepancy || asked.stop_by_stagnation ? kind.cost.traces : Applications{});
}

Applications Method::step_with(const Recipe& asked) const { return solvers(asked) * kind.cost.step; }

std::vector<Holding> Method::holds_with(const Recipe& asked) const {
  std::vector<Holding> all = holds;
  if (is_open && !is_open(asked)) all.erase(all.begin());  // nothing is searched
  for (Holding& held : all) {
    held.volumes += kind.cost.volumes_a_step * asked.iterations.value_or(kind.iterations);
    if (have_ends(asked.bounds()) || asked.bounds_vary()) held.volumes += kind.cost.volumes_for_bounds;
    if (asked.levels) held.volumes += kind.cost.volumes_for_levels;
    if (const int bounds = volumes_of_bounds(*this, asked)) held.volumes += bounds + (asked.stop_gap ? 2 : 0);
    if (asked.stop_by_gcv) held.volumes *= 2, held.projections = 2 * held.projections + 1;  // a follower
    if (asked.stop_gap) held.volumes += 2;                                                  // see Pdhg::gaps
    if (asked.tikhonov_weight) held.volumes += held.projections;                            // see `damped`
  }
  return all;
}

}  // namespace tandem::pipeline
