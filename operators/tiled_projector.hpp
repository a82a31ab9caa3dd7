#pragma once

#include <vector>

#include "tandem/geometry/volume_grid.hpp"
#include "tandem/operators/linear_operator.hpp"

namespace tandem {

/// A cone-beam projection in pieces: back-projection makes one slab after the other from all blocks of views,
/// projection one block of views after the other from all slabs.
struct Tiling {
  std::vector<Range> slabs;  ///< slices; together all of them
  std::vector<Range> views;  ///< together all of them
};

/// The largest pieces of which a slab and a block of views fit into `bytes` of each device, kernels' own
/// copies included; as many of both as devices, or a multiple. Pure arithmetic. @throws GeometryError;
/// DeviceError naming what one slice and one view need where not even these fit.
Tiling plan_tiles(const ConeBeam& scan, const VolumeGrid& grid, Index devices, double bytes);

/// The projector of a cone beam whose vectors lie in host memory, computed tile by tile within `bytes` of
/// each device. Every piece of a result is made by one device in a fixed order: devices and their number do
/// not change its bits, tiles change its rounding. @throws as plan_tiles and projector do
LinearOperator tiled_projector(const ConeBeam& scan, const VolumeGrid& grid, std::vector<Device> devices,
                               double bytes);

}  // namespace tandem
