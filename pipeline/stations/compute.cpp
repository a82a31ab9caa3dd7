#include "compute.hpp"

#include <utility>

namespace tandem::pipeline {

ComputeStation::ComputeStation(Work work, PrepareStation& prepare)
    : work_(std::move(work)), prepare_(prepare), computation_(work_.plan.method->begin(work_)) {}

void ComputeStation::operator()(Chunk& chunk) {
  chunk.volume = volume_of(chunk);
  work_.watch.computed(work_.worker, static_cast<double>(chunk.slices.size()));
}

Array ComputeStation::volume_of(Chunk& chunk) {
  const Plan& plan = work_.plan;
  const PinArrays pinned(plan.tiled ? plan.devices.front() : Device::cpu());
  std::optional<LineIntegrals> data = prepare_(chunk, work_);
  const Problem problem =
      problem_of(plan, chunk.slices, plan.workers[work_.worker], [this] { work_.watch.again(); });
  if (plan.rows.size() == 0) return Array(problem.A.domain().on(Device::cpu()));  // no ray meets it
  if (data) data->y = work_.moved_to(work_.device(), std::move(data->y));
  return computation_->volume(problem, std::move(data), chunk.slices);
}

}  // namespace tandem::pipeline
