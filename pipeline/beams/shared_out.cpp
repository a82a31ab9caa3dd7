#include "shared_out.hpp"

#include "placement.hpp"

namespace tandem::pipeline {

std::string vectors(const Flow& flow) { return flow.pair.placement->words(flow); }
bool in_tiles(const Flow& flow) { return flow.pair.placement->in_tiles; }

std::string vectors_on_devices(const Flow& flow) {
  const int members = flow.home().members();
  if (members == 1) return "on one device";
  return "split over " + std::to_string(members) + (flow.home().is_cuda() ? " GPUs" : " devices");
}

std::string words_of_tiles(const Flow&) { return "on the host, in tiles"; }

WorkingMemory tiles_hold(const Plan&, const Worker&, Shape, Shape) { return {}; }

std::string words_of_ranks(const Flow& flow) {
  return "split over " + std::to_string(flow.shared.vectors.size()) + " ranks";
}

}  // namespace tandem::pipeline
