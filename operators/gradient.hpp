#pragma once

#include <array>
#include <vector>

#include "../core/public.hpp"
#include "linear_operator.hpp"
#include "vector.hpp"

namespace TANDEM_PUBLIC tandem {

/// Differences of neighbouring voxels: the next voxel less this one, times a factor for each axis (slice, y,
/// x), and 0 at the last one. The range is a direct sum of the differences along z, y and x; only along y and
/// x if slices are independent blocks, or if there is one slice. Its elements are vectors, one for each
/// voxel. If `volume` is a portion (Space::portion), it must be cut along y, and all ranks apply the operator
/// together. `shear` times the difference along x is added to that along y. @throws SpaceError unless
/// `volume` is a volume
LinearOperator gradient(const Space& volume, std::array<float, 3> scales = {1, 1, 1}, float shear = 0);

/// A close upper bound of |gradient|^2: 4 times the sum of the squared factors. The factor along y counts as
/// |factor| + |shear|.
double gradient_norm_squared(const Space& volume, std::array<float, 3> scales = {1, 1, 1}, float shear = 0);

/// Factors and a shear with which lengths of gradients weigh some differences more.
struct Direction {
  std::array<float, 3> scales;
  float shear;
};
/// Weighs differences across a direction in slices `ratio` times as much as those along it. `angle`: the
/// direction, rad from x towards y; `scales`: factors of differences in a unit of length.
Direction across(double angle, double ratio, std::array<float, 3> scales = {1, 1, 1});

/// Shortens the vectors of a field, such as a gradient, that are longer than `longest`. There is one length
/// for all blocks, or one per block.
void clamp_lengths(VectorView field, const Scalars& longest, Stream& stream);
/// The sum of the lengths of a field's vectors, one per block. For a gradient it is the total variation. If
/// the field is no direct sum, its vectors have one component, and their lengths are absolute values. Waits
/// for the result.
std::vector<double> sum_lengths(ConstVectorView field, Stream& stream);

}  // namespace tandem
