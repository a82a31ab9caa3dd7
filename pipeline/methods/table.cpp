#include <algorithm>
#include <array>
#include <string>

#include "../../core/ceil_div.hpp"
#include "../../core/names.hpp"
#include "method.hpp"

/// One line for each method. The name, with _ for -, is that of a function that returns the Method and stands
/// in a file of its own.
#define TANDEM_METHODS(METHOD) \
  METHOD(fbp)                  \
  METHOD(sirt)                 \
  METHOD(os_sirt)              \
  METHOD(sart)                 \
  METHOD(cgls)                 \
  METHOD(lsqr)                 \
  METHOD(lsmr)                 \
  METHOD(ba_gmres)             \
  METHOD(mlem)                 \
  METHOD(osem)                 \
  METHOD(mltr)                 \
  METHOD(tv)

namespace tandem::pipeline {

namespace made {
#define TANDEM_DECLARE(name) Method name();
TANDEM_METHODS(TANDEM_DECLARE)
#undef TANDEM_DECLARE
}  // namespace made

std::span<const Method> methods() {
#define TANDEM_MAKE(name) made::name(),
  static const std::array all{TANDEM_METHODS(TANDEM_MAKE)};
#undef TANDEM_MAKE
  return all;
}

const Method& method_named(std::string_view name) {
  for (const Method& method : methods())
    if (!name.empty() && name == method.name_for_cones) return method;
  return named(methods(), name, "method", &Method::name, "is not known; give one of");
}

Bounds MethodOptions::bounds() const {
  Bounds bounds = nonnegative ? above_zero : Bounds{};
  bounds.lowest = lowest.value_or(bounds.lowest);
  bounds.highest = highest.value_or(bounds.highest);
  return bounds;
}

bool Method::reads(std::string_view option) const {
  return std::find(options.begin(), options.end(), option) != options.end();
}

int Method::iterations_with(Index parts) const {
  return updates > 0 ? static_cast<int>(ceil_div<Index>(updates, parts)) : iterations;
}

namespace {

int solvers(const MethodOptions& asked) { return asked.stop_by_gcv ? 2 : 1; }  // one follows

}  // namespace

Applications Method::preparation_with(const MethodOptions& asked) const {
  return solvers(asked) * cost.preparation + (asked.stop_by_discrepancy ? cost.traces : Applications{});
}

Applications Method::step_with(const MethodOptions& asked) const { return solvers(asked) * cost.step; }

std::vector<Holding> Method::holds_with(const MethodOptions& asked) const {
  std::vector<Holding> all = holds;
  for (Holding& held : all) {
    held.volumes += cost.volumes_a_step * asked.iterations.value_or(iterations);
    if (asked.stop_by_gcv) held.volumes *= 2, held.projections = 2 * held.projections + 1;  // a follower
    if (asked.stop_gap) ++held.volumes;                                                     // see Pdhg::gaps
    if (asked.tikhonov_weight) held.volumes += held.projections;                            // see `damped`
  }
  return all;
}

std::vector<Holding> while_stepping(const SolverCost& cost) {
  return {
      {.volumes = cost.volumes, .projections = cost.projections, .projects = true, .back_projects = true}};
}

}  // namespace tandem::pipeline
