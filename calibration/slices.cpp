#include "slices.hpp"

#include <algorithm>

#include "../operators/fbp.hpp"

namespace tandem::calibration {

std::vector<float> slices_of(const FrameStack& frames, const Scan& scan, const std::vector<double>& heights) {
  VolumeGrid grid = fitting_grid(scan);
  grid.size[2] = 1;
  const std::size_t voxels = grid.size[0] * grid.size[1];
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

}  // namespace tandem::calibration
