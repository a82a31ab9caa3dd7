#pragma once

// Volumes and projections as the footprint kernels take them: contiguous along rows or slices, and scaled by
// a power of two so that float16 holds the numbers.

#include <cuda_fp16.h>

#include "../common/device_table.cuh"
#include "../common/levels.cuh"
#include "tiles.cuh"

namespace tandem::kernels::cuda {

static __global__ void choose_unit(const Extremes* extremes, float* units) {
  units[0] = level_of<Precision::float16>(*extremes).unit;
  units[1] = 1 / units[0];
}

/// Finds the number that 1 stands for, and one over it.
inline void measure_unit(Image<const float> in, float* units, cudaStream_t s) {
  const Scratch<Extremes> extremes(1, s);
  measure_largest(in, extremes.data(), s);
  choose_unit<<<1, 1, 0, s>>>(extremes.data(), units);
  after_launch();
}

constexpr int side = 32;  // edge of the squares that are turned

/// (view, row, bin) -> (view, plane, bin, row): two float16 numbers, times the slants of cells; rows in the
/// padding are zero.
static __global__ void __launch_bounds__(256)
    turn_projections(const ConeView* __restrict__ views, Image<const float> in, const float* units,
                     int padded, __half* out) {
  __shared__ float cell[side][side + 1];
  const Index view = blockIdx.x, bin0 = Index{blockIdx.y} * side;
  const Index row0 = Index{blockIdx.z} * side, a = threadIdx.x % side;
  for (int b = threadIdx.x / side; b < side; b += 256 / side) {
    const Index row = row0 + b, bin = bin0 + a;
    const bool there = row < in.n1 && bin < in.n2;
    cell[b][a] = there ? element(in, view, row, bin) * units[1] * slant_of<float>(views[view], row, bin) : 0;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < side * side / 2; k += 256) {
    const int b = k / (side / 2), r = k % (side / 2) * 2;
    if (bin0 + b >= in.n2 || row0 + r >= padded) continue;
    unsigned high, low;
    split_pair(cell[r][b], cell[r + 1][b], high, low);
    __half* at = out + (view * 2 * in.n2 + bin0 + b) * padded + row0 + r;
    *reinterpret_cast<unsigned*>(at) = high;
    *reinterpret_cast<unsigned*>(at + in.n2 * padded) = low;
  }
}

/// (slice, y, x) -> (tile, column, slice), scaled; slices in the padding and columns of a tile that lie
/// beyond the volume are zero.
static __global__ void __launch_bounds__(256)
    turn_volume(Image<const float> in, const float* units, int tiles_across, int padded, float* out) {
  __shared__ float cell[side][side + 1];
  const Index y = blockIdx.x, x0 = Index{blockIdx.y} * side;
  const Index z0 = Index{blockIdx.z} * side, a = threadIdx.x % side;
  for (int b = threadIdx.x / side; b < side; b += 256 / side) {
    const bool there = z0 + b < in.n0 && y < in.n1 && x0 + a < in.n2;
    cell[b][a] = there ? element(in, z0 + b, y, x0 + a) * units[1] : 0;
  }
  __syncthreads();
  for (int b = threadIdx.x / side; b < side; b += 256 / side) {
    const Index x = x0 + b, tile = y / edge * tiles_across + x / edge, column = y % edge * edge + x % edge;
    if (x < Index{tiles_across} * edge && z0 + a < padded)
      out[(tile * columns + column) * padded + z0 + a] = cell[a][b];
  }
}

template <class Launch>
void over_squares(Index first, Index second, Index third, const Launch& launch) {
  launch(grid_of(first, ceil_div<Index>(second, side), ceil_div<Index>(third, side)));
  after_launch();
}

}  // namespace tandem::kernels::cuda
