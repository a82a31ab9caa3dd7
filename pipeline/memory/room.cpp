#include "room.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../methods/method.hpp"
#include "../methods/vector_bytes.hpp"
#include "../plan/chunks_due.hpp"
#include "budget.hpp"

namespace tandem::pipeline {

namespace {

/// The most slices, from `fewest` to `all`, whose bytes, by `bytes_of`, are within the budget. @throws
/// DoesNotFit if not even the fewest are
template <class Bytes>
Index most_within(Index fewest, Index all, double budget, const Bytes& bytes_of, const std::string& where,
                  const std::string& remedy) {
  Index slices = fewest;
  require<DoesNotFit>(bytes_of(slices) <= budget, where, ": ", slices == 1 ? "one slice" : "the volume",
                      slices == 1 ? " needs " : " at once needs ", in_gib(bytes_of(slices)),
                      ", the limit is ", in_gib(budget), "; give ", remedy);
  Index too_many = all + 1;  // bytes grow with the slices: halve what is between
  while (too_many - slices > 1) {
    const Index middle = slices + (too_many - slices) / 2;
    (bytes_of(middle) <= budget ? slices : too_many) = middle;
  }
  return slices;
}

/// Options that make vectors smaller. A solver has all that the rays see, however small the part that is
/// asked for.
std::string less_of(const Job& job) {
  return job.method->iterates()
             ? spelled("binning") + ", a larger " + spelled("voxel-size")
             : "a smaller " + spelled("size") + " or " + spelled("region") + ", " + spelled("binning");
}

}  // namespace

Room::Room(Plan& plan, const Recipe& recipe, const io::ScanInfo& info)
    : plan_(plan),
      recipe_(recipe),
      info_(info),
      held_(held_with_libraries(plan.flow.home().is_cuda())),
      budget_(host_budget(recipe)) {}

double Room::bytes(Index slices) const { return held_ + host_bytes(plan_, info_, slices); }

bool Room::fits(Index slices) const { return bytes(slices) <= budget_; }

bool Room::fits_devices(Index slices) const {
  return !plan_.flow.home().is_cuda() ||
         device_bytes(plan_, slices) <= device_budget(plan_.flow.active_devices, recipe_);
}

Index Room::most_slices() const {
  const Index all = plan_.job.grid.size[2], fewest = route_of(plan_.flow).fewest_slices(plan_.job);
  Index slices = all;
  if (plan_.flow.home().is_cuda())
    slices = most_within(
        fewest, all, device_budget(plan_.flow.active_devices, recipe_),
        [&](Index some) { return device_bytes(plan_, some); }, "memory of " + plan_.flow.home().name(),
        "a larger " + spelled("device-memory") + ", " + less_of(plan_.job) + ", " +
            (plan_.flow.pair.model == Model::fourier
                 ? spelled("model") + " pixel_driven"
                 : spelled("variant") + " alu " + spelled("precision") + " float32") +
            ", or " + spelled("device") + " cpu");
  slices = most_within(
      fewest, slices, budget_, [&](Index some) { return bytes(some); }, "memory",
      "a larger " + spelled("memory") + ", or " + less_of(plan_.job));
  if (slices == all) return all;
  return slices >= batch() ? slices - slices % batch()
                           : static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(slices)));
}

Index Room::slices_of_few_chunks(Index most, Index fewest) const {
  const Index all = plan_.job.grid.size[2], workers = plan_.flow.workers.size();
  return ceil_div(all, ceil_div(std::max(fewest, ceil_div(all, most)), workers) * workers);
}

void Room::choose_one_read(Index& part_slices) {
  part_slices = plan_.job.grid.size[2];
  if (!fits()) part_slices = 0;
}

void Room::choose_chunks(Index most, Index enough) {
  Flow& flow = plan_.flow;
  const Index all = plan_.job.grid.size[2], asked = recipe_.most_slices > 0 ? recipe_.most_slices : enough;
  flow.chunk_slices = std::max(std::min({most, asked, all}), route_of(flow).fewest_slices(plan_.job));
  if (const Index block = block_of_chunks(plan_); block <= flow.chunk_slices && flow.chunk_slices < all)
    flow.chunk_slices -= flow.chunk_slices % block;
  const std::size_t chunks = ceil_div(all, flow.chunk_slices);
  if (flow.workers.size() > chunks) flow.workers.resize(chunks, flow.workers.front());
}

void Room::note() {
  plan_.flow.memory.host = static_cast<std::size_t>(bytes(plan_.flow.chunk_slices));
  if (plan_.flow.home().is_cuda())
    plan_.flow.memory.device = static_cast<std::size_t>(device_bytes(plan_, plan_.flow.chunk_slices));
}

/// The sum over the workers that share a GPU, with what the filter takes for its batches. A CPU beside GPUs
/// is left out, since it has its own memory.
double device_bytes(const Plan& plan, Index slices) {
  constexpr double filter = 128 * bytes_per_mib;
  const bool circles = plan.job.options.fbp_filter.padding == Padding::circle;
  const double a_row = (circles ? 128.0 : 72.0) * bins_of(plan.job);  // its responses, if it is moved
  std::map<Device, double> of_device;
  for (const Worker& worker : plan.flow.workers)
    for (int k = 0; k < worker.device.members(); ++k)
      if (worker.device.is_cuda() == plan.flow.home().is_cuda())
        of_device[worker.device.member(k)] +=
            route_of(plan.flow).worker_bytes(plan, worker, slices) + filter + a_row * slices;
  double most = 0;
  for (const auto& [device, bytes] : of_device) most = std::max(most, bytes);
  return most + route_of(plan.flow).waiting_bytes(plan, slices);
}

}  // namespace tandem::pipeline
