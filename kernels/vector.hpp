#pragma once

#include <span>

#include "../core/array.hpp"

namespace tandem::kernels {

/// Work on the elements of one part of a vector (never a direct sum). There is one scalar per block
/// (Space::block_count), or one for all blocks. Sums are taken in double, in an order that depends only on
/// the extents of the block.
struct VectorKernels {
  void (*dot)(ConstVectorView x, ConstVectorView y, std::span<double> sums,
              Stream& stream);  ///< one sum per block; waits for them
  void (*count_not_finite)(ConstVectorView x, std::span<Index> counts,
                           Stream& stream);  ///< elements of each block; waits for them
  void (*axpby)(std::span<const float> a, ConstVectorView x, std::span<const float> b, VectorView y,
                Stream& stream);
  void (*multiply)(ConstVectorView x, VectorView y, Stream& stream);
  void (*attenuate)(ConstVectorView x, VectorView y, Stream& stream);
  void (*fill)(VectorView x, float value, Stream& stream);
  void (*divide)(ConstVectorView x, std::span<const float> floor, float otherwise, VectorView y,
                 Stream& stream);
  void (*shrink)(ConstVectorView x, std::span<const float> by, VectorView y, Stream& stream);
  void (*reciprocal_or_zero)(VectorView x, std::span<const float> floor, Stream& stream);
  void (*clamp_below)(VectorView x, float lowest, Stream& stream);
  void (*clamp_each)(ConstVectorView ends, bool above, VectorView x, Stream& stream);
};

/// @throws DeviceError if the build lacks the backend.
const VectorKernels& vector(Device device);

}  // namespace tandem::kernels
