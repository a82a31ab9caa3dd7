#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "../core/process_memory.hpp"
#include "../core/spelled.hpp"
#include "../operators/interpolation.hpp"
#include "beams/beam.hpp"
#include "memory/budget.hpp"
#include "memory/room.hpp"
#include "methods/method.hpp"
#include "plan/chunks_due.hpp"
#include "plan/gpu_gaps.hpp"
#include "plan/make_job.hpp"
#include "plan/route.hpp"
#include "plan/warn.hpp"

namespace tandem::pipeline {

namespace {

const Route& route_for(const Job& job, const Recipe& recipe) {
  return *std::ranges::find_if(routes(), [&](const Route& route) { return route.takes(job, recipe); });
}

Flow begun_flow(const Job& job, const Recipe& recipe) {
  Flow flow;
  flow.sizes = route_for(job, recipe).sizes;
  flow.pair.placement = beam_of(job.scan).on_devices;
  flow.active_devices = recipe.devices;
  flow.shared.ranks = flow.shared.queue = recipe.ranks;
  const bool fewest = route_of(flow).one_problem && (recipe.fewest_devices || !recipe.ranks.is_alone());
  if (recipe.follow || fewest) flow.active_devices.resize(1, Device::cpu());
  return flow;
}

/// The memory that kernels may take on the first device, bytes.
double bytes_for_kernels(const Flow& flow, const Recipe& recipe) {
  return flow.active_devices.front().is_cuda() ? device_budget(flow.active_devices, recipe)
                                               : host_budget(recipe) - held_memory();
}

/// Nobody need know which devices have kernels for what.
std::vector<Device> able_devices(Plan& plan, const Recipe& asked) {
  const std::vector<Device>& all = asked.devices;
  const auto gpus = std::ranges::count(all, true, &Device::is_cuda);
  require<GeometryError>(gpus == 0 || gpus == std::ssize(all),
                         "devices: the CPU beside GPUs; give the CPU alone, or GPUs alone");
  const std::string lack = lacking_on_gpus(plan.job, asked);
  if (lack.empty() || !all.front().is_cuda() || !asked.devices_are_open) return all;
  warn(plan.warnings, "GPUs have no ", lack, "; the CPU computes");
  return {Device::cpu()};
}

Plan planned(Job job, const io::ScanInfo& info, const Recipe& asked) {
  Plan plan{std::move(job), {}, {}};
  Recipe recipe = asked;
  recipe.devices = able_devices(plan, asked);
  plan.flow = begun_flow(plan.job, recipe);
  beam_of(plan.job.scan).choose_execution(plan, recipe, [&] { return bytes_for_kernels(plan.flow, recipe); });
  route_of(plan.flow).choose(plan, recipe, info);
  look_at_job(plan.job, info, recipe, plan.warnings);
  beam_of(plan.job.scan).add_warnings(plan, recipe);
  return plan;
}

/// The model that is taken where no faster one is.
Model usual_model_of(const Scan& scan) {
  return std::visit([](const auto& s) { return usual_model(s); }, scan);
}

/// Requires a model that the kind of beam has, if one is asked for.
void require_model(const Scan& scan, const std::optional<Model>& asked) {
  const std::vector<Model>& models = beam_of(scan).models;
  const bool has = !asked || std::ranges::find(models, *asked) != models.end();
  require<GeometryError>(has, spelled("model"), " ", name_of(asked.value_or(models.front())), ": a ",
                         kind_of(scan), " beam does not have it; it has ",
                         joined(models, " and ", [](Model one) { return std::string(name_of(one)); }));
}

/// Whether memory makes slabs so small that most rows are worked on more than once.
bool repeats_rows(const Plan& plan) {
  double rows = 0;
  for (const Range slab : chunks_due(plan, {})) rows += rows_of(plan, slab).size();
  return rows > 1.5 * detector_of(plan.job.scan).rows;
}

/// With a faster model, if memory is large enough for it.
std::optional<Plan> planned_by(Model model, const io::ScanInfo& info, Recipe recipe) {
  recipe.model = model;
  try {
    Plan plan = planned(make_job(info, recipe), info, recipe);
    if (repeats_rows(plan)) return std::nullopt;
    plan.flow.pair.reason = "the faster one for these voxels and views; the other one is " +
                            spelled("model") + " " + std::string(name_of(usual_model_of(plan.job.scan)));
    return plan;
  } catch (const DeviceError&) {
    return std::nullopt;
  }
}

/// Methods in the place of a solver, the likest first: those that read most of its options, and among them
/// those with the fewest steps. No solver that clamps data takes the place of one that does not, and filters
/// come last.
std::vector<const Method*> methods_instead(const Method& refused) {
  std::vector<const Method*> others;
  for (const Method& one : methods())
    if (one.name != refused.name && (!one.kind.only_positive || refused.kind.only_positive))
      others.push_back(&one);
  std::ranges::stable_sort(others, {}, [&](const Method* one) {
    const auto alike = std::ranges::count_if(refused.kind.options,
                                             [&](std::string_view option) { return one->reads(option); });
    return std::tuple(!one->iterates(), -alike, one->iterations_with(1));
  });
  return others;
}

/// The rest of the message that memory is too small for a solver: another method of the same scan and grid
/// that fits, as its plan tells. Rules that only some methods know are left out.
std::string what_fits(const io::ScanInfo& info, Recipe recipe) {
  const Method& refused = method_named(recipe.method);
  if (!refused.iterates()) return {};
  recipe.stop_gap.reset(), recipe.stop_settled.reset();
  if (!recipe.stop_by_discrepancy) recipe.photons.reset();
  for (const Method* one : methods_instead(refused)) try {
      recipe.method = one->name;
      const Plan plan = planned(make_job(info, recipe), info, recipe);
      return ", or " + spelled("reconstruction-algorithm") + " " + std::string(plan.job.method_name()) +
             ", which fits";
    } catch (const Error&) {
      continue;
    }
  return ", or fbp or fdk, which need no more than the part that is written";
}

}  // namespace

Plan make_plan(const io::ScanInfo& info, const Recipe& asked) {
  require<DeviceError>(!asked.devices.empty(), "recipe: no device is given");
  Job job = make_job(info, asked);
  require_model(job.scan, asked.model);
  std::optional<Model> faster;
  if (const auto its = beam_of(job.scan).faster_model; its && !asked.model) faster = its(job, asked);
  if (faster)
    if (std::optional<Plan> plan = planned_by(*faster, info, asked)) return *std::move(plan);
  Plan plan;
  try {
    plan = planned(std::move(job), info, asked);
  } catch (const DoesNotFit& fault) {
    throw DeviceError(fault.what() + what_fits(info, asked));
  }
  if (faster)
    warn(plan.warnings, "memory is too small for the ", name_of(*faster),
         " model: ", name_of(plan.flow.pair.model),
         " is taken, which is slower here and gives other last digits; give more ",
         "memory, or " + spelled("model") + " ", name_of(plan.flow.pair.model),
         " wherever numbers are compared");
  return plan;
}

}  // namespace tandem::pipeline
