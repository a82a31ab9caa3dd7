#pragma once

#include <cstddef>

#include "../core/device.hpp"
#include "../core/space.hpp"

namespace tandem::kernels {

/// How voxels become the numbers of a file: IEEE halves, or integers from 0, which stands for `min`, to
/// `top`, which stands for `max`.
struct VoxelCoding {
  enum class Number { float16, uint16, uint8 } number;
  float min = 0, max = 1;

  double top() const { return number == Number::uint16 ? 65535 : 255; }
  Index bytes() const { return number == Number::uint8 ? 1 : 2; }
};

/// How many voxels the numbers cannot hold: below `min`; above `max`, or infinite as halves.
struct VoxelsBeyond {
  Index below = 0, above = 0;
};

struct VoxelKernels {
  /// Rounds voxels, which are finite and lie on the device, to the nearest numbers. Returns when the stream
  /// has done this.
  VoxelsBeyond (*encode)(const VoxelCoding& how, const float* voxels, Index count, std::byte* numbers,
                         Stream& stream);
};

/// Null for the CPU, where the writer of a volume does this. @throws DeviceError if the build lacks the
/// backend
const VoxelKernels* voxels(Device device);

}  // namespace tandem::kernels
