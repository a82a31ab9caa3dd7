#include "slices.hpp"

#include <algorithm>
#include <cmath>

#include "../operators/fbp.hpp"

namespace tandem::calibration {

std::vector<float> slices_of(const FrameStack& frames, const Scan& scan, const std::vector<double>& heights) {
  VolumeGrid grid = fitting_grid(scan);
  grid.size[2] = 1;
  const auto voxels = static_cast<std::size_t>(grid.size[0] * grid.size[1]);
  const LinearOperator filter = ramp_filter(scan, grid);
  Array y(filter.domain()), filtered(filter.range());
  std::copy(frames.values.begin(), frames.values.end(), y.data());
  Stream& stream = default_stream(Device::cpu());
  filter.apply(1, y, 0, filtered, stream);
  std::vector<float> all;
  for (const double height : heights) {
    grid.centre[2] = height;
    const LinearOperator back = backprojector(scan, grid);
    Array x(back.range());
    back.apply(1, filtered, 0, x, stream);
    all.insert(all.end(), x.data(), x.data() + voxels);
  }
  return all;
}

double sharpness(const float* slice, Index width, Index height) {
  const double radius = 0.4 * static_cast<double>(std::min(width, height));
  const auto at = [&](Index y, Index x) { return static_cast<double>(slice[y * width + x]); };
  double sum = 0;
  for (Index y = 0; y + 1 < height; ++y)
    for (Index x = 0; x + 1 < width; ++x)
      if (std::hypot(static_cast<double>(2 * x + 1 - width), static_cast<double>(2 * y + 1 - height)) <
          2 * radius)
        sum += std::pow(at(y, x + 1) - at(y, x), 2) + std::pow(at(y + 1, x) - at(y, x), 2);
  return sum;
}

}  // namespace tandem::calibration
