#include "trial.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/host_memory.hpp"
#include "../core/rounding.hpp"
#include "../io/volumes/volume_kind.hpp"
#include "../pipeline/methods/method.hpp"
#include "../pipeline/plan/grids.hpp"
#include "../pipeline/plan/route.hpp"
#include "../pipeline/reconstruct.hpp"
#include "../pipeline/watch/stopwatch.hpp"

namespace tandem::pipeline {

namespace {

namespace fs = std::filesystem;

/// The part of a plan that a trial takes.
struct Size {
  Index slices, views;
};

/// A size that takes a few tenths of a second: a batch of kernels, and as many views as a subset has. Some
/// models are fast because they take all views, and a slice takes them as long as a few views.
Size size_of_trial(const Plan& plan) {
  constexpr Index batch = 16, few = 8;  // slices; views
  const Job& job = plan.job;
  const SolverCost& cost = job.method->kind.cost;
  const int applications = job.filters() + cost.preparation.together() + 2 * cost.step.together();
  const double updates = (plan.flow.home().is_cuda() ? 3e10 : 3e8) / applications;
  const double times = updates / (job.solved.size[0] * job.solved.size[1]);  // slices times views
  const Index all = solved_slices(job, {0, std::min(plan.flow.chunk_slices, job.grid.size[2])}).size();
  const Index all_views = views_of(job.scan), slices = std::clamp<Index>(floor_index(times / few), 1, all);
  if (plan.flow.pair.model == Model::fourier || plan.flow.pair.model == Model::hierarchical)
    return {slices, all_views};
  const Index of_subset = all_views / job.options.subsets.value_or(all_views);
  const Index views = std::clamp(floor_index(times / std::min(batch, slices)),
                                 std::min(std::max(few, of_subset), all_views), all_views);
  return {std::clamp(floor_index(times / views), std::min(batch, slices), all), views};
}

/// A plan with some slices on which the method works, and the first of the views, as one chunk. All that
/// decides the kernels stays as it is.
Plan part_of(Plan plan, Size size) {
  Job& job = plan.job;
  const VolumeGrid& g = job.solved;
  const Index first = (g.size[2] - size.slices) / 2, views = views_of(job.scan);
  job.grid = job.solved = region(g, {0, g.size[0]}, {0, g.size[1]}, {first, first + size.slices});
  job.inside = {};
  if (route_of(plan.flow).slices_apart) {
    job.scan = crop(job.scan, {0, views}, {0, size.slices}, {0, detector_of(job.scan).bins});
    job.rows.last = job.rows.first + size.slices * job.rows_together;
  }
  std::vector<Index> some;
  for (Index k = 0; k < size.views; ++k) some.push_back(k * views / size.views);
  job.scan = with_views(std::move(job.scan), some);
  job.views.last = job.views.first + size.views;
  job.looks_ahead = false;
  plan.flow.chunk_slices = size.slices;
  plan.flow.shared = {};  // the other ranks take no part
  Recipe& options = job.options;
  options.iterations = std::min(*options.iterations, 2);
  options.tv_weight = options.tv_weight.value_or(1);
  if (options.subsets) options.subsets = std::max<Index>(1, *options.subsets * size.views / views);
  options.stop_by_discrepancy = options.stop_by_gcv = false;
  options.stop_by_ncp = options.stop_by_stagnation = options.only_watches = false;
  options.stop_relative.reset(), options.stop_gap.reset(), options.stop_seconds.reset();
  if (options.initial == Initial::file) options.initial = Initial::zero;
  return plan;
}

/// Makes a part of a plan, and a volume of it, which is removed again.
Outcome made_of(io::ScanReader& reader, const Plan& part, const fs::path& volume,
                const io::VolumeFormat& format) {
  const std::string name = ".trial-" + std::to_string(::getpid()) + '-' + volume.filename().string();
  const fs::path hidden = io::folder_of(volume) / name;
  const auto writer = io::create_volume(hidden, part.job.grid.shape(), format, "{}");
  Outcome outcome = reconstruct(reader, part, *writer);
  {
    const Stopwatch watch("finish", outcome.seconds.finish);
    writer->finish("{}");
  }
  std::error_code unheeded;
  for (const fs::path& file : io::files_of_output(hidden)) fs::remove_all(file, unheeded);
  return outcome;
}

/// The rates of a part, of the kinds of the whole.
Rates rates_of_part(const Plan& part, const io::ScanInfo& info, const std::vector<StationWork>& whole,
                    const Outcome& outcome, double voxel_bytes) {
  std::vector<StationWork> done =
      work_done(work_of(part, info, {{}, {}, voxel_bytes}, {Range{0, part.job.grid.size[2]}}), outcome);
  for (StationWork& work : done)
    for (const StationWork& same : whole)
      if (same.name == work.name) work.kind = same.kind;
  return rates_of(part, done, outcome.seconds);
}

}  // namespace

Rates try_part(io::ScanReader& reader, const Plan& plan, const std::vector<StationWork>& works,
               const fs::path& volume, io::VolumeFormat format) {
  require<DeviceError>(plan.flow.shared.vectors.is_alone(), "several ranks do it together");
  format.place.reset();
  format.range_follows = false;
  const Plan part = part_of(plan, size_of_trial(plan));
  const KeepHostMemory kept;  // the second time finds its memory touched, as most chunks do
  made_of(reader, part, volume, format);
  return rates_of_part(part, reader.info(), works, made_of(reader, part, volume, format),
                       io::bytes_of(format.type));
}

}  // namespace tandem::pipeline
