#pragma once

// What the numbers of a slice mean in a format of fewer bits.

#include <math_constants.h>

#include "../../../core/execution.hpp"
#include "batch.cuh"

namespace tandem::kernels::cuda {

/// The meaning of a stored number f: unit (f - zero). `zero` is not 0 only for bytes.
struct Level {
  float unit, zero;
};

/// How far a slice reaches below and above zero, as bits of floats that are not negative, which are in order
/// as ints. Infinity has the largest bits, and beyond it come numbers that are NaN.
struct Extremes {
  int below, above;
};

/// Float16: the absolute maximum lies in [2^8, 2^9), far from the ends of the range of a half.
/// Bytes: equal steps from lowest to highest, so wide that zero is a whole one. The shorter side is rounded
/// up, which takes from the longer one less than one step of 127.
/// No unit suits a slice that reaches to infinity: all of it becomes NaN, where its finite numbers would be
/// zeros.
template <Precision precision>
__device__ Level level_of(Extremes extremes) {
  if constexpr (precision == Precision::float32) return {1, 0};
  const float below = __int_as_float(extremes.below), above = __int_as_float(extremes.above);
  const float most = __int_as_float(max(extremes.below, extremes.above));
  if (!isfinite(most)) return {CUDART_NAN_F, 0};
  if constexpr (precision == Precision::float16)
    return {ldexpf(1.0f, min(max(ilogbf(most), -118), 127) - 8), 0};
  if (most == 0) return {1, 0};
  const float exact = below / (below + above) * 255, zero = below <= above ? ceilf(exact) : floorf(exact);
  const float step = fmaxf(zero > 0 ? below / zero : 0, zero < 255 ? above / (255 - zero) : 0);
  return {255 * step, zero / 255};
}

constexpr Index views_measured = 32;  // by a block

/// Into zeroed `extremes`, slice blockIdx.y of `projections`.
static __global__ void __launch_bounds__(256)
    find_extremes(Image<const float> projections, Extremes* extremes) {
  const Index begin = blockIdx.x * views_measured, end = min(projections.n0, begin + views_measured);
  int below = 0, above = 0;
  for (Index bin = threadIdx.x; bin < projections.n2; bin += blockDim.x) {
#pragma unroll 8
    for (Index view = begin; view < end; ++view) {
      const float value = element(projections, view, blockIdx.y, bin);
      below = max(below, __float_as_int(-value));
      above = max(above, __float_as_int(value));
    }
  }
  const int lowest = __reduce_max_sync(~0u, below), highest = __reduce_max_sync(~0u, above);
  if (threadIdx.x % warpSize != 0) return;
  atomicMax(&extremes[blockIdx.y].below, lowest);
  atomicMax(&extremes[blockIdx.y].above, highest);
}

/// Extremes of `lanes` slices, zero for those that `projections` lacks.
inline void measure(Image<const float> projections, Extremes* extremes, int lanes, cudaStream_t stream) {
  check(cudaMemsetAsync(extremes, 0, lanes * sizeof(Extremes), stream));
  const dim3 blocks = grid_of(ceil_div(projections.n0, views_measured), projections.n1);
  find_extremes<<<blocks, 256, 0, stream>>>(projections, extremes);
  after_launch();
}

static __global__ void __launch_bounds__(256) find_largest(Image<const float> in, Extremes* extremes) {
  int most = 0;
  for (Index line = blockIdx.x; line < in.n0 * in.n1; line += gridDim.x)
    for (Index k = threadIdx.x; k < in.n2; k += blockDim.x)
      most = max(most, __float_as_int(fabsf(element(in, line / in.n1, line % in.n1, k))));
  most = __reduce_max_sync(~0u, most);
  if (threadIdx.x % warpSize == 0) atomicMax(&extremes->above, most);
}

/// The largest absolute value of an image, as `above`.
inline void measure_largest(Image<const float> in, Extremes* extremes, cudaStream_t stream) {
  check(cudaMemsetAsync(extremes, 0, sizeof(Extremes), stream));
  find_largest<<<grid_of(std::min<Index>(in.n0 * in.n1, 1 << 14)), 256, 0, stream>>>(in, extremes);
  after_launch();
}

}  // namespace tandem::kernels::cuda
