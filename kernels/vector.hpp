#pragma once

#include <span>

#include "../core/array.hpp"

namespace tandem::kernels {

/// Element-wise work on one part of a vector (never a direct sum). Scalars come one a block
/// (Space::block_count), or one for all. Sums are taken in double, in an order that depends on nothing but
/// the block's own extents.
struct VectorKernels {
  void (*dot)(ConstVectorView x, ConstVectorView y, std::span<double> sums,
              Stream& stream);  ///< one a block; waits
  void (*axpby)(std::span<const float> a, ConstVectorView x, std::span<const float> b, VectorView y,
                Stream& stream);
  void (*multiply)(ConstVectorView x, VectorView y, Stream& stream);
  void (*fill)(VectorView x, float value, Stream& stream);
  void (*reciprocal_or_zero)(VectorView x, std::span<const float> floor, Stream& stream);
  void (*clamp_below)(VectorView x, float lowest, Stream& stream);
};

/// @throws DeviceError if the build lacks the backend.
const VectorKernels& vector(Device device);

}  // namespace tandem::kernels
