#include "shared_out.hpp"

namespace tandem::pipeline {

std::string words_of_tiles(const Flow&) { return "on the host, in tiles"; }

WorkingMemory tiles_hold(const Plan&, const Worker&, Shape, Shape) { return {}; }

std::string words_of_ranks(const Flow& flow) {
  return "split over " + std::to_string(flow.together.size()) + " ranks";
}

}  // namespace tandem::pipeline
