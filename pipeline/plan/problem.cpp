#include "problem.hpp"

#include <algorithm>
#include <numeric>

#include "../../operators/fbp.hpp"
#include "../beams/placement.hpp"
#include "../beams/row_axes.hpp"
#include "../methods/method.hpp"
#include "grids.hpp"

namespace tandem::pipeline {

Range places_within(std::span<const Index> views, Range own) {
  const auto place = [&](Index view) { return std::ranges::lower_bound(views, view) - views.begin(); };
  return {place(own.first), place(own.last)};
}

Scan scan_of(const Plan& plan, Range slices) {
  const Range rows = rows_of(plan, slices);
  return rows.size() == 0 ? plan.job.scan : of_rows_needed(plan.job.scan, rows);
}

Problem problem_of(const Plan& plan, Range slices, const Worker& worker,
                   const std::function<void()>& on_tile) {
  Scan scan = scan_of(plan, slices);
  const VolumeGrid& all = plan.job.solved;
  const VolumeGrid grid = region(all, {0, all.size[0]}, {0, all.size[1]}, solved_slices(plan.job, slices));
  const Range own = own_views(plan.job.scan, plan.flow.together);
  const Flow& flow = plan.flow;
  const Scan seen = plan.job.method->iterates() ? solved_scan(scan, grid) : scan;
  LinearOperator A = flow.placement->projector(flow, worker, seen, own, grid, on_tile);
  const auto of_views = [&flow, worker, seen, own, grid, on_tile](std::span<const Index> views) {
    return flow.placement->projector(flow, worker, with_views(seen, views), places_within(views, own), grid,
                                     on_tile);
  };
  return {std::move(scan), grid, std::move(A), worker, own, of_views};
}

Subsets Equations::in_subsets(Index count) const {
  if (subsets) return subsets(count);
  std::vector<Index> all(A.range().shape()[0]);
  std::iota(all.begin(), all.end(), Index{0});
  return {{A}, {std::move(all)}};
}

bool has_row_axes(const Scan& scan) { return !row_axes_of(scan).empty(); }

bool are_alike(const Problem& a, const Problem& b) {
  const bool apart = rows_are_slices(a.scan) && !has_row_axes(a.scan) && !has_row_axes(b.scan);
  return a.A.domain() == b.A.domain() && a.A.range() == b.A.range() &&
         (apart || a.grid.centre == b.grid.centre);
}

}  // namespace tandem::pipeline
