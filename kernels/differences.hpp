#pragma once

#include <array>
#include <span>

#include "../core/array.hpp"

namespace tandem::kernels {

/// Work on differences of neighbouring voxels. A field is a direct sum of equal parts: a short vector at each
/// voxel. Part k of the differences of a volume belongs to axis 3 - parts + k of (slice, y, x); `scales` has
/// a factor for each part. There is one scalar per block (Space::block_count), or one for all blocks.
struct DifferenceKernels {
  /// field <- alpha D x + beta field, where D x is the next voxel less this one, 0 at the last one.
  void (*forward)(float alpha, ConstVectorView x, float beta, VectorView field, std::span<const float> scales,
                  Stream& stream);
  /// x <- alpha Dt field + beta x.
  void (*backward)(float alpha, ConstVectorView field, float beta, VectorView x,
                   std::span<const float> scales, Stream& stream);
  /// Shortens the vectors that are longer than `longest` to that length.
  void (*clamp_lengths)(VectorView field, std::span<const float> longest, Stream& stream);
  /// The sum of the lengths in each block, in double; waits for it.
  void (*sum_lengths)(ConstVectorView field, std::span<double> sums, Stream& stream);
};

const DifferenceKernels& differences(Device device);

}  // namespace tandem::kernels
