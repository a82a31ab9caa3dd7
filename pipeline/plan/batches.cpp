#include "batches.hpp"

#include <algorithm>
#include <sstream>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/units.hpp"
#include "../../counts/steps/chain.hpp"
#include "../beams/beam.hpp"
#include "../follow.hpp"
#include "../methods/method.hpp"
#include "chunks_due.hpp"
#include "host_memory.hpp"
#include "memory.hpp"
#include "view_samples.hpp"

namespace tandem::pipeline {

namespace {

/// So many that a batch takes less than a second, and that the pass over the volume costs less than its
/// updates.
Index most_views(const Plan& plan) {
  constexpr double updates_of_a_core = 3e9, updates_of_a_gpu = 3e11;  // in half a second or so
  constexpr double fewest = 8, most = 64;
  const double can = plan.home().is_cuda() ? updates_of_a_gpu : updates_of_a_core * thread_count();
  const auto [x, y, z] = plan.grid.size;
  return static_cast<Index>(std::clamp(can / static_cast<double>(x * y * z), fewest, most)) / 8 * 8;
}

/// Bytes on the host and, if it computes, on the device.
struct Needed {
  double host, device;
};

Needed bytes_for(const Plan& plan, const io::ScanInfo& info, Index views) {
  const auto [nx, ny, nz] = plan.grid.size;
  const Detector &d = detector_of(plan.scan), wide = filtered_detector(plan.scan);
  const Index rows_there = rows_read(plan, {0, nz}).rows.size(), rows = rows_there / plan.rows_together;
  const double cells = static_cast<double>(rows_there * plan.bins.size()),
               counts = cells * static_cast<double>(io::bytes_of(info.type)),
               data = 4 * static_cast<double>(rows * d.bins),
               filtered = 4 * static_cast<double>(d.rows * wide.bins),
               weights = rows_are_slices(plan.scan) ? 0 : 4 * static_cast<double>(wide.bins),
               volume = 4 * static_cast<double>(nx * ny * nz), slab = volume / static_cast<double>(nz);
  const auto count = static_cast<double>(views);
  const ReferenceBytes reference = reference_bytes(plan, info, cells);
  const double references = reference.reading + reference.held;
  const double planned = static_cast<double>(angles_of(plan.scan).size());
  const double kernels =
      beam_of(plan.scan)
          .working_memory(plan, plan.workers.front(), {nz, ny, nx}, {views, d.rows, wide.bins})
          .backward;
  const double computing = volume + count * (data + filtered + weights) + filtered + kernels;
  const double steps =
      bytes_of_steps(plan.preprocessing, {views, rows, d.bins}, {views, rows_there, plan.bins.size()});
  const double reading =
      references + steps + count * (counts + data) + ViewSamples::count * data + 3 * weights * planned;
  if (!plan.home().is_cuda()) return {reading + computing, 0};
  return {reading + 3 * slab * static_cast<double>(slices_written_at_once), computing + 128 * bytes_per_mib};
}

void require_fits(const std::string& where, double bytes, double budget, const std::string& remedy) {
  std::ostringstream needed, limit;
  needed.precision(3), limit.precision(3);
  needed << bytes / bytes_per_gib, limit << budget / bytes_per_gib;
  require<DeviceError>(bytes <= budget, where, ": --follow holds the whole volume, and needs ", needed.str(),
                       " GiB; the limit is ", limit.str(), " GiB; give ", remedy,
                       ", a smaller --size, --region or --slices, or --binning");
}

}  // namespace

void choose_batches(Plan& plan, const Recipe& recipe, const io::ScanInfo& info) {
  require<GeometryError>(plan.method->filters, "--follow: ", plan.method_name(),
                         " needs all views at once; take fbp or fdk");
  require<GeometryError>(plan.model != Model::fourier,
                         "--follow: the model fourier needs all views at once; take pixel_driven");
  for (const Step& step : plan.preprocessing.table())
    require<GeometryError>(!step.needs_all_views || !step.asked_for(plan.preprocessing),
                           "--follow: the step ", step.name, " needs all views at once; leave it out");
  require<GeometryError>(
      plan.flats.sets.size() == 1 && plan.flats.scale.empty(),
      "--follow: flats between the views or of another exposure, and --normalize-monitor, need the whole "
      "scan; give --flat-sets together, and no monitor");
  const double held = held_with_libraries(plan);
  const double host = host_budget(recipe), device = device_budget(plan, recipe);
  const auto fits = [&](Index views) {
    const Needed needed = bytes_for(plan, info, views);
    return held + needed.host <= host && (!plan.home().is_cuda() || needed.device <= device);
  };
  plan.rows_at_once = plan.grid.size[2];
  plan.views_at_once = most_views(plan);
  while (plan.views_at_once > 1 && !fits(plan.views_at_once)) plan.views_at_once /= 2;
  const Needed needed = bytes_for(plan, info, plan.views_at_once);
  require_fits("memory", held + needed.host, host, "a larger --memory");
  if (plan.home().is_cuda())
    require_fits("memory of " + plan.home().name(), needed.device, device, "a larger --device-memory");
  plan.bytes = static_cast<std::size_t>(held + needed.host);
  plan.device_bytes = static_cast<std::size_t>(needed.device);
}

}  // namespace tandem::pipeline
