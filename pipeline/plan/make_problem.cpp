#include "make_problem.hpp"

#include <utility>

#include "../../operators/fbp.hpp"
#include "../beams/placement.hpp"
#include "../beams/row_axes.hpp"
#include "../methods/method.hpp"
#include "grids.hpp"

namespace tandem::pipeline {

Scan scan_of(const Plan& plan, Range slices) {
  const Range rows = rows_of(plan, slices);
  return rows.size() == 0 ? plan.job.scan : of_rows_needed(plan.job.scan, rows);
}

Problem problem_of(const Plan& plan, Range slices, const Worker& worker,
                   const std::function<void()>& on_tile) {
  Scan scan = scan_of(plan, slices);
  const VolumeGrid& all = plan.job.solved;
  const VolumeGrid grid = region(all, {0, all.size[0]}, {0, all.size[1]}, solved_slices(plan.job, slices));
  const Range own = own_views(plan.job.scan, plan.flow.shared.vectors);
  const Flow& flow = plan.flow;
  const Scan seen = plan.job.method->iterates() ? solved_scan(scan, grid) : scan;
  LinearOperator A = flow.pair.placement->projector(flow, worker, seen, own, grid, on_tile);
  const auto of_views = [&flow, worker, seen, own, grid, on_tile](std::span<const Index> views) {
    return flow.pair.placement->projector(flow, worker, with_views(seen, views), places_within(views, own),
                                          grid, on_tile);
  };
  return {std::move(scan), grid, std::move(A), worker, own, of_views};
}

}  // namespace tandem::pipeline
