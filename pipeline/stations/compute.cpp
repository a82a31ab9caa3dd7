#include "compute.hpp"

#include <utility>

#include "../../core/host_memory.hpp"

namespace tandem::pipeline {

ComputeStation::ComputeStation(Work work, PrepareStation& prepare, io::VolumeWriter* writer)
    : work_(std::move(work)),
      prepare_(prepare),
      writer_(writer),
      computation_(work_.plan.method->begin(work_)) {}

void ComputeStation::operator()(Chunk& chunk) {
  bring_home(volume_of(chunk), chunk);
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
  return computation_->volume(problem, std::move(data), chunk.slices);
}

/// From a GPU the volume goes where the writer wants it, if the writer says so.
void ComputeStation::bring_home(Array volume, Chunk& chunk) {
  const Device device = volume.space().device();
  const PinHostMemory pinned(device);
  float* there = device.is_cuda() && writer_ ? writer_->room(chunk.slices) : nullptr;
  if (there) {
    work_.copy_to({there, volume.space().on(Device::cpu())}, volume);
    chunk.volume = there;
    return;
  }
  chunk.own = work_.moved_to(Device::cpu(), std::move(volume));
  chunk.volume = chunk.own->data();
}

}  // namespace tandem::pipeline
