#pragma once

// What the kernels on tensor cores share: hats as float16 factors of a product, made in registers, and where
// sums go.

#include <cuda_fp16.h>

#include <algorithm>

#include "tandem/kernels/cuda/batch.cuh"

namespace tandem::kernels::cuda {

struct alignas(16) ViewNumbers {
  float step_x, step_y, height, slope;
};

/// The coefficient at distance e: 1 - |e| where all hats are that one.
template <bool unit>
__device__ inline float hat_at(float e, const ViewNumbers& v) {
  return unit ? 1 - fabsf(e) : fmaf(-v.slope, fabsf(e), v.height);
}

/// Coefficients of two neighbouring bins, of which the first lies e below the pixel's position.
template <bool unit>
__device__ inline unsigned pair(float e, const ViewNumbers& v) {
  unsigned packed;
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;"
      : "=r"(packed)
      : "f"(hat_at<unit>(e - 1, v)), "f"(hat_at<unit>(e, v)));
  return packed;
}

/// What the pair's rounding left over.
template <bool unit>
__device__ inline unsigned rest_of(float e, const ViewNumbers& v, unsigned rounded) {
  const float2 r = __half22float2(*reinterpret_cast<const __half2*>(&rounded));
  const __half2 rest =
      __floats2half2_rn(fmaxf(hat_at<unit>(e, v), 0.0f) - r.x, fmaxf(hat_at<unit>(e - 1, v), 0.0f) - r.y);
  return *reinterpret_cast<const unsigned*>(&rest);
}

/// Whether all hats are 1 - |e|.
inline bool hats_are_units(const ParallelViews& packed) {
  return std::all_of(packed.views.begin(), packed.views.end(),
                     [](const ParallelView& v) { return v.height == 1 && v.slope == 1; });
}

/// out <- alpha sums + beta out, in some slices of a volume.
struct Target {
  float* data;
  Index slice_stride, row_stride;
  int slices;
  float alpha, beta;
  const float* unit;  ///< of the sums of each slice
  __device__ void update(int slice, Index x, Index y, float sum) const {
    float& o = data[slice * slice_stride + y * row_stride + x];
    const float value = alpha * unit[slice] * sum;
    o = beta == 0 ? value : value + beta * o;
  }
};

/// Blocks across and down a volume.
struct Blocks {
  Index x, y;
};

/// The blocks of one wave lie in a compact patch of the volume, so that they read the same bins.
template <int band>
__device__ inline int2 block_at(const Blocks& all) {
  const Index b = blockIdx.x, first = b / (band * all.y) * band;
  const Index width = min(static_cast<Index>(band), all.x - first), in = b - first * all.y;
  return {static_cast<int>(first + in % width), static_cast<int>(in / width)};
}

}  // namespace tandem::kernels::cuda
