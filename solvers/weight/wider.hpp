#pragma once

#include "../../core/array.hpp"

// Moves vectors between a problem and the same problem in voxels and cells twice as wide (CoarserProblem).

namespace tandem {

/// Data with their weights, (view, row, bin) on the host.
struct WeighedData {
  Array values, weights;
};

/// The weighted means of the cells that each cell of `space` covers, and the means of their weights. If none
/// of these cells has a weight, both are 0. @throws SpaceError unless rows and bins are as many, or half as
/// many
WeighedData in_wider_cells(const WeighedData& data, const Space& space);

/// The values of wider voxels at the middles of the voxels of `space`, by linear interpolation; for a direct
/// sum part by part. The result lies on the device of `space`. Collective for portions. @throws SpaceError
/// unless `space` has along each axis as many voxels, or twice as many, or one less than twice
Array in_narrower_voxels(const Array& wider, const Space& space);

}  // namespace tandem
