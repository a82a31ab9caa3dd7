#include "variation.hpp"

#include "../../operators/gradient.hpp"

namespace tandem::pipeline {

Regulariser variation_of(const Space& volume, const std::array<double, 3>& pitch, const Recipe& options) {
  const auto& [x, y, z] = pitch;
  const auto scale = [x = x](double other) { return static_cast<float>(x / other); };
  const std::array<float, 3> all{scale(z), scale(y), 1};
  const auto [scales, shear] =
      options.tv_direction ? across(*options.tv_direction, options.tv_ratio, all) : Direction{all, 0};
  return options.tv_huber ? huber_total_variation(volume, *options.tv_huber, scales, shear)
                          : total_variation(volume, scales, shear);
}

}  // namespace tandem::pipeline
