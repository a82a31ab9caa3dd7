#pragma once

#include <cmath>
#include <vector>

#include "../../../core/space.hpp"

// Vo's programs shift the zero frequency to the middle of a spectrum by alternating signs, and centre a
// Gaussian window at (n - 1) / 2, half a step beside it. The real part that they take is that of a window
// which is the mean of this one and of its mirror image.

namespace tandem::pipeline::stripes {

/// The window at frequency k of n, before it is made symmetric.
inline double gaussian(Index k, Index n, double sigma) {
  const double t = k - 0.5 * (n - 1);
  return std::exp(-t * t / (2 * sigma * sigma));
}

/// The gains of lines with alternating signs, at the frequencies 0 to n / 2.
inline std::vector<double> gaussian_gain(Index n, double sigma) {
  std::vector<double> gain;
  for (Index k = 0; k <= n / 2; ++k)
    gain.push_back(0.5 * (gaussian(k, n, sigma) + gaussian((n - k) % n, n, sigma)));
  return gain;
}

/// The same for images of rows x columns.
inline std::vector<double> gaussian_gain(Index rows, Index columns, double sigma_rows, double sigma_columns) {
  std::vector<double> gain;
  const auto at = [&](Index r, Index c) {
    return gaussian(r, rows, sigma_rows) * gaussian(c, columns, sigma_columns);
  };
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c <= columns / 2; ++c)
      gain.push_back(0.5 * (at(r, c) + at((rows - r) % rows, (columns - c) % columns)));
  return gain;
}

}  // namespace tandem::pipeline::stripes
