#pragma once

// What the cone-beam kernels of both models share.

#include "../../cone_hats.hpp"
#include "../../launches.hpp"
#include "../common/batch.cuh"
#include "../common/device_table.cuh"

namespace tandem::kernels::cuda {

constexpr int cone_threads = 256;

/// Lane of a warp -> place in a patch of 8 x 4, along the Z-order curve, so that any four neighbours in
/// number are a square, which is what a texture unit takes at a time.
__device__ inline int2 patch_of(int lane) {
  return {(lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4), (lane >> 1 & 1) | (lane >> 2 & 2)};
}

}  // namespace tandem::kernels::cuda
