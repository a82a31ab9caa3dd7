#pragma once

#include <algorithm>

#include "../../operators/projector.hpp"

namespace tandem::test {

/// Bytes of a device that one line of voxels and one view need, in either direction.
inline double smallest_tile(const ConeBeam& scan, const VolumeGrid& grid, Device device) {
  const Shape volume{grid.size[2], 1, grid.size[0]}, projections{1, scan.detector.rows, scan.detector.bins};
  const WorkingMemory kernels = working_memory(Model::separable_footprint, volume, projections, device);
  const double line = 4.0 * static_cast<double>(volume[0] * volume[2]),
               view = 4.0 * static_cast<double>(projections[1] * projections[2]);
  return std::max(2 * line + view + kernels.forward, 2 * view + line + kernels.backward);
}

}  // namespace tandem::test
