#include "written_volume.hpp"

#include <algorithm>

#include "../plan/grids.hpp"
#include "../plan/rank_slabs.hpp"

namespace tandem::pipeline {

namespace {

/// Reads slices, and puts them into a volume on the solved grid, from slice `first` of it on.
void read_slab(const Job& job, Range slices, Index first, const ReadSlices& read, Array& x) {
  if (job.solved.size == job.grid.size) return read(slices, x.data());
  Array part(Space({slices.size(), job.grid.size[1], job.grid.size[0]}));
  read(slices, part.data());
  put_in(job, first, part, x);
}

}  // namespace

void read_into(const Work& work, Range slices, const ReadSlices& read, float beyond, Array& x) {
  const Job& job = work.plan.job;
  const Comm& ranks = work.plan.flow.shared.vectors;
  if (ranks.is_alone()) return read_slab(job, slices, first_written(job, slices), read, x);
  const auto [nx, ny, nz] = job.solved.size;
  const RankSlabs slabs(ranks, job);
  const Range own = slabs.own();
  Array slab(Space({std::max<Index>(1, own.size()), ny, nx}));
  std::fill_n(slab.data(), slab.size(), beyond);
  if (own.size() > 0) read_slab(job, own, 0, read, slab);
  slabs.strip_of(slab, x);
}

}  // namespace tandem::pipeline
