#include "placement.hpp"

#include <algorithm>

#include "beams/beam.hpp"
#include "memory.hpp"
#include "methods/method.hpp"

namespace tandem::pipeline {

namespace {

/// Those with at least half of the free memory that one of them has: all get the same share of the work.
std::vector<Device> roomy(std::vector<Device> devices) {
  std::size_t most = 0;
  for (const Device device : devices) most = std::max(most, free_memory(device));
  std::erase_if(devices, [&](Device device) { return 2 * free_memory(device) < most; });
  return devices;
}

/// Whether these devices hold the vectors, and then they do. Several share the views.
bool settles_on(const std::vector<Device>& devices, Plan& plan, const Recipe& recipe) {
  const bool shares_views = devices.size() > 1;
  if (shares_views && plan.method->subsets) return false;  // which are of views, too
  if (devices.size() > angles_of(plan.scan).size()) return false;
  plan.devices = devices;
  plan.workers.front().device = Device::team(devices);
  return plan.home() == Device::cpu() ||
         device_bytes(plan, fewest_slices(plan)) <= device_budget(plan, recipe);
}

}  // namespace

Index fewest_slices(const Plan& plan) {
  const bool at_once = !plan.by_views() || detector_of(plan.scan).rows == 1;
  return !rows_are_slices(plan.scan) && at_once ? plan.grid.size[2] : 1;
}

void choose_placement(Plan& plan, const Recipe& recipe) {
  const auto require_tiles = beam_of(plan.scan).require_tiles;
  if (!require_tiles || plan.by_views() || settles_on(plan.devices, plan, recipe)) return;
  const std::vector<Device> all = recipe.fewest_devices ? roomy(recipe.devices) : recipe.devices;
  if (all != plan.devices && settles_on(all, plan, recipe)) return;
  plan.tiled = true;
  plan.workers.front().device = Device::cpu();
  plan.devices = all;
  plan.device_bytes = static_cast<std::size_t>(device_budget(plan, recipe));
  require_tiles(plan);
}

std::string Plan::vectors() const {
  if (tiled) return "on the host, in tiles";
  if (home().members() == 1) return "on one device";
  return "split over " + std::to_string(home().members()) + (home().is_cuda() ? " GPUs" : " devices");
}

}  // namespace tandem::pipeline
