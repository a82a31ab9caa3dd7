#include "placement.hpp"

namespace tandem::pipeline {

std::string vectors_on_devices(const Flow& flow) {
  const int members = flow.home().members();
  if (members == 1) return "on one device";
  return "split over " + std::to_string(members) + (flow.home().is_cuda() ? " GPUs" : " devices");
}

}  // namespace tandem::pipeline
