#pragma once

#include "../core/array.hpp"
#include "../geometry/beams/cone.hpp"
#include "../geometry/views.hpp"

namespace tandem::bench {

/// The error of a back-projection of Model::hierarchical against the exact sum over views in double, with the
/// taps of the views, as relative L2 over some voxels. It back-projects Hann-filtered projections of
/// ellipsoids on the device, as FDK does.
double hierarchical_error(const ConeBeam& scan, const VolumeGrid& grid, Device device,
                          AlongRows rows = AlongRows::as_footprints);

}  // namespace tandem::bench
