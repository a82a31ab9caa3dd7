#include "slices.hpp"

#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"

namespace tandem::calibration {

std::vector<float> slices_of(const FrameStack& frames, const Scan& scan, VolumeGrid grid,
                             const std::vector<double>& heights, Device device) {
  grid.size[2] = 1;
  const LinearOperator filter = ramp_filter(scan, grid, {}, {}, device);
  const Array filtered = filter * vector_of(frames, filter.domain());
  std::vector<float> all;
  for (const double height : heights) {
    grid.centre[2] = height;
    const UnsetVector<float> slice = values_of(backprojector(scan, grid, {}, device) * filtered);
    all.insert(all.end(), slice.begin(), slice.end());
  }
  return all;
}

}  // namespace tandem::calibration
