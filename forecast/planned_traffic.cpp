#include "planned_traffic.hpp"

#include "cluster.hpp"

namespace tandem::pipeline {

PlannedTraffic planned_traffic(const Method& method, const MethodOptions& options, const VolumeGrid& grid,
                               int rank, int ranks) {
  const auto subsets = static_cast<int>(method.subsets ? options.subsets.value_or(1) : 1);
  const int of_fbp = options.initial == Initial::fbp ? (options.stop_by_gcv ? 2 : 1) : 0;
  const auto strips = [&](const Applications& some) { return bytes_sent(some, grid, rank, ranks); };
  return {strips(subsets * method.preparation_with(options) + Applications{0, of_fbp}),
          strips(subsets * method.step_with(options)) +
              bytes_sent_by_gradients(method.cost.of_regulariser, grid, rank, ranks)};
}

}  // namespace tandem::pipeline
