#include <algorithm>

#include "../../core/host_memory.hpp"
#include "../../core/rounding.hpp"
#include "../beams/beam.hpp"
#include "../beams/placement.hpp"
#include "../memory/budget.hpp"
#include "../memory/room.hpp"
#include "../methods/method.hpp"
#include "../methods/vector_bytes.hpp"
#include "../plan/grids.hpp"
#include "../plan/make_problem.hpp"
#include "../stations/landing.hpp"
#include "../stations/prepare.hpp"
#include "routes.hpp"

namespace tandem::pipeline {

namespace {

bool takes_whole(const Job&, const Recipe&) { return true; }

/// The devices with at least half of the free memory of the one that has most, because all get the same share
/// of the work.
std::vector<Device> roomy(std::vector<Device> devices) {
  std::size_t most = 0;
  for (const Device device : devices) most = std::max(most, free_memory(device));
  std::erase_if(devices, [&](Device device) { return 2 * free_memory(device) < most; });
  return devices;
}

/// Gives the flow these devices, which share the views, and returns whether the vectors fit there.
bool settles_on(const std::vector<Device>& devices, Plan& plan, const Recipe& recipe) {
  const bool shares_views = devices.size() > 1;
  if (shares_views && plan.job.method->subsets) return false;  // subsets share the views too
  if (std::ssize(devices) > views_of(plan.job.scan)) return false;
  plan.flow.active_devices = devices;
  plan.flow.workers.front().device = Device::team(devices);
  return plan.flow.home() == Device::cpu() ||
         device_bytes(plan, plan.job.grid.size[2]) <= device_budget(plan.flow.active_devices, recipe);
}

/// Places vectors on one device or on several. If they do not fit there, they lie on the host, and devices
/// get tiles. @throws DeviceError if not even tiles fit
void choose_placement(Plan& plan, const Recipe& recipe) {
  const Beam& beam = beam_of(plan.job.scan);
  if (!beam.in_tiles || settles_on(plan.flow.active_devices, plan, recipe)) return;
  const std::vector<Device> all = recipe.fewest_devices ? roomy(recipe.devices) : recipe.devices;
  if (all != plan.flow.active_devices && settles_on(all, plan, recipe)) return;
  plan.flow.pair.placement = beam.in_tiles;
  plan.flow.workers.front().device = Device::cpu();
  plan.flow.active_devices = all;
  plan.flow.memory.device = static_cast<std::size_t>(device_budget(plan.flow.active_devices, recipe));
  beam.require_tiles(plan);
}

void choose_whole(Plan& plan, const Recipe& recipe, const io::ScanInfo& info) {
  auto& sizes = std::get<WholeSizes>(plan.flow.sizes);
  sizes.tiles = recipe.streams;
  choose_placement(plan, recipe);
  Room room(plan, recipe, info);
  room.choose_chunks(room.most_slices(), plan.job.grid.size[2]);
  sizes.piece_bytes = bytes_going_up(plan, info, plan.flow.chunk_slices);
  room.note();
}

}  // namespace

double whole_on_host(const Plan& plan, const io::ScanInfo& info, Index slices) {
  const double counts = counts_bytes(info, cells_read(plan, slices), views_of(plan.job));
  return bytes_of_whole(plan, info, slices, bytes_of_pieces(plan, info, slices).value_or(counts));
}

Index all_slices(const Job& job) { return job.grid.size[2]; }
Range all_rows(const Job& job, Range) { return {0, job.rows.size() == 0 ? 0 : detector_of(job.scan).rows}; }

double bytes_of_worker(const Plan& plan, const Worker& worker, Index slices) {
  return std::max(preparing_bytes(plan, slices, views_of_share(plan, worker)),
                  computing_bytes(plan, worker, slices));
}

double bytes_of_workers(const Plan& plan, const io::ScanInfo& info, Index slices) {
  double bytes = 0;
  for (const Worker& worker : plan.flow.workers)
    bytes += !worker.device.is_cuda()      ? worker.device.members() * computing_bytes(plan, worker, slices)
             : prepared_on_gpu(plan, info) ? 0
                                           : data_sets(plan.job) * vector_bytes(plan, slices).projections;
  return bytes;
}

double bytes_of_whole(const Plan& plan, const io::ScanInfo& info, Index slices, double counts) {
  const auto [projections, volume, written] = vector_bytes(plan, slices);
  const bool gpu = plan.flow.home().is_cuda();
  const double work = bytes_of_workers(plan, info, slices);
  const double cells = cells_read(plan, slices);
  const ReferenceBytes references = reference_bytes(plan.job, info, cells);
  const double landed =
      volumes_landed(plan, slices, volumes_waiting(plan, slices) + (gpu ? plan.flow.workers.size() : 0));
  return references.reading + references.held +
         std::max(counts + projections, work + landed + (gpu ? 0 : written)) +
         steps_bytes(plan, info, views_of(plan.job), floor_index(cells) / plan.job.bins.size(),
                     route_of(plan.flow).rows_made(plan, slices)) +
         info.decoded_bytes;
}

double bytes_waiting(const Plan& plan, Index slices) {
  return comes_in_pieces(plan, slices) ? volumes_waiting(plan, slices) * vector_bytes(plan, slices).written
                                       : 0;
}

std::optional<Request> requested_rows(const Plan& plan, Range slices) {
  if (rows_of(plan, slices).size() == 0) return {};
  return request_for(plan, slices);
}

Array computed(Work& work, const Computation& computation, const Problem& problem,
               std::optional<LineIntegrals> data, Range slices) {
  if (!data) return Array(problem.A.domain());
  data->y = work.moved_to(work.device(), std::move(data->y));
  if (data->weights) data->weights = work.moved_to(work.device(), std::move(*data->weights));
  return computation(problem, std::move(*data), slices);
}

Maker maker_from_all_data(Work& work, ReadStation&, PrepareStation& prepare) {
  return [&, computation = work.plan.job.method->begin(work)](Chunk& chunk, const Stream&) {
    const Plan& plan = work.plan;
    const PinHostMemory pinned(in_tiles(plan.flow) ? plan.flow.active_devices.front() : Device::cpu());
    std::optional<LineIntegrals> data;
    if (std::optional<Counts> counts = std::exchange(chunk.counts, {})) {
      const Range rows = rows_of(plan, chunk.slices);
      data = prepare.make(*std::move(counts), scan_of(plan, chunk.slices), rows, work.device(), work);
      prepare.look_at(data->y, rows);
    }
    const Problem problem =
        problem_of(plan, chunk.slices, plan.flow.workers[work.worker], [&work] { work.watch.again(); });
    Array volume = computed(work, computation, problem, std::move(data), chunk.slices);
    if (plan.job.method->filters) clear_unmet(plan.job, chunk.slices, volume);
    return cut_out(plan.job, first_written(plan.job, chunk.slices), chunk.slices.size(), std::move(volume));
  };
}

/// The route of slices that are one problem. Its vectors lie on one device, on several, or in tiles on the
/// host.
Route whole() {
  return {.name = "whole",
          .sizes = WholeSizes{},
          .one_problem = true,
          .takes = takes_whole,
          .choose = choose_whole,
          .host_bytes = whole_on_host,
          .worker_bytes = bytes_of_worker,
          .waiting_bytes = bytes_waiting,
          .begin = maker_from_all_data};
}

}  // namespace tandem::pipeline
