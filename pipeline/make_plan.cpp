#include <algorithm>

#include "../core/error.hpp"
#include "beams/beam.hpp"
#include "memory/budget.hpp"
#include "memory/host_memory.hpp"
#include "plan/helper.hpp"
#include "plan/route.hpp"

namespace tandem::pipeline {

namespace {

const Route& route_of(const Job& job, const Recipe& recipe) {
  return *std::ranges::find_if(routes(), [&](const Route& route) { return route.takes(job, recipe); });
}

Flow begun_flow(const Job& job, const Recipe& recipe) {
  Flow flow;
  flow.route = &route_of(job, recipe);
  flow.placement = beam_of(job.scan).on_devices;
  flow.streams = recipe.streams;
  flow.stored_bytes = recipe.stored_bytes;
  flow.devices = recipe.devices;
  flow.ranks = flow.queue = recipe.ranks;
  const bool fewest =
      flow.route->slices == Slices::as_one && (recipe.fewest_devices || !recipe.ranks.is_alone());
  if (recipe.follow || fewest) flow.devices.resize(1, Device::cpu());
  return flow;
}

/// The memory that kernels may take on the first device, bytes.
double bytes_for_kernels(const Flow& flow, const Recipe& recipe) {
  return flow.devices.front().is_cuda() ? device_budget(flow.devices, recipe)
                                        : host_budget(recipe) - static_cast<double>(held_memory());
}

}  // namespace

Plan make_plan(const io::ScanInfo& info, const Recipe& asked) {
  require<DeviceError>(!asked.devices.empty(), "recipe: no device is given");
  Plan plan{make_job(info, asked), {}, {}};
  Recipe recipe = asked;
  recipe.devices = devices_for(plan.job.scan, asked.devices);
  plan.flow = begun_flow(plan.job, recipe);
  beam_of(plan.job.scan).choose_execution(plan, recipe, [&] { return bytes_for_kernels(plan.flow, recipe); });
  plan.flow.route->choose(plan, recipe, info);
  look_at_job(plan.job, info, recipe, plan.warnings);
  beam_of(plan.job.scan).add_warnings(plan, recipe);
  return plan;
}

}  // namespace tandem::pipeline
