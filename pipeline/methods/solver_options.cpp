#include "solver_options.hpp"

#include <string>
#include <string_view>

#include "../../core/error.hpp"
#include "method.hpp"

namespace tandem::pipeline {

namespace {

void choose_subsets(Plan& plan) {
  if (!plan.method->subsets) return;
  const auto views = static_cast<Index>(angles_of(plan.scan).size());
  plan.options.subsets = plan.method->subsets(plan.options, views);
  require<GeometryError>(*plan.options.subsets >= 1 && *plan.options.subsets <= views, "--subsets ",
                         *plan.options.subsets, ": the scan has ", views, " views; give a number from 1 to ",
                         views);
}

bool has_rule(const MethodOptions& o) {
  return o.stop_by_discrepancy || o.stop_by_gcv || o.stop_by_ncp || o.stop_relative || o.stop_seconds ||
         o.stop_gap;
}

void choose_iterations(Plan& plan) {
  if (plan.options.iterations) return;
  if (plan.method->updates > 0 && !has_rule(plan.options)) plan.options.stop_by_ncp = true;
  plan.options.iterations = plan.method->iterations_with(plan.options.subsets.value_or(1));
}

/// Whether the solver can tell what the rule looks at.
void require_stop(const Plan& plan) {
  const MethodOptions& o = plan.options;
  const auto require_told = [&](bool asked, std::string_view rule, bool (*tells)(const Method&)) {
    if (!asked || tells(*plan.method)) return;
    std::string those;
    for (const Method& method : methods())
      if (method.iterates() && tells(method)) those += (those.empty() ? "" : ", ") + std::string(method.name);
    throw GeometryError("--stop " + std::string(rule) + " goes with " + those + ", not with " +
                        std::string(plan.method->name));
  };
  require_told(o.stop_by_gcv, "gcv", [](const Method& method) { return method.tells_its_reach(); });
  require_told(o.stop_by_ncp, "ncp", [](const Method& method) { return method.shows_residual; });
  require_told(o.stop_gap.has_value(), "gap", [](const Method& method) { return method.tells_gap; });
  require<GeometryError>(!o.tikhonov_weight || !(o.stop_by_discrepancy || o.stop_by_gcv || o.stop_by_ncp),
                         "--tikhonov-weight keeps noise down by itself, and hides it from --stop "
                         "discrepancy, gcv or ncp; give one of the two");
}

}  // namespace

void choose_solver_options(Plan& plan) {
  choose_subsets(plan);
  choose_iterations(plan);
  require_stop(plan);
}

}  // namespace tandem::pipeline
