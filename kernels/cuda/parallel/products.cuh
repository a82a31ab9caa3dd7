#pragma once

// What the kernels on tensor cores share: hats as float16 factors of a product, made in registers, and where
// sums go.

#include <cuda_fp16.h>

#include <algorithm>

#include "../common/batch.cuh"
#include "../common/device_table.cuh"

namespace tandem::kernels::cuda {

/// Positions are counted from so many bins before their anchor's: they are at least 8 there and floats
/// 2^-20 to 2^-18 apart, so differences to whole bins of a window are exact, and both directions have the
/// same weights to the bit.
constexpr float ahead = 40;

struct alignas(16) ViewNumbers {
  float step_x, step_y, height, slope;
};

/// The coefficient at distance e, which may come out below zero: 1 - |e| if all hats are that one.
template <bool unit>
__device__ inline float hat_at(float e, const ViewNumbers& v) {
  return unit ? 1 - fabsf(e) : fmaf(-v.slope, fabsf(e), v.height);
}

/// Two float16 numbers; a number below zero becomes zero. The first is the low half.
__device__ inline unsigned packed(float first, float second) {
  unsigned both;
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  return both;
}

/// Coefficients at two distances as float16.
template <bool unit>
__device__ inline unsigned hats(float e0, float e1, const ViewNumbers& v) {
  return packed(hat_at<unit>(e0, v), hat_at<unit>(e1, v));
}

/// The same, cut and not rounded, and what is left over.
template <bool unit>
__device__ inline void split_hats(float e0, float e1, const ViewNumbers& v, unsigned& high, unsigned& low) {
  constexpr unsigned bits_of_half = 0xffffe000;  // bits of a float that float16 has
  const auto positive = [&](float e) {
    return unit ? __saturatef(1 - fabsf(e)) : fmaxf(hat_at<unit>(e, v), 0.0f);
  };
  const auto cut = [](float f) { return __uint_as_float(__float_as_uint(f) & bits_of_half); };
  const float w0 = positive(e0), w1 = positive(e1);
  high = packed(cut(w0), cut(w1));
  low = packed(w0 - cut(w0), w1 - cut(w1));
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
  const float* unit;  ///< unit of the sums of each slice
  __device__ void update(int slice, Index x, Index y, float sum) const {
    Update{alpha * unit[slice], beta}(data[slice * slice_stride + y * row_stride + x], sum);
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
  const Index width = min(Index{band}, all.x - first), in = b - first * all.y;
  return {static_cast<int>(first + in % width), static_cast<int>(in / width)};
}

}  // namespace tandem::kernels::cuda
