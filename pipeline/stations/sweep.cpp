#include "sweep.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "../../core/host_memory.hpp"
#include "../../core/parallel.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/tiling.hpp"
#include "../memory/vector_bytes.hpp"
#include "../plan/view_samples.hpp"
#include "../watch/stopwatch.hpp"
#include "landing.hpp"

namespace tandem::pipeline {

struct Sweep::Pass {
  const Problem& problem;
  Chunk& chunk;
  ByViews fdk;
  Array slab;
  ViewSamples samples;
  Index views;      ///< of all blocks
  Index added = 0;  ///< views
  /// A block is queued before the host waits for the one before, so that a GPU always has work.
  std::optional<Array> last{};  ///< filtered data that are being added

  double slices() const { return static_cast<double>(problem.grid.size[2]); }
  /// What some of the views make of the slices.
  double share(Index some) const { return slices() * static_cast<double>(some) / static_cast<double>(views); }
};

namespace {

/// A block of views on its way.
struct Place {
  io::Frames memory;
  io::FramesView counts;
  std::optional<Array> filtered;
  std::optional<LinearOperator> back_projection;
};

/// Bytes of the filtered data of a block of views.
double filtered_bytes(const Plan& plan) {
  return 4 * static_cast<double>(plan.flow.views_at_once * rows_held(plan.job, plan.job.grid.size[2])) *
         static_cast<double>(bins_of(plan.job));
}

}  // namespace

std::vector<Range> blocks_of(Index views, Index most) {
  std::vector<Range> blocks = pieces({0, views}, most);
  if (const Index cut = blocks.front().last / 4 / 8 * 8; cut > 0) {
    blocks.front().first = cut;
    blocks.insert(blocks.begin(), {0, cut});
  }
  return blocks;
}

double blocks_on_host(const Plan& plan, const io::ScanInfo& info, const Worker& worker, Index slices,
                      bool counts_stay) {
  constexpr double blocks = 3;
  const Index views = plan.flow.views_at_once;
  const Detector& d = detector_of(plan.job.scan);
  const double y = data_sets(plan.job) * 4 * static_cast<double>(views * d.rows * d.bins),
               volume = volume_at_home(plan, slices),
               counts = counts_stay ? 0 : blocks * counts_bytes(info, cells_read(plan, slices), views);
  if (worker.device.is_cuda())
    return counts + (prepared_on_gpu(plan, info) ? 0 : y) + volumes_landed(plan, slices, 1);
  return counts + y + blocks * filtered_bytes(plan) + weight_bytes(plan.job, slices) +
         kernels_of_block(plan, plan.flow.workers.front(), slices, views) + volume;
}

double blocks_on_device(const Plan& plan, const Worker& worker, Index slices) {
  constexpr double blocks = 4;                                    // one more is queued
  const double volumes = slices < plan.job.grid.size[2] ? 2 : 1;  // one is written while the next is made
  return volumes * sizes_of(plan, slices).volume + preparing_bytes(plan, slices, plan.flow.views_at_once) +
         blocks * filtered_bytes(plan) + weight_bytes(plan.job, slices) +
         kernels_of_block(plan, worker, slices, plan.flow.views_at_once);
}

Sweep::Sweep(Work& work, ReadStation& read, PrepareStation& prepare)
    : work_(work),
      read_(read),
      prepare_(prepare),
      preparing_(work.device(), Priority::urgent),
      before_(work.device()) {}

Array Sweep::operator()(const Problem& problem, Chunk& chunk, const Stream& adding) {
  const Plan& plan = work_.plan;
  const Range all{0, views_of(problem.scan)};
  const std::vector<Range> blocks = blocks_of(all.size(), plan.flow.views_at_once);
  Pass pass{problem,
            chunk,
            beam_of(problem.scan).of_views(plan.job.options.filter, problem),
            zeros(problem.A.domain(), adding),
            ViewSamples(all.size(), chunk.reference->counted_rows()),
            all.size()};
  if (plan.job.needs_all_views) prepare_.make_all(chunk, read_, work_);
  std::vector<Place> places(static_cast<std::size_t>(conveyor_places(1)));
  const auto place = [&](const Item& item) -> Place& { return places[static_cast<std::size_t>(item.place)]; };
  const auto views = [&](const Item& item) { return blocks[static_cast<std::size_t>(item.number)]; };
  conveyor(
      static_cast<Index>(blocks.size()), 1,
      [&](const Item& item) {
        if (plan.job.needs_all_views) return;
        place(item).counts =
            read_.views(chunk.slices, views(item), pass.share(views(item).size()), place(item).memory);
      },
      [&](const Item& item) {
        const UseStream own(preparing_);
        place(item).filtered = filtered(pass, views(item), place(item).counts);
        place(item).back_projection = pass.fdk.back_projection(views(item));
      },
      [&](const Item& item) {
        const UseStream own(adding);
        add(pass, views(item), *place(item).back_projection, std::move(*place(item).filtered));
      });
  wait_for_last(pass, adding);
  if (const std::optional<Array> y = pass.samples.all()) prepare_.look_at(*y, {});
  chunk.reference.reset();
  work_.count_updates(problem, 1);
  return std::move(pass.slab);
}

Array Sweep::line_integrals(Pass& pass, Range views, const io::FramesView& counts) {
  const Scan some = crop(pass.problem.scan, views);
  if (work_.plan.job.needs_all_views)
    return prepare_.some_of_all(views, projection_space(some, work_.device()), work_);
  Array y =
      prepare_.block(counts, *pass.chunk.reference, some, pass.share(views.size()), views.first == 0, work_);
  pass.samples.add(views, y);
  return work_.moved_to(work_.device(), std::move(y));
}

Array Sweep::filtered(Pass& pass, Range views, const io::FramesView& counts) {
  const Array y = line_integrals(pass, views, counts);
  const Stopwatch watch(
      "filter", work_.outcome.seconds.filter, work_.watch.board(),
      {.slices = pass.share(views.size()), .bytes = 4 * static_cast<double>(y.space().size())});
  return pass.fdk.filter(views) * y;
}

void Sweep::add(Pass& pass, Range views, const LinearOperator& back_projection, Array filtered) {
  work_.tell("back-project", pass.share(pass.added));
  const Load load{.slices = pass.share(views.size()),
                  .updates = updates_of(pass.problem) * static_cast<double>(views.size()) /
                             static_cast<double>(pass.views)};
  const Stopwatch watch("back-project", work_.outcome.seconds.backproject, work_.watch.board(), load);
  Stream& stream = default_stream(work_.device());
  back_projection.apply(1, filtered, 1, pass.slab, stream);
  before_.synchronize();
  before_.record(stream);
  pass.last = std::move(filtered);
  pass.added += views.size();
}

void Sweep::wait_for_last(Pass& pass, const Stream& adding) {
  const Stopwatch watch("back-project", work_.outcome.seconds.backproject, work_.watch.board());
  adding.synchronize();
  pass.last.reset();
}

}  // namespace tandem::pipeline
