#include "placement.hpp"

#include <algorithm>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../operators/distributed/rank_projector.hpp"
#include "../beams/beam.hpp"
#include "../methods/method.hpp"
#include "memory.hpp"

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

/// A method that is no solver has no vectors to share.
void require_for_ranks(const Plan& plan) {
  require<GeometryError>(plan.method->iterates(), "ranks: ", plan.method_name(),
                         " takes all slices of a cone beam at once, "
                         "which one process does; start one, or give --reconstruction-algorithm fdk");
}

}  // namespace

Index fewest_slices(const Plan& plan) {
  const bool at_once = !plan.by_views() || detector_of(plan.scan).rows == 1;
  return !rows_are_slices(plan.scan) && at_once ? plan.grid.size[2] : 1;
}

void choose_placement(Plan& plan, const Recipe& recipe) {
  if (plan.over_ranks()) return;  // each has one device, which holds its portions
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

/// A part of a strip is large enough for kernels and links, and small beside the vectors of a large volume.
void choose_portions(Plan& plan) {
  if (!plan.over_ranks()) return;
  require_for_ranks(plan);
  constexpr Index bytes_of_part = 256 << 20, step = 8, blocks_a_rank = 4;
  const auto [nx, ny, nz] = plan.solved.size;
  const Index longest = portion_of_rank(ny, 0, plan.ranks.size()).size();
  const Index lines = std::clamp<Index>(bytes_of_part / (4 * nx * nz), 1, longest);
  plan.lines_at_once = lines > step && lines < longest ? lines - lines % step : lines;
  const Index rows = detector_of(plan.scan).rows, fair = ceil_div(rows, blocks_a_rank * plan.ranks.size());
  plan.rows_prepared = std::min(rows, std::max(fair, 2 * plan.margin.beside));
}

bool Plan::over_ranks() const { return !ranks.is_alone() && !rows_are_slices(scan) && !by_views(); }

Range Plan::views_of_rank(int rank) const {
  const auto all = static_cast<Index>(angles_of(scan).size());
  return over_ranks() ? portion_of_rank(all, rank, ranks.size()) : Range{0, all};
}

std::string Plan::vectors() const {
  if (over_ranks()) return "split over " + std::to_string(ranks.size()) + " ranks";
  if (tiled) return "on the host, in tiles";
  if (home().members() == 1) return "on one device";
  return "split over " + std::to_string(home().members()) + (home().is_cuda() ? " GPUs" : " devices");
}

}  // namespace tandem::pipeline
