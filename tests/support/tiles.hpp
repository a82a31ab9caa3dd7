#pragma once

#include <algorithm>

#include "../../operators/projector.hpp"

namespace tandem::test {

/// Bytes of a device that so many lines of voxels and one view need, in either direction.
inline double tile_bytes(const VolumeGrid& grid, const Detector& detector, Index lines,
                         const WorkingMemory& kernels) {
  const double strip = 4.0 * static_cast<double>(grid.size[0] * grid.size[2] * lines),
               view = 4.0 * static_cast<double>(detector.rows * detector.bins);
  return std::max(2 * strip + view + kernels.forward, 2 * view + strip + kernels.backward);
}

/// The least that a device must have: for a line of voxels and a view, or the lines that stay together.
inline double smallest_tile(const ConeBeam& scan, const VolumeGrid& grid, Device device) {
  const Shape volume{grid.size[2], 1, grid.size[0]}, projections{1, scan.detector.rows, scan.detector.bins};
  return tile_bytes(grid, scan.detector, 1,
                    working_memory(Model::separable_footprint, volume, projections, device));
}
inline double smallest_tile(const FlexibleBeam& scan, const VolumeGrid& grid, Device device) {
  const Index lines = std::min(lines_together(scan), grid.size[1]);
  const Shape volume{grid.size[2], lines, grid.size[0]},
      projections{1, scan.detector.rows, scan.detector.bins};
  return tile_bytes(grid, scan.detector, lines, working_memory(scan, volume, projections, device));
}

}  // namespace tandem::test
