#include "compute.hpp"

#include <utility>

#include "../../core/host_memory.hpp"
#include "../finite.hpp"
#include "../gpu_voxels.hpp"

namespace tandem::pipeline {

ComputeStation::ComputeStation(Work work, PrepareStation& prepare, io::VolumeWriter* writer, bool may_store)
    : work_(std::move(work)),
      stream_(work_.device()),
      prepare_(prepare),
      writer_(writer),
      may_store_(may_store && work_.device().is_cuda() && writer && writer->takes_stored()),
      computation_(work_.plan.method->begin(work_)) {}

void ComputeStation::operator()(Chunk& chunk) {
  const UseStream own(stream_);
  Array volume = volume_of(chunk);
  require_finite(work_.plan, chunk.slices, volume);
  bring_home(std::move(volume), chunk);
  work_.watch.computed(work_.worker, static_cast<double>(chunk.slices.size()));
}

Array ComputeStation::volume_of(Chunk& chunk) {
  const Plan& plan = work_.plan;
  const PinHostMemory pinned(plan.tiled ? plan.devices.front() : Device::cpu());
  std::optional<LineIntegrals> data = prepare_(chunk, work_);
  const Problem problem =
      problem_of(plan, chunk.slices, plan.workers[work_.worker], [this] { work_.watch.again(); });
  if (plan.rows.size() == 0) return Array(problem.A.domain().on(Device::cpu()));  // no ray meets it
  if (data) data->y = work_.moved_to(work_.device(), std::move(data->y));
  if (data && data->weights) data->weights = work_.moved_to(work_.device(), std::move(*data->weights));
  return computation_->volume(problem, std::move(data), chunk.slices);
}

/// From a GPU the volume goes where the writer wants it, if the writer says so.
void ComputeStation::bring_home(Array volume, Chunk& chunk) {
  const Device device = volume.space().device();
  const PinHostMemory pinned(device);
  chunk.stored = nullptr;
  if (may_store_ && device.is_cuda() && bring_stored(volume, chunk)) return;
  if (std::byte* there = device.is_cuda() && writer_ ? writer_->room(chunk.slices) : nullptr) {
    chunk.volume = reinterpret_cast<float*>(there);
    work_.copy_to(there, volume, 4 * volume.size());
    return;
  }
  chunk.own = work_.moved_to(Device::cpu(), std::move(volume));
  chunk.volume = chunk.own->data();
}

/// Whether the volume came as the writer stores it.
bool ComputeStation::bring_stored(const Array& volume, Chunk& chunk) {
  const std::optional<StoredVoxels> stored = stored_on_gpu(volume, *writer_->takes_stored());
  if (!stored) return false;
  std::byte* there = writer_->room(chunk.slices);
  if (!there) {
    chunk.own.emplace(stored->memory.space().on(Device::cpu()), default_stream(Device::cpu()));
    there = reinterpret_cast<std::byte*>(chunk.own->data());
  }
  work_.copy_to(there, stored->memory, stored->bytes);
  chunk.stored = there, chunk.clipped = stored->clipped;
  return true;
}

}  // namespace tandem::pipeline
