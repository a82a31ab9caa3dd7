#include "regulariser.hpp"

#include "../core/error.hpp"
#include "../operators/gradient.hpp"
#include "../operators/vector.hpp"

namespace tandem {

Regulariser total_variation(const Space& volume, std::array<float, 3> scales) {
  return {.K = gradient(volume, scales),
          .norm_squared = gradient_norm_squared(volume, scales),
          .conjugate_prox = [](VectorView q, std::span<const float> weights, std::span<const float>,
                               Stream& stream) { clamp_lengths(q, weights, stream); },
          .value = sum_lengths};
}

/// The conjugate is f(q) = threshold |q|^2 / (2 W) for |q| <= W, and infinite beyond. So its proximal map
/// divides q by 1 + step threshold / W and then clamps it. In `value`, gradients that are clamped to the
/// threshold give the square's part.
Regulariser huber_total_variation(const Space& volume, float threshold, std::array<float, 3> scales) {
  require<GeometryError>(threshold > 0, "huber_total_variation: threshold ", threshold,
                         "; a positive number is needed");
  Regulariser huber = total_variation(volume, scales);
  huber.conjugate_prox = [threshold](VectorView q, std::span<const float> weights,
                                     std::span<const float> steps, Stream& stream) {
    std::vector<float> shrink;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const float weight = weights[weights.size() == 1 ? 0 : k];
      shrink.push_back(weight > 0 ? 1 / (1 + steps[k] * threshold / weight) : 0.0f);
    }
    const std::vector<float> nothing(shrink.size(), 0.0f);
    axpby(shrink, q, nothing, q, stream);
    clamp_lengths(q, weights, stream);
  };
  huber.conjugate = [threshold](ConstVectorView q, std::span<const float> weights, Stream& stream) {
    std::vector<double> values = dot(q, q, stream);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto weight = static_cast<double>(weights[weights.size() == 1 ? 0 : k]);
      values[k] = weight > 0 ? values[k] * static_cast<double>(threshold) / (2 * weight) : 0;
    }
    return values;
  };
  huber.value = [threshold](ConstVectorView Kx, Stream& stream) {
    Array low(Kx.space, stream);
    axpby(1, Kx, 0, low, stream);
    clamp_lengths(low, std::span(&threshold, 1), stream);
    // |v| - t/2 beyond t, |v|^2 / (2 t) below: the length, less the clamped length, plus the clamped square /
    // (2 t)
    std::vector<double> sums = sum_lengths(Kx, stream);
    const std::vector<double> lengths = sum_lengths(low, stream), squares = dot(low, low, stream);
    for (std::size_t k = 0; k < sums.size(); ++k)
      sums[k] += squares[k] / (2 * static_cast<double>(threshold)) - lengths[k];
    return sums;
  };
  return huber;
}

}  // namespace tandem
