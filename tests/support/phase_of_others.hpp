#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "../../kernels/image_filter.hpp"

namespace tandem::test {

/// The filter by which another program multiplies images of 256 x 256 pixels, at 20 keV, 50 cm behind the
/// sample, with pixels of 1 micrometre. `output`: its result for phase_input.npy, whose images lie in the
/// middle and go on at their edges. `tolerance`: that of the README of the vectors.
struct PhaseOfOthers {
  const char* output;
  double tolerance;
  kernels::ImageFilter filter;
};

/// The grid of tomopy and tomocupy: from -1/2 to 1/2 cycles a pixel with both ends, so that there is no
/// frequency 0, and the frequencies k and -k differ. Of a real image only the even part of the response
/// counts.
inline kernels::ImageFilter filter_of_others(const std::function<double(double, double)>& response) {
  constexpr Index n = 256;
  constexpr double pixel_cm = 1e-4;
  const auto frequency = [](Index k) {
    return (static_cast<double>((k + n / 2) % n) / static_cast<double>(n - 1) - 0.5) / pixel_cm;
  };
  const auto at = [&](Index k, Index l) { return response(frequency(k), frequency(l)); };
  double largest = 0;
  for (Index k = 0; k < n; ++k)
    for (Index l = 0; l < n; ++l) largest = std::max(largest, at(k, l));
  kernels::ImageFilter filter{n, n};
  for (Index k = 0; k < n; ++k)
    for (Index l = 0; l <= n / 2; ++l)
      filter.response.push_back(static_cast<float>((at(k, l) + at((n - k) % n, (n - l) % n)) / 2 / largest));
  return filter;
}

/// tomocupy has the width of a feature in the prefactor, and the pixel in the cosines.
inline std::vector<PhaseOfOthers> phases_of_others() {
  constexpr double pi = std::numbers::pi, length_cm2 = 1.23984186e-7 / 20 * 50 / (4 * pi);
  constexpr double pixel_cm = 1e-4, width_cm = 2e-4, delta_beta = 1000;
  return {{"tomopy_phase.npy", 2e-6,
           filter_of_others([](double f, double g) { return 1 / (length_cm2 * (f * f + g * g) + 1e-3); })},
          {"tomocupy_gpaganin.npy", 3e-5, filter_of_others([](double f, double g) {
             return 1 / (1 - 2 * length_cm2 * delta_beta / (width_cm * width_cm) *
                                 (std::cos(2 * pi * pixel_cm * f) + std::cos(2 * pi * pixel_cm * g) - 2));
           })}};
}

}  // namespace tandem::test
