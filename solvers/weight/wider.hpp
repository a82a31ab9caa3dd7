#pragma once

#include "../../core/array.hpp"

// How vectors pass between a problem and the same one in voxels and cells twice as wide (CoarserProblem).

namespace tandem {

/// Data with their weights, (view, row, bin) on the host.
struct WeighedData {
  Array values, weights;
};

/// The weighted means of the cells under each cell of `space`, and the means of their weights. Where no cell
/// has a weight, both are 0. @throws SpaceError unless rows and bins are as many, or half as many
WeighedData in_wider_cells(const WeighedData& data, const Space& space);

/// The values of wider voxels, linear between their middles, in the middles of those of `space`; part by part
/// of a direct sum. The result lies on the device of `space`. Of portions, all ranks. @throws SpaceError
/// unless `space` has as many voxels along each axis, or twice as many, or one less
Array in_narrower_voxels(const Array& wider, const Space& space);

}  // namespace tandem
