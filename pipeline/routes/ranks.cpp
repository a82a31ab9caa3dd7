#include <algorithm>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../../operators/distributed/rank_projector.hpp"
#include "../../operators/projector.hpp"
#include "../beams/beam.hpp"
#include "../memory/room.hpp"
#include "../methods/method.hpp"
#include "../methods/vector_bytes.hpp"
#include "../plan/grids.hpp"
#include "../plan/make_problem.hpp"
#include "../plan/rank_slabs.hpp"
#include "../stations/chunk.hpp"
#include "../stations/portions.hpp"
#include "../stations/prepare.hpp"
#include "routes.hpp"

namespace tandem::pipeline {

namespace {

bool takes_ranks(const Job&, const Recipe& recipe) { return !recipe.ranks.is_alone(); }

/// Chooses the lines of a part of a strip. A part is large enough for kernels and links, and small beside the
/// vectors of a large volume.
void choose_portions(Plan& plan) {
  constexpr Index bytes_of_part = 256 << 20, step = 8, blocks_a_rank = 4;
  auto& sizes = std::get<RankSizes>(plan.flow.sizes);
  const auto [nx, ny, nz] = plan.job.solved.size;
  const int ranks = plan.flow.shared.vectors.size();
  const Index together = lines_together(plan.job.scan),
              longest = portion_of_rank(ny, 0, ranks, together).size();
  const Index lines = std::min(longest, std::max(bytes_of_part / (4 * nx * nz), together));
  sizes.part_lines = lines > step && lines < longest ? lines - lines % step : lines;
  const Index rows = detector_of(plan.job.scan).rows, fair = ceil_div(rows, blocks_a_rank * ranks);
  sizes.prepared_rows = std::min(rows, std::max(fair, 2 * plan.job.margin.beside));
}

/// Chooses the flow: each rank has one device, which holds its portions. A method that is no solver has no
/// vectors to share.
void choose_ranks(Plan& plan, const Recipe& recipe, const io::ScanInfo& info) {
  plan.flow.shared.vectors = recipe.ranks;
  plan.flow.shared.queue = Comm();
  plan.flow.pair.placement = beam_of(plan.job.scan).over_ranks;
  require<GeometryError>(
      plan.job.method->iterates(), "ranks: ", plan.job.method_name(),
      " takes all slices of a cone beam at once, which one process does; start one, or give " +
          spelled("reconstruction-algorithm") + " fdk");
  choose_portions(plan);
  Room room(plan, recipe, info);
  room.choose_chunks(room.most_slices(), plan.job.grid.size[2]);
  room.note();
}

Index prepared_rows(const Plan& plan) { return std::get<RankSizes>(plan.flow.sizes).prepared_rows; }

/// The memory on the host, bytes. At first a rank holds the line integrals of the rows that it prepares, and
/// the blocks of them on their way. Later it holds the buffers for data from a GPU, its slices, and the
/// blocks of these on their way.
double bytes_of_portions(const Plan& plan, Index slices) {
  constexpr double landing = 128 * bytes_per_mib;  // buffers of a projector and of a gradient
  const double rows = 4.0 * (views_of(plan.job) * prepared_rows(plan) * bins_of(plan.job)),
               ranks = plan.flow.shared.vectors.size(), volume = vector_bytes(plan, slices).volume;
  return data_sets(plan.job) * rows + 2 * rows / ranks + (plan.flow.home().is_cuda() ? landing : 0) +
         volume * (1 + 2 / ranks);
}

double ranks_on_host(const Plan& plan, const io::ScanInfo& info, Index slices) {
  const double counts = counts_bytes(info, cells_read(plan, slices), views_of(plan.job));
  return bytes_of_whole(plan, info, slices, counts) + bytes_of_portions(plan, slices);
}

double bytes_of_rank(const Plan& plan, const Worker& worker, Index slices) {
  return std::max(preparing_bytes(plan, slices, views_of(plan.job)), computing_bytes(plan, worker, slices));
}

/// Collective. The line integrals of this rank's views.
LineIntegrals data_of_rank(const Space& projections, Work& work, ReadStation& read, PrepareStation& prepare) {
  const Job& job = work.plan.job;
  const double slices = job.grid.size[2];
  const auto make = [&](Range rows) {
    const Detector& d = detector_of(job.scan);
    const Scan scan = crop(job.scan, {0, job.views.size()}, rows, {0, d.bins});
    Counts counts = read.get({.rows = rows_around(job, rows),
                              .views = {0, job.views.size()},
                              .slices = {0, job.grid.size[2]},
                              .of_slices = slices * rows.size() / d.rows});
    LineIntegrals made = prepare.make(std::move(counts), scan, rows, work.device(), work);
    prepare.look_at(made.y, rows);
    made.y = work.moved_to(Device::cpu(), std::move(made.y));
    return made;
  };
  return own_views(work.plan.flow.shared.vectors, job.scan, prepared_rows(work.plan),
                   job.preprocessing.weights, projections, make);
}

/// Makes slices, and turns the strips of all ranks into slabs of whole slices, which files need.
Maker begin_ranks(Work& work, ReadStation& read, PrepareStation& prepare) {
  return [&, computation = work.plan.job.method->begin(work)](Chunk& chunk, const Stream&) {
    const Plan& plan = work.plan;
    const Problem problem =
        problem_of(plan, chunk.slices, plan.flow.workers[work.worker], [&work] { work.watch.again(); });
    std::optional<LineIntegrals> data;
    if (rows_of(plan, chunk.slices).size() > 0) data = data_of_rank(problem.A.range(), work, read, prepare);
    Array strip = computed(work, computation, problem, std::move(data), chunk.slices);
    const RankSlabs slabs(plan.flow.shared.vectors, plan.job);
    chunk.slices = slabs.own();
    Array slab = slabs.slab_of(work.moved_to(Device::cpu(), std::move(strip)));
    return cut_out(plan.job, 0, chunk.slices.size(), std::move(slab));
  };
}

}  // namespace

/// The route of slices that are one problem, if its vectors are split over several ranks.
Route ranks() {
  return {.name = "ranks",
          .sizes = RankSizes{},
          .one_problem = true,
          .takes = takes_ranks,
          .rows_made = [](const Plan& plan, Index) { return prepared_rows(plan); },
          .choose = choose_ranks,
          .host_bytes = ranks_on_host,
          .worker_bytes = bytes_of_rank,
          .waiting_bytes = bytes_waiting,
          .request = [](const Plan&, Range) { return std::optional<Request>(); },  // workers ask in turn
          .begin = begin_ranks};
}

}  // namespace tandem::pipeline
