#include "compute.hpp"

#include <utility>

namespace tandem::pipeline {

ComputeStation::ComputeStation(const Plan& plan, Watch& watch, Outcome& outcome, bool any_external)
    : work_{plan, watch, outcome, any_external, seconds_now()}, computation_(plan.method->begin(work_)) {}

void ComputeStation::operator()(Chunk& chunk) {
  const Plan& plan = work_.plan;
  const PinArrays pinned(plan.tiled ? plan.devices.front() : Device::cpu());
  const Problem problem = problem_of(plan, chunk.slices, [this] { work_.watch.again(); });
  if (plan.rows.size() == 0) {
    chunk.volume.emplace(problem.A.domain().on(Device::cpu()));  // no ray meets it
  } else {
    std::optional<LineIntegrals> data = std::exchange(chunk.data, {});
    if (data) data->y = work_.moved_to(plan.home(), std::move(data->y));
    chunk.volume = computation_->volume(problem, std::move(data), chunk.slices);
  }
  work_.watch.computing({"", static_cast<double>(chunk.slices.last)});
}

}  // namespace tandem::pipeline
