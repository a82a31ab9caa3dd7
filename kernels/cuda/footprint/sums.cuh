#pragma once

// The products of a projection by footprints: a warp's 64 bins and 32 rows of a view, and what a tile adds.

#include "../common/ampere.cuh"
#include "tiles.cuh"

namespace tandem::kernels::cuda {

constexpr int granules = warp_bins / granule;  // granules of a warp's bins

/// A product's first factor: the profiles of a tile's columns in 16 rows.
struct Factor {
  unsigned high[4], low[4];
};

template <Wide wide, int bits>
__device__ inline void make_factors(int window, const Rung* rungs, const float* voxels, Factor (&f)[2]) {
  const int lane = threadIdx.x % 32, g = lane / 4 - warp_rows / 2, q = lane % 4 * 2;
#pragma unroll
  for (int p = 0; p < 2; ++p) {
    const int column = q + 8 * p;
    const int4 both = reinterpret_cast<const int4*>(rungs)[column / 2];
    const float* first = voxels + column * window;
    const float width[2] = {static_cast<float>(both.y) * (1 / one_cell<bits>),
                            static_cast<float>(both.w) * (1 / one_cell<bits>)};
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = g + 16 * m + 8 * r;
        split_pair(add_integral<wide, bits>(first, both.x + both.y * row, width[0], 0),
                   add_integral<wide, bits>(first + window, both.z + both.w * row, width[1], 0),
                   f[m].high[2 * p + r], f[m].low[2 * p + r]);
      }
  }
}

using Sums = float[2][granules][4];

/// Adds the granules of a tile to granules `first`, `first` + 1, ... of the warp's bins.
template <int first>
__device__ inline void add(const Factor (&f)[2], const uint4 (&w)[most_granules], int count, Sums& sum) {
#pragma unroll
  for (int j = 0; j < most_granules; ++j) {
    if (first + j < 0 || first + j >= granules || j >= count) continue;
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      float d[4] = {};
      multiply(d, f[m].high, w[j].x, w[j].y);
      multiply(d, f[m].low, w[j].x, w[j].y);
      multiply(d, f[m].high, w[j].z, w[j].w);
#pragma unroll
      for (int k = 0; k < 4; ++k) sum[m][first + j < 0 || first + j >= granules ? 0 : first + j][k] += d[k];
    }
  }
}

__device__ inline void add_from(int first, const Factor (&f)[2], const uint4 (&w)[most_granules], int count,
                                Sums& sum) {
  switch (first) {
    case -2:
      return add<-2>(f, w, count, sum);
    case -1:
      return add<-1>(f, w, count, sum);
    case 0:
      return add<0>(f, w, count, sum);
    case 1:
      return add<1>(f, w, count, sum);
    case 2:
      return add<2>(f, w, count, sum);
    case 3:
      return add<3>(f, w, count, sum);
    case 4:
      return add<4>(f, w, count, sum);
    case 5:
      return add<5>(f, w, count, sum);
    case 6:
      return add<6>(f, w, count, sum);
    case 7:
      return add<7>(f, w, count, sum);
  }
}

}  // namespace tandem::kernels::cuda
