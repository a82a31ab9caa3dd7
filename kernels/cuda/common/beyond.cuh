#pragma once

// Rows that go on beyond their ends (kernels::Continuation), as kernels see them.

#include <optional>
#include <vector>

#include "../../ramp.hpp"
#include "sent.cuh"

namespace tandem::kernels::cuda {

/// What end values are multiplied by, at each position of a transform; null: rows go on with zeros.
struct Beyond {
  const float *before, *after;
  int bins;  ///< of which an end value is the mean
};

/// Numbers on the device; null if there are none.
class OptionalTable {
 public:
  OptionalTable(const std::vector<float>& values, const Stream& s) {
    if (!values.empty()) here_.emplace(values, s);
  }
  const float* data() const { return here_ ? here_->data() : nullptr; }

 private:
  std::optional<Sent<float>> here_;
};

class BeyondTables {
 public:
  BeyondTables(const Continuation& beyond, const Stream& s)
      : before_(beyond.before, s), after_(beyond.after, s), bins_(static_cast<int>(beyond.bins)) {}
  Beyond beyond() const { return {before_.data(), after_.data(), bins_}; }

 private:
  OptionalTable before_, after_;
  int bins_;
};

/// The sum over the lanes of a warp, which all get the same bits.
template <class T>
__device__ T sum_over_warp(T value) {
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(~0u, value, apart);
  return value;
}

/// The mean of value(0) .. value(count - 1), by a warp.
template <class F>
__device__ float mean_by_warp(int count, const F& value) {
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x) % 32; i < count; i += 32) sum += value(i);
  return sum_over_warp(sum) / static_cast<float>(count);
}

/// Each of the sums over the threads of a block of whole warps, in a fixed order. All threads get them. Once
/// in a kernel.
template <int count>
__device__ void sum_over_block(double (&sums)[count]) {
  __shared__ double of_warp[count][32];
  const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
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
