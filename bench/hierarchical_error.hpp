#pragma once

#include "../core/array.hpp"
#include "../geometry/beams/cone.hpp"

namespace tandem::bench {

/// How far a back-projection of Model::hierarchical is from the sum over views that it stands for, in double,
/// with the taps of the views: relative L2 over some voxels. Hann-filtered projections of ellipsoids are
/// back-projected for it, on the device.
double hierarchical_error(const ConeBeam& scan, const VolumeGrid& grid, Device device);

}  // namespace tandem::bench
