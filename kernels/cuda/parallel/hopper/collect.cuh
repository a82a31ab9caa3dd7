#pragma once

// The second kernel of forward.cu: adds in a fixed order what the strips of all segments left behind.

#include "../../common/batch.cuh"
#include "../products.cuh"
#include "../view_groups.hpp"

namespace tandem::kernels::cuda {

namespace {

struct Layout {
  Index bins, pixels, lines;  ///< pixels of a line
  int segment;                ///< lines of a segment; whole tiles
  int segments, columns;      ///< columns: of strips, three each
  int groups, stages;
  /// The place in memory of the window of a strip, for a view with this place in its group.
  __device__ int window_at(int group, int line_segment, int strip_of_all, int place) const {
    const int block = (line_segment * columns + strip_of_all / strips) * groups + group;
    return (block * strips + strip_of_all % strips) * views_a_group + place;
  }
};

struct Result {
  float* data;
  Index view_stride, slice_stride;
  int slices;
  float alpha, beta;
  const float* unit;  ///< one a slice
};

constexpr int bins_a_block = 32;

/// 32 bins of a view: adds what the strips that meet them left behind, segment by segment and strip by strip.
template <int slices>
__global__ void __launch_bounds__(256)
    collect(Layout n, const Group* __restrict__ groups, const float* __restrict__ partial,
            const int* __restrict__ firsts, Result out) {
  constexpr int threads_a_bin = slices, bins_at_once = 256 / threads_a_bin,
                sums = bins_a_block / bins_at_once;
  __shared__ int lowest, highest;
  __shared__ float cell[bins_a_block][slices + 1];
  const int group = blockIdx.x / views_a_group, place = blockIdx.x % views_a_group;
  const int view = groups[group].views[place];
  if (view < 0) return;
  const int bin0 = blockIdx.y * bins_a_block, all_strips = n.columns * strips;
  const int slice = threadIdx.x % threads_a_bin, sub = threadIdx.x / threads_a_bin;
  float sum[sums] = {};
  for (int s = 0; s < n.segments; ++s) {
    __syncthreads();
    if (threadIdx.x == 0) lowest = all_strips, highest = -1;
    __syncthreads();
    for (int k = threadIdx.x; k < all_strips; k += 256) {
      const int first = firsts[n.window_at(group, s, k, place)];
      if (first >= bin0 + bins_a_block || first + window <= bin0) continue;
      atomicMin(&lowest, k);
      atomicMax(&highest, k);
    }
    __syncthreads();
    for (int k = lowest; k <= highest; ++k) {
      const int at = n.window_at(group, s, k, place), first = firsts[at];
      const float* from = partial + Index{at} * window * slices + slice;
#pragma unroll
      for (int j = 0; j < sums; ++j) {
        const int in = bin0 + sub + j * bins_at_once - first;
        if (0 <= in && in < window) sum[j] += from[in * slices];
      }
    }
  }
#pragma unroll
  for (int j = 0; j < sums; ++j) cell[sub + j * bins_at_once][slice] = sum[j];
  __syncthreads();
  const int bin = threadIdx.x % bins_a_block;
  if (bin0 + bin >= n.bins) return;
  for (int k = threadIdx.x / bins_a_block; k < out.slices; k += 256 / bins_a_block) {
    const Update update{out.alpha * out.unit[k], out.beta};
    update(out.data[view * out.view_stride + k * out.slice_stride + bin0 + bin], cell[bin][k]);
  }
}

}  // namespace

}  // namespace tandem::kernels::cuda
