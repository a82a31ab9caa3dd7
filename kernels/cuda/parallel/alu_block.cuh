#pragma once

// A block of pixels back-projected on the cores (the first loop in parallel.hpp), and batches of four slices,
// slices fastest. Kernels that interpolate on the cores share these, alone or beside texture units.

#include <algorithm>
#include <cmath>

#include "../common/batch.cuh"
#include "../common/device_table.cuh"

namespace tandem::kernels::cuda {

constexpr int threads = 256;
constexpr int lanes = 4;  // slices of a float4

/// Rows lie along x, where a launch takes 2^31 - 1 of them, and quads of slices along z.
inline dim3 cells(Index columns, Index rows, int quads = 1) {
  return grid_of(rows, ceil_div<Index>(columns, threads), quads);
}

/// (n0, slices, n2) -> (n0, n2, lane), or the other way with `n0` and `slices` exchanged for volumes: from
/// (slice, y, x) strides. Element (i, k, j) of four slices becomes float4 (i, j), and (j, i) of `turned`
/// unless that is null. Quads follow each other; lanes after the last slice are zero.
static __global__ void __launch_bounds__(threads)
    interleave(const float* __restrict__ in, Index rows, Index columns, Index row_stride, Index slice_stride,
               int slices, float4* out, float4* turned) {
  const Index j = Index{blockIdx.y} * threads + threadIdx.x, i = blockIdx.x;
  if (j >= columns) return;
  const int first = blockIdx.z * lanes;
  float value[lanes];
#pragma unroll
  for (int k = 0; k < lanes; ++k)
    value[k] = first + k < slices ? in[i * row_stride + (first + k) * slice_stride + j] : 0;
  const float4 quad{value[0], value[1], value[2], value[3]};
  const Index before = blockIdx.z * rows * columns;
  out[before + i * columns + j] = quad;
  if (turned) turned[before + j * rows + i] = quad;
}

/// out(i, k, j) <- alpha batch(i, j).k + beta out, quad by quad
static __global__ void __launch_bounds__(threads)
    uninterleave(const float4* __restrict__ batch, Index columns, Index row_stride, Index slice_stride,
                 int slices, float alpha, float beta, float* out) {
  const Index j = Index{blockIdx.y} * threads + threadIdx.x, i = blockIdx.x;
  if (j >= columns) return;
  const float4 v = batch[(Index{blockIdx.z} * gridDim.x + i) * columns + j];
  const float value[lanes] = {v.x, v.y, v.z, v.w};
  const int first = blockIdx.z * lanes;
#pragma unroll
  for (int k = 0; k < lanes; ++k)
    if (first + k < slices)
      Update{alpha, beta}(out[i * row_stride + (first + k) * slice_stride + j], value[k]);
}

__device__ inline void add(float4& sum, float w, float4 v) {
  sum.x = fmaf(w, v.x, sum.x);
  sum.y = fmaf(w, v.y, sum.y);
  sum.z = fmaf(w, v.z, sum.z);
  sum.w = fmaf(w, v.w, sum.w);
}

constexpr int edge = 32;  // pixels of a block along x and y: four tiles
constexpr int pixels = edge * edge / threads;
constexpr int chunk = 16;  // views whose windows lie in shared memory at once

struct BackwardShape {
  Index views, bins, nx, ny;
  int half_width, window;  ///< window: bins of a block that any view can meet
  std::size_t shared_bytes() const { return chunk * window * sizeof(float4); }
  dim3 blocks() const { return grid_of(ceil_div<Index>(nx, edge), ceil_div<Index>(ny, edge)); }
};

inline BackwardShape backward_shape(const ParallelViews& packed, Image<const float> projections,
                                    Image<float> volume) {
  double span = 0;
  for (const ParallelView& v : packed.views) span = std::max(span, std::abs(v.step_x) + std::abs(v.step_y));
  return {projections.n0, projections.n2,    volume.n2,
          volume.n1,      packed.half_width, ceil_int(span * (edge - 1)) + 2 * packed.half_width + 5};
}

/// The pixels of block (blockIdx.x, blockIdx.y). Shared memory: chunk windows of `window` float4, and of each
/// view four anchors and its steps.
template <int half_width>
__device__ void alu_block(BackwardShape n, const ParallelView* __restrict__ views,
                          const float4* __restrict__ sinogram, float4* volume) {
  extern __shared__ float4 windows[];
  __shared__ Anchor anchors[chunk][4];  // bins from the start of the window
  __shared__ float4 steps[chunk];       // step_x, step_y, height, slope
  __shared__ int starts[chunk];
  const int reach = half_width > 0 ? half_width : n.half_width;
  const int x = threadIdx.x % edge, y = threadIdx.x / edge;  // and rows y + 8 j
  const Index x0 = Index{blockIdx.x} * edge, y0 = Index{blockIdx.y} * edge;
  float4 sum[pixels] = {};
  for (Index first = 0; first < n.views; first += chunk) {
    const int count = at_most(chunk, n.views - first);
    __syncthreads();
    if (threadIdx.x < count * 4) {
      const int v = threadIdx.x / 4, corner = threadIdx.x % 4;
      const ParallelView view = views[first + v];
      const double lowest = view.origin + view.step_x * x0 + view.step_y * y0 +
                            (edge - 1) * (fmin(view.step_x, 0.0) + fmin(view.step_y, 0.0));
      const int start = floor_int(fmin(fmax(lowest, -1e9), 1e9)) - n.half_width - 1;
      Anchor anchor = anchor_at(view, x0 / tile + corner % 2, y0 / tile + corner / 2);
      anchor.bin -= start;
      anchors[v][corner] = anchor;
      starts[v] = start;
      steps[v] = {static_cast<float>(view.step_x), static_cast<float>(view.step_y), view.height, view.slope};
    }
    __syncthreads();
    for (int v = 0; v < count; ++v)
      for (int i = threadIdx.x; i < n.window; i += threads) {
        const Index bin = Index{starts[v]} + i;
        windows[v * n.window + i] =
            0 <= bin && bin < n.bins ? sinogram[(first + v) * n.bins + bin] : float4{};
      }
    __syncthreads();
    for (int v = 0; v < count; ++v) {
      const float4 step = steps[v];
      const float4* window = windows + v * n.window;
      const Anchor upper = anchors[v][x / tile], lower = anchors[v][x / tile + 2];
#pragma unroll
      for (int j = 0; j < pixels; ++j) {
        const int row = y + j * (edge / pixels);
        const Anchor anchor = j < pixels / 2 ? upper : lower;
        const Split at = split(position_in(anchor, step.x, step.y, x % tile, row % tile));
        const float4* q = window + anchor.bin + at.below;
#pragma unroll
        for (int t = 1 - reach; t <= reach; ++t) add(sum[j], hat(step.z, step.w, at.fraction, t), q[t]);
      }
    }
  }
#pragma unroll
  for (int j = 0; j < pixels; ++j) {
    const Index px = x0 + x, py = y0 + y + j * (edge / pixels);
    if (px < n.nx && py < n.ny) volume[py * n.nx + px] = sum[j];
  }
}

/// Back-projects four slices at a time: launch(first, sinogram, sums) makes the sums (y, x) of the slices
/// from `first` on, of which `sinogram` holds (view, bin).
template <class Launch>
void backward_by_fours(float alpha, Image<const float> projections, float beta, Image<float> volume,
                       cudaStream_t s, const Launch& launch) {
  const Index views = projections.n0, bins = projections.n2, nx = volume.n2, ny = volume.n1;
  const Scratch<float4> both(views * bins + nx * ny, s);
  float4 *const sinogram = both.data(), *const sums = sinogram + views * bins;
  for (Index first = 0; first < volume.n0; first += lanes) {
    const int slices = at_most(lanes, volume.n0 - first);
    interleave<<<cells(bins, views), threads, 0, s>>>(&projections(0, first, 0), views, bins, projections.s0,
                                                      projections.s1, slices, sinogram, nullptr);
    after_launch();
    launch(first, sinogram, sums);
    uninterleave<<<cells(nx, ny), threads, 0, s>>>(sums, nx, volume.s1, volume.s0, slices, alpha, beta,
                                                   &volume(first, 0, 0));
    after_launch();
  }
}

}  // namespace tandem::kernels::cuda
