#pragma once

// Rows that go on beyond their ends (kernels::Continuation), as kernels see them.

#include "../../ramp.hpp"
#include "launch.cuh"

namespace tandem::kernels::cuda {

/// The factors of end values at each position of a transform; null: rows go on with zeros.
struct Beyond {
  const float *before, *after;
  EndValues ends;
};

/// The sum over the lanes of a warp, which all get the same bits.
template <class T>
__device__ T sum_over_warp(T value) {
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(~0u, value, apart);
  return value;
}

/// The end value of a row, by a warp; value(bin) is what comes to the filter.
template <class F>
__device__ float end_value_by_warp(const EndValues& ends, Index row, int end, const F& value) {
  float sum = 0;
  for (Index b = threadIdx.x % 32; b < ends.bins; b += 32)
    sum += ends.share(row, end, b) * value(ends.bin(end, b));
  return sum_over_warp(sum);
}

/// The transpose: what a bin gets back from both ends.
__device__ inline float given_to(const EndValues& ends, Index row, Index bin, float low, float high) {
  float sum = 0;
  if (const Index b = bin - ends.row.first; b >= 0 && b < ends.bins) sum += ends.share(row, low_end, b) * low;
  if (const Index b = ends.row.last - 1 - bin; b >= 0 && b < ends.bins)
    sum += ends.share(row, high_end, b) * high;
  return sum;
}

/// Each of the sums over the threads of a block of whole warps, in a fixed order. All threads get them. Once
/// in a kernel.
template <int count>
__device__ void sum_over_block(double (&sums)[count]) {
  __shared__ double of_warp[count][32];
  const int warp = own_thread() / 32, warps = threads_in_block() / 32;
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const double sum = sum_over_warp(sums[i]);
    if (threadIdx.x % 32 == 0) of_warp[i][warp] = sum;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < count; ++i) {
    sums[i] = 0;
    for (int w = 0; w < warps; ++w) sums[i] += of_warp[i][w];
  }
}

}  // namespace tandem::kernels::cuda
