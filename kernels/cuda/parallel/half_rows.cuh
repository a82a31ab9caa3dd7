#pragma once

// A sinogram, or a volume with its rows as views, as tensor cores take it: float16, slices fastest, each
// slice scaled by a power of two.

#include <cuda_fp16.h>

#include "../common/levels.cuh"

namespace tandem::kernels::cuda {

/// Units of the slices, and what to multiply by to have them.
static __global__ void scales(const Extremes* extremes, int slices, float* scale, float* unit) {
  const int slice = threadIdx.x;
  if (slice >= slices) return;
  unit[slice] = level_of<Precision::float16>(extremes[slice]).unit;
  scale[slice] = 1 / unit[slice];
}

/// (view, slice, bin) -> (plane, view, bin, slice): float16, and what that leaves over in a second plane.
template <int planes>
static __global__ void __launch_bounds__(256)
    to_half(Image<const float> in, int lanes, const float* __restrict__ scale, __half* out) {
  constexpr int side = 32;
  __shared__ float cell[side][side + 1];
  const Index view = blockIdx.x, bin0 = Index{blockIdx.y} * side;
  const int slice0 = blockIdx.z * side, a = threadIdx.x % side;
  for (int b = threadIdx.x / side; b < side; b += 256 / side)
    if (slice0 + b < in.n1 && bin0 + a < in.n2)
      cell[b][a] = element(in, view, slice0 + b, bin0 + a) * scale[slice0 + b];
    else
      cell[b][a] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < side * side / 2; k += 256) {
    const int b = k / (side / 2), s = k % (side / 2) * 2;
    if (bin0 + b >= in.n2) continue;
    const float2 value{cell[s][b], cell[s + 1][b]};
    const __half2 high = __floats2half2_rn(value.x, value.y);
    __half* to = out + (view * in.n2 + bin0 + b) * lanes + slice0 + s;
    *reinterpret_cast<__half2*>(to) = high;
    if constexpr (planes == 2) {
      const float2 r = __half22float2(high);
      *reinterpret_cast<__half2*>(to + in.n0 * in.n2 * lanes) =
          __floats2half2_rn(value.x - r.x, value.y - r.y);
    }
  }
}

/// All slices of `projections`, at most `lanes`, a multiple of 32; the lanes after them are zero.
template <int lanes, int planes>
class HalfRows {
 public:
  HalfRows(Image<const float> projections, cudaStream_t stream)
      : scale_(2 * lanes, stream), rows_(planes * projections.n0 * projections.n2 * lanes, stream) {
    const Scratch<Extremes> extremes(lanes, stream);
    measure(projections, extremes.data(), lanes, stream);
    scales<<<1, lanes, 0, stream>>>(extremes.data(), int_of(projections.n1), scale_.data(),
                                    scale_.data() + lanes);
    after_launch();
    const dim3 cells = grid_of(projections.n0, ceil_div<Index>(projections.n2, 32), lanes / 32);
    to_half<planes><<<cells, 256, 0, stream>>>(projections, lanes, scale_.data(), rows_.data());
    after_launch();
  }

  __half* data() const { return rows_.data(); }                 ///< (plane, view, bin, slice)
  const float* units() const { return scale_.data() + lanes; }  ///< the value of 1, in each slice

 private:
  Scratch<float> scale_;
  Scratch<__half> rows_;
};

}  // namespace tandem::kernels::cuda
