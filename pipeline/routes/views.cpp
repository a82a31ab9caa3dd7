#include <algorithm>

#include "../../core/rounding.hpp"
#include "../beams/beam.hpp"
#include "../memory/room.hpp"
#include "../methods/method.hpp"
#include "../methods/vector_bytes.hpp"
#include "../plan/grids.hpp"
#include "../plan/make_problem.hpp"
#include "../stations/landing.hpp"
#include "../stations/view_blocks.hpp"
#include "routes.hpp"

namespace tandem::pipeline {

namespace {

/// Whether this route takes a job. It does not take the hierarchical model, which needs all views at once.
bool takes_views(const Job& job, const Recipe& recipe) {
  return recipe.model != Model::hierarchical && !job.method->takes_whole && beam_of(job.scan).of_views;
}

Index fewest_slices(const Job& job) { return detector_of(job.scan).rows == 1 ? job.grid.size[2] : 1; }

/// The rows whose rays meet the slices, at least two, since one row alone would make a fan. All rows, if
/// there is no axis.
Range rows_of_views(const Job& job, Range slices) {
  if (job.rows.size() == 0) return {0, 0};
  const Range all{0, detector_of(job.scan).rows};
  if (job.needs_all_views || slices.size() == job.grid.size[2] || !axis_of(job.scan)) return all;
  const Range met = rows_met(job.scan, job.grid, slices);
  if (met.size() != 1) return met;
  return met.last < all.last ? Range{met.first, met.last + 1}
                             : Range{std::max<Index>(0, met.first - 1), met.last};
}

/// Chooses the number of views of a block: enough for kernels, and few enough for the first block to come
/// soon. It is smaller if otherwise only a few slices fit beside the views. Otherwise the number, and with it
/// the order of sums, depends only on the scan.
void choose_blocks(Plan& plan, const Room& room) {
  constexpr Index most = 64, step = 8, few_slices = 16;
  const Index fewest = fewest_slices(plan.job), few = std::clamp(few_slices, fewest, plan.job.grid.size[2]);
  const Index bytes = plan.flow.home().is_cuda() ? Index{1} << 30 : Index{1} << 27;
  const Detector& d = plan.job.filtered.detector;
  Index& views = std::get<ViewSizes>(plan.flow.sizes).block_views;
  const auto fits = [&](Index slices) { return room.fits(slices) && room.fits_devices(slices); };
  views =
      std::clamp<Index>(bytes / (4 * d.rows * d.bins), 1, std::max(most, 2 * plan.job.filtered.views_beside));
  if (views > step) views -= views % step;
  while (views > step && !fits(few)) views /= 2;
  while (views > 1 && !fits(fewest)) views /= 2;
}

/// Makes slabs begin with a brick. The voxels of a brick share numbers, and so these do not depend on the
/// memory.
void align_to_bricks(Plan& plan) {
  constexpr Index brick = 16;
  Index& slices = plan.flow.chunk_slices;
  const bool any_geometry = !axis_of(plan.job.scan);
  if (any_geometry && slices > brick && slices < plan.job.grid.size[2]) slices -= slices % brick;
}

void choose_views(Plan& plan, const Recipe& recipe, const io::ScanInfo& info) {
  Room room(plan, recipe, info);
  choose_blocks(plan, room);
  // All views pass again for each slab, and the weights of its rays are made anew, so there are few slabs. A
  // single GPU has two: one is written while the other one is made.
  const Index most = room.most_slices(), fewest = plan.flow.home().is_cuda() ? 2 : 1;
  room.choose_chunks(most, room.slices_of_few_chunks(most, fewest));
  align_to_bricks(plan);
  if (info.decoded_bytes > 0) room.choose_one_read(std::get<ViewSizes>(plan.flow.sizes).part_slices);
  room.note();
}

/// The memory on the host, bytes. If a step needs all views at once, the line integrals of all views are made
/// once. Else each worker has three blocks on their way: one is read, one becomes line integrals and is
/// filtered, one is added to the slices. On a GPU the last two stay there, and slices come to the host a few
/// at a time.
double views_on_host(const Plan& plan, const io::ScanInfo& info, Index slices) {
  const Job& job = plan.job;
  const bool at_once = job.needs_all_views,
             counts_stay = at_once || part_slices(plan.flow, plan.job.grid.size[2]) > 0;
  const double cells = cells_read(plan, slices);
  const Index all = views_of(job), rows = detector_of(job.scan).rows;
  const ReferenceBytes references = reference_bytes(job, info, cells);
  double work = 0;
  for (const Worker& worker : plan.flow.workers)
    work += blocks_on_host(plan, info, worker, slices, counts_stay);
  const double waiting =
      plan.flow.home().is_cuda() ? 0 : volumes_waiting(plan, slices) * volume_at_home(plan, slices);
  const double whole = at_once ? 4.0 * (all * rows * detector_of(job.scan).bins) : 0;
  return references.reading + (plan.flow.workers.size() + 2) * references.held + work + waiting + whole +
         (counts_stay ? counts_bytes(info, cells, all) : 0) +
         steps_bytes(plan, info, at_once ? all : views_of_block(plan), floor_index(cells) / job.bins.size(),
                     rows) +
         info.decoded_bytes;
}

/// What is read before views pass in blocks.
std::optional<Request> darks_and_flats(const Plan& plan, Range slices) {
  std::optional<Request> asked = requested_rows(plan, slices);
  if (asked) asked->views = {};
  return asked;
}

Maker begin_views(Work& work, ReadStation& read, PrepareStation& prepare) {
  return [&, blocks = std::make_shared<ViewBlocks>(work, read, prepare)](Chunk& chunk, const Stream& stream) {
    const Plan& plan = work.plan;
    const Problem problem = problem_of(plan, chunk.slices, plan.flow.workers[work.worker]);
    Array slab = chunk.counts ? (*blocks)(problem, chunk, stream) : Array(problem.A.domain());
    chunk.counts.reset();
    clear_unmet(plan.job, chunk.slices, slab);
    return cut_out(plan.job, first_written(plan.job, chunk.slices), chunk.slices.size(), std::move(slab));
  };
}

}  // namespace

/// The route of slabs that are sums over views, as in FDK. The views pass in blocks for each slab.
Route views() {
  return {.name = "views",
          .sizes = ViewSizes{},
          .cheap_slices = true,
          .takes = takes_views,
          .fewest_slices = fewest_slices,
          .rows = rows_of_views,
          .choose = choose_views,
          .host_bytes = views_on_host,
          .worker_bytes = blocks_on_device,
          .request = darks_and_flats,
          .begin = begin_views};
}

}  // namespace tandem::pipeline
