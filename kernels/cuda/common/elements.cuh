#pragma once

// Kernels that make each element of an image by itself.

#include <algorithm>

#include "batch.cuh"

namespace tandem::kernels::cuda {

/// Calls use(i0, i1, i2) for the elements of this thread. Grid: as `blocks_of_elements` has it; a block takes
/// every gridDim.y-th entry along axis 1 and every gridDim.z-th along axis 0.
template <class Use>
__device__ void for_own_elements(const Image<float>& of, const Use& use) {
  const Index i2 = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i2 >= of.n2) return;
  for (Index i0 = blockIdx.z; i0 < of.n0; i0 += gridDim.z)
    for (Index i1 = blockIdx.y; i1 < of.n1; i1 += gridDim.y) use(i0, i1, i2);
}

inline dim3 blocks_of_elements(const Image<float>& of, int threads) {
  constexpr Index most = 65535;
  return grid_of(ceil_div<Index>(of.n2, threads), std::min(of.n1, most), std::min(of.n0, most));
}

}  // namespace tandem::kernels::cuda
