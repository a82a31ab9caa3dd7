#include "slice_picture.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"

namespace tandem::calibration {

std::vector<float> gaussian_kernel(double sigma, bool derivative) {
  const Index radius = ceil_index(4 * sigma);
  std::vector<double> all;
  for (Index k = -radius; k <= radius; ++k) all.push_back(std::exp(-0.5 * k * k / (sigma * sigma)));
  const double sum = std::accumulate(all.begin(), all.end(), 0.0);
  std::vector<float> kernel;
  for (Index k = -radius; k <= radius; ++k)
    kernel.push_back(static_cast<float>(all[k + radius] / sum * (derivative ? k / (sigma * sigma) : 1)));
  return kernel;
}

SlicePicture convolved(const SlicePicture& from, const std::vector<float>& along_x,
                       const std::vector<float>& along_y) {
  const auto once = [&](const SlicePicture& p, const std::vector<float>& kernel, Index dy, Index dx) {
    SlicePicture made{p.side, std::vector<float>(p.values.size(), 0.0f)};
    const Index radius = std::ssize(kernel) / 2;
    parallel_for(p.side, [&](Index y) {
      for (Index x = 0; x < p.side; ++x) {
        const Index place = dy > 0 ? y : x, first = std::max(-radius, -place),
                    last = std::min(radius, p.side - 1 - place);
        float sum = 0;
        for (Index k = first; k <= last; ++k) sum += kernel[k + radius] * p.at(y + k * dy, x + k * dx);
        made.values[y * p.side + x] = sum;
      }
    });
    return made;
  };
  return once(once(from, along_x, 0, 1), along_y, 1, 0);
}

}  // namespace tandem::calibration
