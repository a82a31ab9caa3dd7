#include "regulariser.hpp"

#include <cmath>
#include <utility>

#include "../core/error.hpp"
#include "../operators/algebra.hpp"
#include "../operators/gradient.hpp"
#include "../operators/vector.hpp"

namespace tandem {

Regulariser total_variation(const Space& volume, std::array<float, 3> scales, float shear) {
  return {.K = gradient(volume, scales, shear),
          .norm_squared = gradient_norm_squared(volume, scales, shear),
          .conjugate_prox = [](VectorView q, std::span<const float> weights, std::span<const float>,
                               Stream& stream) { clamp_lengths(q, weights, stream); },
          .value = sum_lengths,
          .differences = scales,
          .shear = shear};
}

/// The conjugate is f(q) = threshold |q|^2 / (2 W) for |q| <= W, and infinite beyond. So its proximal map
/// divides q by 1 + step threshold / W and then clamps it. In `value`, gradients that are clamped to the
/// threshold give the square's part.
Regulariser huber_total_variation(const Space& volume, float threshold, std::array<float, 3> scales,
                                  float shear) {
  require<GeometryError>(threshold > 0, "huber_total_variation: threshold ", threshold,
                         "; a positive number is needed");
  Regulariser huber = total_variation(volume, scales, shear);
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
      const double weight = weights[weights.size() == 1 ? 0 : k];
      values[k] = weight > 0 ? values[k] * threshold / (2 * weight) : 0;
    }
    return values;
  };
  huber.value = [threshold](ConstVectorView Kx, Stream& stream) {
    Array low(Kx.space, stream);
    axpby(1, Kx, 0, low, stream);
    clamp_lengths(low, threshold, stream);
    // |v| - t/2 beyond t, |v|^2 / (2 t) below: the length, less the clamped length, plus the clamped square /
    // (2 t)
    std::vector<double> sums = sum_lengths(Kx, stream);
    const std::vector<double> lengths = sum_lengths(low, stream), squares = dot(low, low, stream);
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += squares[k] / (2.0 * threshold) - lengths[k];
    return sums;
  };
  return huber;
}

namespace {

/// A number for each block.
std::vector<float> each(std::span<const float> weights, std::size_t blocks) {
  return weights.size() == blocks ? std::vector<float>(weights.begin(), weights.end())
                                  : std::vector<float>(blocks, weights[0]);
}

std::vector<float> quotients(std::span<const float> a, std::span<const float> b) {
  std::vector<float> all;
  for (std::size_t k = 0; k < a.size(); ++k) all.push_back(b[k] > 0 ? a[k] / b[k] : 0.0f);
  return all;
}

}  // namespace

/// (W g)*(q) = |q|^2 / (2 W), whose proximal map of step s divides by 1 + s / W.
Regulariser tikhonov(const Space& volume) {
  const auto halves = [](std::vector<double> squares) {
    for (double& square : squares) square /= 2;
    return squares;
  };
  return {.K = identity(volume),
          .norm_squared = 1,
          .conjugate_prox =
              [](VectorView q, std::span<const float> weights, std::span<const float> steps, Stream& stream) {
                const std::vector<float> of_blocks = each(weights, steps.size());
                std::vector<float> shrink;
                for (std::size_t k = 0; k < steps.size(); ++k)
                  shrink.push_back(of_blocks[k] > 0 ? of_blocks[k] / (of_blocks[k] + steps[k]) : 0.0f);
                axpby(shrink, q, std::vector<float>(shrink.size(), 0.0f), q, stream);
              },
          .value = [halves](ConstVectorView x, Stream& stream) { return halves(dot(x, x, stream)); },
          .conjugate =
              [halves](ConstVectorView q, std::span<const float> weights, Stream& stream) {
                std::vector<double> values = halves(dot(q, q, stream));
                const std::vector<float> of_blocks = each(weights, values.size());
                for (std::size_t k = 0; k < values.size(); ++k)
                  values[k] = of_blocks[k] > 0 ? values[k] / of_blocks[k] : 0;
                return values;
              }};
}

/// The proximal map of step s of (W g)* takes q to q - s p, where p is that of step W / s of g at q / s.
Regulariser regulariser_of(LinearOperator K, double norm_squared, ProximalMap prox,
                           std::function<std::vector<double>(ConstVectorView, Stream&)> value) {
  require<GeometryError>(norm_squared > 0 && std::isfinite(norm_squared),
                         "regulariser_of: |K|^2 = ", norm_squared, "; a positive number is needed");
  const auto conjugate_prox = [prox = std::move(prox)](VectorView q, std::span<const float> weights,
                                                       std::span<const float> steps, Stream& stream) {
    const std::vector<float> ones(steps.size(), 1.0f), nothing(steps.size(), 0.0f);
    std::vector<float> minus_steps;
    for (const float step : steps) minus_steps.push_back(-step);
    Array p(q.space, stream);
    axpby(quotients(ones, steps), q, nothing, p, stream);
    prox(p, quotients(each(weights, steps.size()), steps), stream);
    axpby(minus_steps, p, 1, q, stream);
  };
  const auto no_conjugate = [](ConstVectorView, std::span<const float>, Stream&) -> std::vector<double> {
    throw GeometryError("gap: the regulariser is that of a proximal map, which does not tell its conjugate");
  };
  return {.K = std::move(K),
          .norm_squared = norm_squared,
          .conjugate_prox = conjugate_prox,
          .value = std::move(value),
          .conjugate = no_conjugate};
}

}  // namespace tandem
