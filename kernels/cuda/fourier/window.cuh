#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "../../fourier.hpp"

namespace tandem::kernels::cuda {

/// Coefficients of the window, as a polynomial of v = 8 (d / taps)^2 - 1.
template <int taps>
struct Window {
  float coefficient[taps + 4];

  explicit Window(const std::vector<float>& all) { std::copy_n(all.begin(), taps + 4, coefficient); }
  /// Weight of a cell that lies d below the sample; `mirrored` for a conjugate sample, whose window is the
  /// mirror image.
  __device__ float operator()(float d, bool mirrored = false) const {
    constexpr float shift = window_shift, half = 0.5f * taps;
    const float v = fmaf(d * d, 8.0f / (taps * taps), -1.0f), upwards = mirrored ? -d : d;
    float sum = coefficient[taps + 3];
#pragma unroll
    for (int i = taps + 2; i >= 0; --i) sum = fmaf(sum, v, coefficient[i]);
    return upwards > shift - half && upwards <= shift + half ? sum : 0.0f;
  }
};

template <class Body>
void with_taps(int taps, const Body& body) {
  if (taps == 5) return body(std::integral_constant<int, 5>());
  if (taps == 6) return body(std::integral_constant<int, 6>());
  body(std::integral_constant<int, widest_window>());
}

}  // namespace tandem::kernels::cuda
