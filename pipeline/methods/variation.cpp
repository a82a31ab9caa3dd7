#include "variation.hpp"

namespace tandem::pipeline {

Regulariser variation_of(const Space& volume, const std::array<double, 3>& pitch, const Recipe& options) {
  const auto& [x, y, z] = pitch;
  const auto scale = [x = x](double other) { return static_cast<float>(x / other); };
  const std::array<float, 3> scales{scale(z), scale(y), 1};
  return options.tv_huber ? huber_total_variation(volume, *options.tv_huber, scales)
                          : total_variation(volume, scales);
}

}  // namespace tandem::pipeline
