#include "helper.hpp"

#include <algorithm>

#include "../../core/desk.hpp"
#include "../../core/rounding.hpp"
#include "../../core/spelled.hpp"
#include "../../operators/hierarchical.hpp"
#include "../methods/method.hpp"
#include "chunks_due.hpp"
#include "warn.hpp"

namespace tandem::pipeline {

namespace {

bool is_cuda(Device device) { return device.is_cuda(); }

/// Whether a helper would take a chunk of one slice at the start, when every other worker has one chunk.
bool has_enough_chunks(const Plan& plan) {
  const std::vector<double> sizes = sizes_for_helper(plan, chunks_due(plan, {}));
  const std::size_t place = first_chunk_for_helper(plan);
  if (sizes.size() <= place + 1) return false;
  const std::vector<double> begun(plan.flow.workers.size() - 1, sizes.front());
  return helper_takes(std::span(sizes).subspan(place), Desk::believed, 1, begun);
}

}  // namespace

std::vector<Device> devices_for(const Scan& scan, std::vector<Device> devices) {
  const auto first_cpu = std::stable_partition(devices.begin(), devices.end(), is_cuda);
  if (first_cpu == devices.begin() || first_cpu == devices.end()) return devices;
  devices.erase(rows_are_slices(scan) ? first_cpu + 1 : first_cpu, devices.end());
  return devices;
}

std::string lacking_on_gpus(const Job& job, const Recipe& recipe) {
  if (is_curved(job.scan) && !job.method->filters) return "projector for a curved detector";
  if (recipe.model == Model::hierarchical && hierarchical_accuracy(recipe.execution) != 0)
    return "another accuracy of the hierarchical model";
  return "";
}

std::optional<Worker> without_helper(Plan& plan) {
  if (!plan.flow.home().is_cuda() || plan.flow.workers.back().device.is_cuda()) return {};
  const Worker helper = plan.flow.workers.back();
  plan.flow.workers.pop_back();
  plan.flow.active_devices.pop_back();
  return helper;
}

void add_helper(Plan& plan, Worker helper, int threads, const std::function<bool()>& fits) {
  helper.threads = threads - int_of(plan.flow.workers.size()) - 2;
  if (helper.threads < 1)
    return warn(plan.warnings, "the CPU does not help: ", threads,
                " threads are no more than reading, writing and GPUs need; give " + spelled("device") +
                    " cuda, or more threads");
  plan.flow.workers.push_back(helper);
  plan.flow.active_devices.push_back(helper.device);
  const bool enough = has_enough_chunks(plan);
  if (enough && fits()) return;
  warn(plan.warnings, "the CPU does not help: ",
       enough ? "memory has no room for its chunk; give more " + spelled("memory")
              : "GPUs may be done with all slices before it is done with one; give " + spelled("device") +
                    " cuda");
  without_helper(plan);
}

std::vector<double> sizes_for_helper(const Plan& plan, const std::vector<Range>& chunks) {
  std::vector<double> sizes;
  if (plan.flow.helper())
    for (const Range chunk : chunks) sizes.push_back(chunk.size());
  return sizes;
}

}  // namespace tandem::pipeline
