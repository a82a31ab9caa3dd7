#include "compute.hpp"

#include <utility>

#include "../../core/host_memory.hpp"
#include "../finite.hpp"
#include "../plan/grids.hpp"
#include "portions.hpp"

namespace tandem::pipeline {

ComputeStation::ComputeStation(Work work, ReadStation& read, PrepareStation& prepare,
                               io::VolumeWriter* writer, bool may_store)
    : work_(std::move(work)),
      stream_(work_.device()),
      read_(read),
      prepare_(prepare),
      landing_(work_, writer, may_store) {
  if (work_.plan.by_views())
    sweep_ = std::make_unique<Sweep>(work_, read, prepare);
  else
    computation_ = work_.plan.method->begin(work_);
}

/// From a GPU a few slices that are apart come home at once. Larger volumes come with the station that
/// follows, a few slices at a time, while the next one is made.
void ComputeStation::operator()(Chunk& chunk) {
  const UseStream own(stream_);
  Array volume = volume_of(chunk);
  chunk.stored = nullptr;
  const Index first = work_.plan.over_ranks() ? 0 : first_written(work_.plan, chunk.slices);
  if (work_.plan.over_ranks()) volume = own_slab(chunk, std::move(volume));
  volume = cut_out(work_.plan, first, chunk.slices.size(), std::move(volume));
  if (chunk.slices.size() == 0) return;
  require_finite(work_.plan, chunk.slices, volume);
  const Device device = volume.space().device();
  const double bytes = 4 * static_cast<double>(volume.size());
  if (device.is_cuda() && rows_are_slices(work_.plan.scan) && bytes <= bytes_landed_whole) {
    landing_.bring(volume.data(), device, chunk);
  } else {
    chunk.own = std::move(volume);
    chunk.volume = ConstVectorView(*chunk.own).share(0).data;
  }
  work_.outcome.slices += chunk.slices.size();
  work_.watch.computed(work_.worker, static_cast<double>(chunk.slices.size()));
}

/// Strips of all ranks become slabs of whole slices, which files have.
Array ComputeStation::own_slab(Chunk& chunk, Array strip) {
  chunk.slices = slab_of_rank(work_.plan);
  return slab_of(work_.plan, work_.moved_to(Device::cpu(), std::move(strip)));
}

Array ComputeStation::volume_of(Chunk& chunk) {
  const Plan& plan = work_.plan;
  const PinHostMemory pinned(plan.tiled ? plan.devices.front() : Device::cpu());
  std::optional<LineIntegrals> data;
  if (!sweep_ && !plan.over_ranks()) data = prepare_(chunk, read_, work_);
  const Problem problem =
      problem_of(plan, chunk.slices, plan.workers[work_.worker], [this] { work_.watch.again(); });
  if (!chunk.is_met) return Array(problem.A.domain());  // by any ray
  if (plan.over_ranks()) data = prepare_.of_own_views(chunk, problem.A.range(), read_, work_);
  if (sweep_) return (*sweep_)(problem, chunk, stream_);
  data->y = work_.moved_to(work_.device(), std::move(data->y));
  if (data->weights) data->weights = work_.moved_to(work_.device(), std::move(*data->weights));
  return computation_->volume(problem, std::move(*data), chunk.slices);
}

Outcome ComputeStation::outcome() const {
  Outcome all = work_.outcome;
  all.add(landing_.outcome());
  return all;
}

}  // namespace tandem::pipeline
