#include "portions.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../counts/weights.hpp"
#include "../../operators/distributed/rank_projector.hpp"

namespace tandem::pipeline {

namespace {

/// Each rank gets a block of values of each other one. `block_for`: what this rank has for another one;
/// `take`: puts what another one sent, of `size_from` values, into its place.
struct Exchange {
  std::function<void(int rank, std::vector<float>& block)> block_for;
  std::function<std::size_t(int rank)> size_from;
  std::function<void(int rank, const std::vector<float>& block)> take;
};

void exchange_all(const Comm& ranks, const Exchange& how) {
  std::vector<float> out, in;
  for (int k = 0; k < ranks.size(); ++k) {
    const int to = (ranks.rank() + k) % ranks.size(), from = (ranks.rank() + ranks.size() - k) % ranks.size();
    how.block_for(to, out);
    if (k == 0) {
      how.take(from, out);
      continue;
    }
    in.resize(how.size_from(from));
    ranks.exchange(std::as_bytes(std::span(out)), to, std::as_writable_bytes(std::span(in)), from);
    how.take(from, in);
  }
}

Range lines_of_rank(const Plan& plan, int rank) {
  return portion_of_rank(plan.solved.size[1], rank, plan.ranks.size());
}
/// Of those that are written.
Range slices_of_rank(const Plan& plan, int rank) {
  return portion_of_rank(plan.grid.size[2], rank, plan.ranks.size());
}

/// The rows that a rank prepares in a turn, perhaps none.
Range rows_of_turn(const Plan& plan, Index turn, int rank) {
  const Index all = detector_of(plan.scan).rows,
              first = std::min(all, (turn * plan.ranks.size() + rank) * plan.rows_prepared);
  return {first, std::min(all, first + plan.rows_prepared)};
}

/// Gives each rank its views of the rows that this rank made in a turn, and takes its own of all rows.
void give_views(const Plan& plan, Index turn, const Array* made, Array& own) {
  const Index bins = detector_of(plan.scan).bins, rows = detector_of(plan.scan).rows;
  const Index views = plan.own_views().size();
  const auto rows_from = [&](int rank) { return rows_of_turn(plan, turn, rank); };
  const Index made_rows = rows_from(plan.ranks.rank()).size();
  exchange_all(
      plan.ranks,
      {.block_for =
           [&](int rank, std::vector<float>& block) {
             const Range theirs = plan.views_of_rank(rank);
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
  if (plan.preprocessing.weights) own.weights.emplace(space);
  double square = 0;
  const Index turns = ceil_div(detector_of(plan.scan).rows, plan.rows_prepared * plan.ranks.size());
  for (Index turn = 0; turn < turns; ++turn) {
    std::optional<LineIntegrals> made;
    if (const Range rows = rows_of_turn(plan, turn, plan.ranks.rank()); rows.size() > 0) made = prepare(rows);
    give_views(plan, turn, made ? &made->y : nullptr, own.y);
    if (own.weights) give_views(plan, turn, made ? &*made->weights : nullptr, *own.weights);
    if (made)
      for (const double norm : made->noise_norms) square += norm * norm;
  }
  plan.ranks.all_reduce({&square, 1});
  own.noise_norms = {std::sqrt(square)};
  const auto views = static_cast<Index>(angles_of(plan.scan).size());
  if (own.weights)
    own.weights = weights_of(std::move(*own.weights), plan.own_views().first, views, plan.ranks);
  return own;
}

Range slab_of_rank(const Plan& plan) { return slices_of_rank(plan, plan.ranks.rank()); }

namespace {

/// Of a volume, the lines of one rank in the slices of another one, x fastest: what goes from strip to slab,
/// or back.
std::size_t size_of_block(const Plan& plan, Range slices, Range lines) {
  return static_cast<std::size_t>(slices.size() * lines.size() * plan.solved.size[0]);
}

/// Where slices that are written begin in a strip of some lines.
Index place_in_strip(const Plan& plan, Range slices, Range lines) {
  return (plan.inside[2] + slices.first) * lines.size() * plan.solved.size[0];
}

/// Of a slab, the lines of a strip; `copy` gets the first value of each slice, there and in the block.
template <class Copy>
void for_each_slice(const Plan& plan, Range lines, const Copy& copy) {
  const auto [nx, ny, nz] = plan.solved.size;
  const Index size = lines.size() * nx;
  for (Index z = 0; z < slab_of_rank(plan).size(); ++z) copy((z * ny + lines.first) * nx, z * size, size);
}

}  // namespace

Array slab_of(const Plan& plan, const Array& strip) {
  const auto [nx, ny, nz] = plan.solved.size;
  const Range slices = slab_of_rank(plan), own = lines_of_rank(plan, plan.ranks.rank());
  Array slab(Space({std::max<Index>(1, slices.size()), ny, nx}));
  exchange_all(
      plan.ranks,
      {.block_for =
           [&](int rank, std::vector<float>& block) {
             const Range theirs = slices_of_rank(plan, rank);
             block.resize(size_of_block(plan, theirs, own));
             std::copy_n(strip.data() + place_in_strip(plan, theirs, own), block.size(), block.begin());
           },
       .size_from = [&](int rank) { return size_of_block(plan, slices, lines_of_rank(plan, rank)); },
       .take =
           [&](int rank, const std::vector<float>& block) {
             for_each_slice(plan, lines_of_rank(plan, rank), [&](Index there, Index here, Index size) {
               std::copy_n(block.data() + here, size, slab.data() + there);
             });
           }});
  return slab;
}

void strip_of(const Plan& plan, const Array& slab, Array& strip) {
  const Range slices = slab_of_rank(plan), own = lines_of_rank(plan, plan.ranks.rank());
  exchange_all(plan.ranks,
               {.block_for =
                    [&](int rank, std::vector<float>& block) {
                      const Range theirs = lines_of_rank(plan, rank);
                      block.resize(size_of_block(plan, slices, theirs));
                      for_each_slice(plan, theirs, [&](Index there, Index here, Index size) {
                        std::copy_n(slab.data() + there, size, block.data() + here);
                      });
                    },
                .size_from = [&](int rank) { return size_of_block(plan, slices_of_rank(plan, rank), own); },
                .take =
                    [&](int rank, const std::vector<float>& block) {
                      const Range theirs = slices_of_rank(plan, rank);
                      std::copy_n(block.data(), block.size(),
                                  strip.data() + place_in_strip(plan, theirs, own));
                    }});
}

}  // namespace tandem::pipeline
