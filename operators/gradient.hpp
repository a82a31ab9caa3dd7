#pragma once

#include <array>
#include <span>
#include <vector>

#include "../core/public.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// Differences of neighbouring voxels: the next voxel less this one, times a factor for each axis (slice, y,
/// x), and 0 at the last one. The range is a direct sum of the differences along z, y and x; of y and x alone
/// where slices are independent blocks, or where there is one slice. Its elements are vectors, one a voxel.
/// Of a portion (Space::portion), all ranks apply it together; it must be cut along y. @throws SpaceError
/// unless `volume` is a volume
LinearOperator gradient(const Space& volume, std::array<float, 3> scales = {1, 1, 1});

/// An upper bound of |gradient|^2, of which it falls short by little: 4 times the sum of the squared factors.
double gradient_norm_squared(const Space& volume, std::array<float, 3> scales = {1, 1, 1});

/// Shortens all vectors of a field, such as a gradient, that are longer than `longest`. There is one length
/// for all blocks, or one per block.
void clamp_lengths(VectorView field, std::span<const float> longest, Stream& stream);
/// The sum of the lengths of a field's vectors, one per block: of a gradient the total variation. The vectors
/// of a volume that is no direct sum have one component: their lengths are absolute values. Waits for it.
std::vector<double> sum_lengths(ConstVectorView field, Stream& stream);

}  // namespace tandem
