#include "portions.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../counts/weights.hpp"
#include "../plan/rank_slabs.hpp"

namespace tandem::pipeline {

namespace {

/// The rows that a rank prepares in a turn, perhaps none.
Range rows_of_turn(const Plan& plan, Index turn, int rank) {
  const Index all = detector_of(plan.job.scan).rows,
              first = std::min(all, (turn * plan.flow.together.size() + rank) * plan.flow.rows_prepared);
  return {first, std::min(all, first + plan.flow.rows_prepared)};
}

/// Gives each rank its views of the rows that this rank made in a turn, and takes its own of all rows.
void give_views(const Plan& plan, Index turn, const Array* made, Array& own) {
  const Index bins = detector_of(plan.job.scan).bins, rows = detector_of(plan.job.scan).rows;
  const Index views = views_of_rank(plan.job, plan.flow, plan.flow.together.rank()).size();
  const auto rows_from = [&](int rank) { return rows_of_turn(plan, turn, rank); };
  const Index made_rows = rows_from(plan.flow.together.rank()).size();
  exchange_all(
      plan.flow.together,
      {.block_for =
           [&](int rank, std::vector<float>& block) {
             const Range theirs = views_of_rank(plan.job, plan.flow, rank);
             const Index view = made_rows * bins;
             block.resize(static_cast<std::size_t>(theirs.size() * view));
             if (made) std::copy_n(made->data() + theirs.first * view, block.size(), block.begin());
           },
       .size_from = [&](int rank) { return static_cast<std::size_t>(views * rows_from(rank).size() * bins); },
       .take =
           [&](int rank, const std::vector<float>& block) {
             const Range some = rows_from(rank);
             const Index size = some.size() * bins;
             for (Index view = 0; view < views; ++view)
               std::copy_n(block.data() + view * size, size, own.data() + (view * rows + some.first) * bins);
           }});
}

}  // namespace

LineIntegrals own_views(const Plan& plan, const Space& projections, const PrepareRows& prepare) {
  const Space space = projections.on(Device::cpu());
  LineIntegrals own{Array(space), {0}};
  if (plan.job.preprocessing.weights) own.weights.emplace(space);
  double square = 0;
  const Index turns =
      ceil_div(detector_of(plan.job.scan).rows, plan.flow.rows_prepared * plan.flow.together.size());
  for (Index turn = 0; turn < turns; ++turn) {
    std::optional<LineIntegrals> made;
    if (const Range rows = rows_of_turn(plan, turn, plan.flow.together.rank()); rows.size() > 0)
      made = prepare(rows);
    give_views(plan, turn, made ? &made->y : nullptr, own.y);
    if (own.weights) give_views(plan, turn, made ? &*made->weights : nullptr, *own.weights);
    if (made)
      for (const double norm : made->noise_norms) square += norm * norm;
  }
  plan.flow.together.all_reduce({&square, 1});
  own.noise_norms = {std::sqrt(square)};
  const Index views = views_of(plan.job.scan);
  if (own.weights)
    own.weights = weights_of(std::move(*own.weights),
                             views_of_rank(plan.job, plan.flow, plan.flow.together.rank()).first, views,
                             plan.flow.together);
  return own;
}

}  // namespace tandem::pipeline
