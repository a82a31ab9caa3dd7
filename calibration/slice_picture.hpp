#pragma once

#include <vector>

#include "../core/space.hpp"

namespace tandem::calibration {

/// A square picture.
struct SlicePicture {
  Index side = 0;
  std::vector<float> values{};
  float at(Index y, Index x) const { return values[y * side + x]; }
};

/// A Gaussian, or its derivative, at whole places from -radius on.
std::vector<float> gaussian_kernel(double sigma, bool derivative);

/// A picture times kernels along x and y. Beyond its edges it is zero.
SlicePicture convolved(const SlicePicture& from, const std::vector<float>& along_x,
                       const std::vector<float>& along_y);

}  // namespace tandem::calibration
