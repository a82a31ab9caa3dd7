#include <algorithm>
#include <string>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../../counts/steps/chain.hpp"
#include "../memory/budget.hpp"
#include "../memory/vector_bytes.hpp"
#include "../methods/method.hpp"
#include "../plan/chunks_due.hpp"
#include "../plan/view_samples.hpp"
#include "../stations/read.hpp"
#include "follow.hpp"
#include "routes.hpp"

namespace tandem::pipeline {

namespace {

bool takes_growing(const Job&, const Recipe& recipe) { return recipe.follow; }

Range rows_of_growing(const Job& job, Range slices) {
  return rows_are_slices(job.scan) && job.rows.size() > 0 ? slices : all_rows(job, slices);
}

/// The most views of a batch. A batch takes less than a second, and the pass over the volume costs less than
/// the updates.
Index most_views(const Plan& plan) {
  constexpr double updates_of_a_core = 3e9, updates_of_a_gpu = 3e11;  // in half a second or so
  constexpr double fewest = 8, most = 64;
  const double can = plan.flow.home().is_cuda() ? updates_of_a_gpu : updates_of_a_core * thread_count();
  const auto [x, y, z] = plan.job.grid.size;
  return floor_index(std::clamp(can / (x * y * z), fewest, most)) / 8 * 8;
}

/// Bytes on the host and, if a GPU computes, on the device.
struct Needed {
  double host, device;
};

Needed bytes_for(const Plan& plan, const io::ScanInfo& info, Index views) {
  const auto [nx, ny, nz] = plan.job.grid.size;
  const Detector &d = detector_of(plan.job.scan), wide = plan.job.filtered.detector;
  const Index rows_there = rows_read(plan, {0, nz}).rows.size(), rows = rows_there / plan.job.rows_together;
  const double cells = rows_there * plan.job.bins.size(), counts = cells * io::bytes_of(info.type),
               data = 4.0 * (rows * d.bins), filtered = 4.0 * (wide.rows * wide.bins),
               weights = rows_are_slices(plan.job.scan) ? 0 : 4.0 * wide.bins, volume = 4.0 * (nx * ny * nz),
               slab = volume / nz;
  const double count = views;
  const ReferenceBytes reference = reference_bytes(plan.job, info, cells);
  const double references = reference.reading + reference.held;
  const double planned = views_of(plan.job.scan);
  const double kernels = kernels_of_block(plan, plan.flow.workers.front(), nz, views);
  const double computing = volume + count * (data + filtered + weights) + filtered + kernels;
  const double steps = bytes_of_steps(plan.job.preprocessing, {views, rows, d.bins},
                                      {views, rows_there, plan.job.bins.size()});
  const double reading =
      references + steps + count * (counts + data) + ViewSamples::count * data + 3 * weights * planned;
  if (!plan.flow.home().is_cuda()) return {reading + computing, 0};
  return {reading + 3 * slab * slices_written_at_once, computing + 128 * bytes_per_mib};
}

void require_fits(const std::string& where, double bytes, double budget, const std::string& remedy) {
  require<DeviceError>(bytes <= budget, where,
                       ": " + spelled("follow") + " holds the whole volume, and needs ", in_gib(bytes),
                       "; the limit is ", in_gib(budget), "; give ", remedy,
                       ", a smaller " + spelled("size") + ", " + spelled("region") + " or " +
                           spelled("slices") + ", or " + spelled("binning"));
}

void choose_growing(Plan& plan, const Recipe& recipe, const io::ScanInfo& info) {
  require<GeometryError>(plan.job.method->filters, spelled("follow") + ": ", plan.job.method_name(),
                         " needs all views at once; take fbp or fdk");
  require<GeometryError>(
      plan.flow.model != Model::fourier,
      spelled("follow") + ": the model fourier needs all views at once; take pixel_driven");
  for (const Step& step : plan.job.preprocessing.table())
    require<GeometryError>(!step.needs_all_views || !step.asked_for(plan.job.preprocessing),
                           spelled("follow") + ": the step ", step.name,
                           " needs all views at once; leave it out");
  require<GeometryError>(plan.job.flats.sets.size() == 1 && plan.job.flats.scale.empty(),
                         spelled("follow") + ": flats between the views or of another exposure, and " +
                             spelled("normalize-monitor") + ", need the whole scan; give " +
                             spelled("flat-sets") + " together, and no monitor");
  const double held = held_with_libraries(plan.flow.home().is_cuda());
  const double host = host_budget(recipe), device = device_budget(plan.flow.devices, recipe);
  const auto fits = [&](Index views) {
    const Needed needed = bytes_for(plan, info, views);
    return held + needed.host <= host && (!plan.flow.home().is_cuda() || needed.device <= device);
  };
  plan.flow.rows_at_once = plan.job.grid.size[2];
  plan.flow.views_at_once = most_views(plan);
  while (plan.flow.views_at_once > 1 && !fits(plan.flow.views_at_once)) plan.flow.views_at_once /= 2;
  const Needed needed = bytes_for(plan, info, plan.flow.views_at_once);
  require_fits("memory", held + needed.host, host, "a larger " + spelled("memory"));
  if (plan.flow.home().is_cuda())
    require_fits("memory of " + plan.flow.home().name(), needed.device, device,
                 "a larger " + spelled("device-memory"));
  plan.flow.bytes = static_cast<std::size_t>(held + needed.host);
  plan.flow.device_bytes = static_cast<std::size_t>(needed.device);
}

}  // namespace

/// The route of a scan that is being written. Views pass in batches without stations (follow.hpp), so this
/// route tells only rows and memory.
Route growing() {
  return {.name = "growing",
          .slices = Slices::sums,
          .takes = takes_growing,
          .rows = rows_of_growing,
          .choose = choose_growing};
}

}  // namespace tandem::pipeline
