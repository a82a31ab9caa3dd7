#include "start.hpp"

#include <algorithm>
#include <utility>

#include "../../core/spelled.hpp"
#include "../plan/grids.hpp"
#include "../plan/rank_slabs.hpp"

namespace tandem::pipeline {

Start::Start(Work& work) : work_(work), fbp_(work) {
  const Recipe& options = work.plan.job.options;
  if (options.initial == Initial::file)
    file_ = open_on_grid(work.plan.job.place(), options.initial_file, spelled("initial"), work.any_external);
}

Array Start::operator()(const Problem& problem, const Array& y, Range slices) {
  const bool given = work_.beside.onlooker && !work_.beside.onlooker->start.empty();
  if (!given && work_.plan.job.options.initial == Initial::fbp)
    return fbp_.back_projected(problem, fbp_.filtered(problem, y.clone()), slices);
  if (!given && !file_) return Array(problem.A.domain());
  Array x(problem.A.domain().on(Device::cpu()));
  if (!work_.plan.flow.shared.vectors.is_alone())
    read_strip(x);
  else
    read(slices, first_written(work_.plan.job, slices), x);
  return work_.moved_to(work_.device(), std::move(x));
}

/// Reads the initial volume from the onlooker or the file.
void Start::read_written(Range slices, float* to) {
  const Onlooker* onlooker = work_.beside.onlooker;
  if (!onlooker || onlooker->start.empty()) return file_->read(slices, to);
  const Index area = work_.plan.job.grid.size[0] * work_.plan.job.grid.size[1];
  std::copy_n(onlooker->start.data() + slices.first * area, slices.size() * area, to);
}

/// Reads slices into a volume of zeros on the solved grid. The file has the grid that is written.
void Start::read(Range slices, Index first, Array& x) {
  const Plan& plan = work_.plan;
  if (plan.job.solved.size == plan.job.grid.size) return read_written(slices, x.data());
  Array part(Space({slices.size(), plan.job.grid.size[1], plan.job.grid.size[0]}));
  read_written(slices, part.data());
  put_in(plan.job, first, part, x);
}

/// Reads the strip of this rank. Since files have whole slices, each rank reads a slab, and gives each other
/// rank its lines.
void Start::read_strip(Array& x) {
  const auto [nx, ny, nz] = work_.plan.job.solved.size;
  const RankSlabs slabs(work_.plan.flow.shared.vectors, work_.plan.job);
  const Range slices = slabs.own();
  Array slab(Space({std::max<Index>(1, slices.size()), ny, nx}));
  if (slices.size() > 0) read(slices, 0, slab);
  slabs.strip_of(slab, x);
}

}  // namespace tandem::pipeline
