#include "portions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../counts/weights.hpp"
#include "../../operators/distributed/rank_projector.hpp"
#include "../plan/rank_slabs.hpp"

namespace tandem::pipeline {

namespace {

/// The turns in which ranks prepare all views of some rows.
struct Turns {
  const Comm& ranks;
  const Scan& scan;
  Index prepared_rows;

  Index rows() const { return detector_of(scan).rows; }
  Index count() const { return ceil_div(rows(), prepared_rows * ranks.size()); }
  /// The rows that a rank prepares in a turn, perhaps none.
  Range rows_of(Index turn, int rank) const {
    const Index first = std::min(rows(), (turn * ranks.size() + rank) * prepared_rows);
    return {first, std::min(rows(), first + prepared_rows)};
  }
  Range views_of_rank(int rank) const { return portion_of_rank(views_of(scan), rank, ranks.size()); }
};

/// Gives each rank its views of the rows that this rank made in a turn, and receives this rank's views of all
/// rows.
void give_views(const Turns& all, Index turn, const Array* made, Array& own) {
  const Index bins = detector_of(all.scan).bins, views = all.views_of_rank(all.ranks.rank()).size();
  const auto rows_from = [&](int rank) { return all.rows_of(turn, rank); };
  const Index view_made = rows_from(all.ranks.rank()).size() * bins;
  exchange_all(all.ranks, {.block_for =
                               [&](int rank, std::vector<float>& block) {
                                 const Range theirs = all.views_of_rank(rank);
                                 block.resize(theirs.size() * view_made);
                                 if (made)
                                   std::copy_n(made->data() + theirs.first * view_made, block.size(),
                                               block.begin());
                               },
                           .size_from = [&](int rank) { return views * rows_from(rank).size() * bins; },
                           .take =
                               [&](int rank, const std::vector<float>& block) {
                                 const Range some = rows_from(rank);
                                 const Index size = some.size() * bins;
                                 for (Index view = 0; view < views; ++view)
                                   std::copy_n(block.data() + view * size, size,
                                               own.data() + (view * all.rows() + some.first) * bins);
                               }});
}

}  // namespace

LineIntegrals own_views(const Comm& ranks, const Scan& scan, Index prepared_rows, bool weighs,
                        const Space& projections, const PrepareRows& prepare) {
  const Turns all{ranks, scan, prepared_rows};
  const Space space = projections.on(Device::cpu());
  LineIntegrals own{Array(space), {0}};
  if (weighs) own.weights.emplace(space);
  double square = 0;
  for (Index turn = 0; turn < all.count(); ++turn) {
    std::optional<LineIntegrals> made;
    if (const Range rows = all.rows_of(turn, ranks.rank()); rows.size() > 0) made = prepare(rows);
    give_views(all, turn, made ? &made->y : nullptr, own.y);
    if (own.weights) give_views(all, turn, made ? &*made->weights : nullptr, *own.weights);
    if (made)
      for (const double norm : made->noise_norms) square += norm * norm;
  }
  ranks.all_reduce({&square, 1});
  own.noise_norms = {std::sqrt(square)};
  const Index first = all.views_of_rank(ranks.rank()).first;
  if (own.weights) own.weights = weights_of(std::move(*own.weights), first, views_of(scan), ranks);
  return own;
}

}  // namespace tandem::pipeline
