#pragma once

#include <functional>
#include <vector>

#include "linear_operator.hpp"
#include "tiling.hpp"

namespace tandem {

/// How tiles are run. It does not change what they compute.
struct TileRun {
  int streams = 3;  ///< streams of each device. 3: uploads, kernels and downloads have one each; 2: kernels
  ///< have one of their own; 1: all share one
  /// Called before each tile on the thread of its device, while other devices may call it too. An exception
  /// ends the application.
  std::function<void(Device)> on_tile{};
};

/// The tiles that `tiled_projector` uses. @throws as `tiled_projector` does
Tilings plan_tiles(const Scan& scan, const VolumeGrid& grid, const std::vector<Device>& devices,
                   double bytes);

/// The projector, by separable footprints, of a scan whose rays cross slices, with vectors in host memory. It
/// is computed tile by tile, within `bytes` of each device. Vectors that are `Pinned` move while kernels
/// run. Each piece of a result is made by one device, in a fixed order, so that tiles change only the
/// rounding. A device may be named twice. If one device fails, the others stop, and the contents of the
/// output are undefined. @throws as plan_tiles and projector do, and GeometryError for other scans; an
/// application throws a DeviceError that names the device
LinearOperator tiled_projector(const Scan& scan, const VolumeGrid& grid, std::vector<Device> devices,
                               double bytes, TileRun run = {});

}  // namespace tandem
