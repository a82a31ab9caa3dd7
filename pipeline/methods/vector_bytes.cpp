#include "vector_bytes.hpp"

#include <algorithm>

#include "../../core/ceil_div.hpp"
#include "../../operators/distributed/rank_projector.hpp"
#include "../../operators/projector.hpp"
#include "../beams/placement.hpp"
#include "../beams/row_axes.hpp"
#include "../plan/grids.hpp"
#include "../plan/route.hpp"
#include "method.hpp"

namespace tandem::pipeline {

namespace {

/// The number of slices on which the method works to make `slices` slices.
Index slices_solved(const Job& job, Index slices) { return solved_slices(job, {0, slices}).size(); }

/// The most views, or lines, that a rank has of `count`.
Index portion(const Flow& flow, Index count, Index together = 1) {
  return portion_of_rank(count, 0, flow.shared.vectors.size(), together).size();
}

/// The memory of kernels, and of the parts of strips on their way between ranks, on each device of a worker.
WorkingMemory kernels_of(const Plan& plan, const Worker& worker, Index slices) {
  const auto [nx, ny, nz] = plan.job.solved.size;
  const auto* ranks = std::get_if<RankSizes>(&plan.flow.sizes);
  const Index lines = ranks ? ranks->part_lines : ny;
  const WorkingMemory kernels = plan.flow.pair.placement->working_memory(
      plan, worker, {slices_solved(plan.job, slices), lines, nx},
      {views_of_share(plan, worker), rows_held(plan, slices), bins_of(plan.job)});
  return ranks ? working_memory_of_rank(kernels, 4.0 * (lines * nx * nz)) : kernels;
}

}  // namespace

Index views_of(const Job& job) { return views_of(job.scan); }

Index bins_of(const Job& job) {
  const Index solved = job.method->iterates() ? detector_of(solved_scan(job.scan, job.solved)).bins : 0,
              filtered = job.filtered.detector.bins;
  return std::max(solved, filtered);
}

Index slices_or_all_rows(const Plan& plan, Index slices) {
  const Job& job = plan.job;
  if (rows_are_slices(job.scan)) return slices;
  return std::max(detector_of(job.scan).rows, job.filtered.detector.rows);
}

Index rows_held(const Plan& plan, Index slices) { return route_of(plan.flow).rows_held(plan, slices); }

VectorBytes vector_bytes(const Plan& plan, Index slices) {
  const Job& job = plan.job;
  const auto lines = [&, together = lines_together(job.scan)](const VolumeGrid& grid) {
    return portion(plan.flow, grid.size[1], together);
  };
  return {4.0 * (portion(plan.flow, views_of(job)) * rows_held(plan, slices) * bins_of(job)),
          4.0 * (slices_solved(job, slices) * job.solved.size[0] * lines(job.solved)),
          4.0 * (slices * job.grid.size[0] * lines(job.grid))};
}

Index views_of_share(const Plan& plan, const Worker& worker) {
  return ceil_div<Index>(portion(plan.flow, views_of(plan.job)), worker.device.members());
}

double weight_bytes(const Plan& plan, Index slices) {
  const Job& job = plan.job;
  const Index cells = rows_held(plan, slices) * bins_of(job);
  if (rows_are_slices(job.scan)) return half_acquisition(job.scan) ? 4.0 * cells : 0;
  const bool circles = job.options.fbp_filter.padding == Padding::circle;  // with rows three times as long
  return 4.0 * ((circles ? 2 : 1) * views_of(job) * bins_of(job) + (circles ? 4 : 1) * cells);
}

double data_sets(const Job& job) {
  return job.preprocessing.weights || noise_is_scaled(job.preprocessing) ? 2 : 1;
}

double kernels_of_block(const Plan& plan, const Worker& worker, Index slices, Index views) {
  const Job& job = plan.job;
  return plan.flow.pair.placement
      ->working_memory(plan, worker, {slices, job.grid.size[1], job.grid.size[0]},
                       {views, rows_held(plan, slices), job.filtered.detector.bins})
      .backward;
}

double computing_bytes(const Plan& plan, const Worker& worker, Index slices) {
  const Job& job = plan.job;
  const auto [all_projections, volume, written] = vector_bytes(plan, slices);
  const double projections =
      all_projections / portion(plan.flow, views_of(job)) * views_of_share(plan, worker);
  const WorkingMemory kernels = kernels_of(plan, worker, slices);
  // the weights of the bins of moved rows, and two vectors while they are weighted
  const double weights = job.method->iterates() && has_row_axes(job.scan) ? 3 : 0;
  // the memory of one phase is kept for the same phase of the next chunk
  double sets = 0, volumes = 0, beside = 0;
  const bool may_run_away =
      job.method->iterates() && !plan.flow.pair.matched;  // then the best volume is kept too
  for (const Holding& held : job.method->holds_with(job.options)) {
    const bool only_filters = !held.projects && !held.back_projects;
    if (only_filters && plan.flow.pair.model == Model::fourier) continue;  // this model filters itself
    sets = std::max<double>(sets, held.projections);
    volumes = std::max<double>(volumes, held.volumes + may_run_away);
    beside = std::max(
        beside, std::max(held.projects ? kernels.forward : 0, held.back_projects ? kernels.backward : 0));
  }
  return weight_bytes(plan, slices) + (sets + weights) * projections + volumes * volume + beside;
}

}  // namespace tandem::pipeline
