#include "rank_slabs.hpp"

#include <algorithm>
#include <span>

#include "../../operators/distributed/rank_projector.hpp"

namespace tandem::pipeline {

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

namespace {

Range lines_of_rank(const Plan& plan, int rank) {
  return portion_of_rank(plan.job.solved.size[1], rank, plan.flow.together.size());
}
/// Of those that are written.
Range slices_of_rank(const Plan& plan, int rank) {
  return portion_of_rank(plan.job.grid.size[2], rank, plan.flow.together.size());
}

}  // namespace

Range slab_of_rank(const Plan& plan) { return slices_of_rank(plan, plan.flow.together.rank()); }

namespace {

/// Of a volume, the lines of one rank in the slices of another one, x fastest: what goes from strip to slab,
/// or back.
std::size_t size_of_block(const Plan& plan, Range slices, Range lines) {
  return static_cast<std::size_t>(slices.size() * lines.size() * plan.job.solved.size[0]);
}

/// Where slices that are written begin in a strip of some lines.
Index place_in_strip(const Plan& plan, Range slices, Range lines) {
  return (plan.job.inside[2] + slices.first) * lines.size() * plan.job.solved.size[0];
}

/// Of a slab, the lines of a strip; `copy` gets the first value of each slice, there and in the block.
template <class Copy>
void for_each_slice(const Plan& plan, Range lines, const Copy& copy) {
  const auto [nx, ny, nz] = plan.job.solved.size;
  const Index size = lines.size() * nx;
  for (Index z = 0; z < slab_of_rank(plan).size(); ++z) copy((z * ny + lines.first) * nx, z * size, size);
}

}  // namespace

Array slab_of(const Plan& plan, const Array& strip) {
  const auto [nx, ny, nz] = plan.job.solved.size;
  const Range slices = slab_of_rank(plan), own = lines_of_rank(plan, plan.flow.together.rank());
  Array slab(Space({std::max<Index>(1, slices.size()), ny, nx}));
  exchange_all(
      plan.flow.together,
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
  const Range slices = slab_of_rank(plan), own = lines_of_rank(plan, plan.flow.together.rank());
  exchange_all(plan.flow.together,
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
