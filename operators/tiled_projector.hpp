#pragma once

#include <functional>
#include <vector>

#include "../core/public.hpp"
#include "linear_operator.hpp"
#include "tiling.hpp"

namespace TANDEM_PUBLIC tandem {

/// How tiles are run, never what they compute.
struct TileRun {
  int streams = 3;  ///< of a device: uploads, kernels and downloads have their own; 2: kernels; 1: none
  /// Before each tile, on the thread of its device, beside those of others; what it throws ends the
  /// application.
  std::function<void(Device)> on_tile{};
};

/// The tiles of which `tiled_projector` makes a projection. @throws as it does
Tilings plan_tiles(const ConeBeam& scan, const VolumeGrid& grid, const std::vector<Device>& devices,
                   double bytes);

/// The projector of a cone beam by separable footprints whose vectors lie in host memory, computed tile by
/// tile within `bytes` of each device. Vectors that are `Pinned` come and go while kernels run. Every piece
/// of a result is made by one device in a fixed order: tiles change its rounding. A device may be named
/// twice. If one fails, the others stop, and what the output holds is undefined. @throws as plan_tiles and
/// projector do; applications: DeviceError naming the device
LinearOperator tiled_projector(const ConeBeam& scan, const VolumeGrid& grid, std::vector<Device> devices,
                               double bytes, TileRun run = {});

}  // namespace tandem
