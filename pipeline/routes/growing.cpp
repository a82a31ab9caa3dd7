#include <algorithm>
#include <string>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../../core/spelled.hpp"
#include "../../counts/steps/chain.hpp"
#include "../memory/budget.hpp"
#include "../memory/room.hpp"
#include "../methods/method.hpp"
#include "../methods/vector_bytes.hpp"
#include "../plan/chunks_due.hpp"
#include "../plan/view_samples.hpp"
#include "../stations/landing.hpp"
#include "../stations/read.hpp"
#include "follow.hpp"
#include "routes.hpp"

namespace tandem::pipeline {

namespace {

bool takes_growing(const Job&, const Recipe& recipe) { return recipe.follow; }

Range rows_of_growing(const Job& job, Range slices) {
  return rows_are_slices(job.scan) && job.rows.size() > 0 ? slices : all_rows(job, slices);
}

/// The most views of a block. A block takes less than a second, and the pass over the volume costs less than
/// the updates.
Index most_views(const Plan& plan) {
  constexpr double updates_of_a_core = 3e9, updates_of_a_gpu = 3e11;  // in half a second or so
  constexpr double fewest = 8, most = 64;
  const double can = plan.flow.home().is_cuda() ? updates_of_a_gpu : updates_of_a_core * thread_count();
  const auto [x, y, z] = plan.job.grid.size;
  return floor_index(std::clamp(can / (x * y * z), fewest, most)) / 8 * 8;
}

/// The rows that become line integrals, with margins.
Index rows_prepared(const Plan& plan) {
  return rows_read(plan, {0, plan.job.grid.size[2]}).rows.size() / plan.job.rows_together;
}

/// The memory, bytes, of the sum and of one block of views that is added to it.
double adding_bytes(const Plan& plan, Index views) {
  const auto [nx, ny, nz] = plan.job.grid.size;
  const Detector &d = detector_of(plan.job.scan), wide = plan.job.filtered.detector;
  const double data = 4.0 * (rows_prepared(plan) * d.bins), filtered = 4.0 * (wide.rows * wide.bins),
               weights = rows_are_slices(plan.job.scan) ? 0 : 4.0 * wide.bins, count = views;
  return 4.0 * (nx * ny * nz) + count * (data + filtered + weights) + filtered +
         kernels_of_block(plan, plan.flow.workers.front(), nz, views);
}

/// The memory, bytes, of one block of views that is read and becomes line integrals on the host.
double reading_bytes(const Plan& plan, const io::ScanInfo& info, Index views) {
  const Index rows = rows_prepared(plan), rows_there = rows * plan.job.rows_together,
              bins = detector_of(plan.job.scan).bins, wide = plan.job.filtered.detector.bins;
  const double cells = rows_there * plan.job.bins.size(), data = 4.0 * (rows * bins), count = views,
               weights = rows_are_slices(plan.job.scan) ? 0 : 4.0 * wide, planned = views_of(plan.job.scan);
  const ReferenceBytes reference = reference_bytes(plan.job, info, cells);
  return reference.reading + reference.held +
         bytes_of_steps(plan.job.preprocessing, {views, rows, bins},
                        {views, rows_there, plan.job.bins.size()}) +
         counts_bytes(info, cells, views) + count * data + ViewSamples::count * data + 3 * weights * planned;
}

double growing_on_host(const Plan& plan, const io::ScanInfo& info, Index slices) {
  const Index views = block_views(plan.flow);
  return reading_bytes(plan, info, views) +
         (plan.flow.home().is_cuda() ? volumes_landed(plan, slices, 1) : adding_bytes(plan, views));
}

double growing_on_device(const Plan& plan, const Worker&, Index) {
  return adding_bytes(plan, block_views(plan.flow));
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
      plan.flow.pair.model != Model::fourier,
      spelled("follow") + ": the model fourier needs all views at once; take pixel_driven");
  for (const Step& step : plan.job.preprocessing.table())
    require<GeometryError>(!step.needs_all_views || !step.asked_for(plan.job.preprocessing),
                           spelled("follow") + ": the step ", step.name,
                           " needs all views at once; leave it out");
  require<GeometryError>(plan.job.flats.sets.size() == 1 && plan.job.flats.scale.empty(),
                         spelled("follow") + ": flats between the views or of another exposure, and " +
                             spelled("normalize-monitor") + ", need the whole scan; give " +
                             spelled("flat-sets") + " together, and no monitor");
  const Index all = plan.flow.chunk_slices = plan.job.grid.size[2];
  Index& views = std::get<GrowingSizes>(plan.flow.sizes).block_views;
  Room room(plan, recipe, info);
  for (views = most_views(plan); views > 1 && !(room.fits() && room.fits_devices(all));) views /= 2;
  room.note();
  require_fits("memory", room.bytes(all), host_budget(recipe), "a larger " + spelled("memory"));
  if (plan.flow.home().is_cuda())
    require_fits("memory of " + plan.flow.home().name(), device_bytes(plan, all),
                 device_budget(plan.flow.active_devices, recipe), "a larger " + spelled("device-memory"));
}

}  // namespace

/// The route of a scan that is being written: views are added to the volume as they come.
Route growing() {
  return {.name = "growing",
          .sizes = GrowingSizes{},
          .cheap_slices = true,
          .takes = takes_growing,
          .rows = rows_of_growing,
          .choose = choose_growing,
          .host_bytes = growing_on_host,
          .worker_bytes = growing_on_device,
          .request = [](const Plan&, Range) { return std::optional<Request>(); },  // views are still to come
          .begin = begin_following};
}

}  // namespace tandem::pipeline
