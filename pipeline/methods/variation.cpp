#include "variation.hpp"

#include <array>

namespace tandem::pipeline {

Regulariser variation_of(const Equations& equations, const MethodOptions& options) {
  const auto& [x, y, z] = equations.pitch;
  const auto scale = [x = x](double pitch) { return static_cast<float>(x / pitch); };
  const std::array<float, 3> scales{scale(z), scale(y), 1};
  const Space volume = equations.A.domain();
  return options.tv_huber ? huber_total_variation(volume, *options.tv_huber, scales)
                          : total_variation(volume, scales);
}

}  // namespace tandem::pipeline
