// Interpolation on the cores (Chilingaryan et al. 2018, algorithm 2), four slices at a time, slices fastest,
// float32; and its exact transpose as a gather. Both compute a coefficient from the same numbers (batch.cuh).

#include <vector>

#include "tandem/kernels/cuda/batch.cuh"
#include "tandem/kernels/cuda/tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 256;
constexpr int lanes = 4;  // slices of a float4

std::vector<DeviceView> views_of(const ParallelViews& packed) {
  std::vector<DeviceView> views;
  for (const ParallelView& v : packed.views)
    views.push_back({v.origin, v.step_x, v.step_y, v.height, v.slope});
  return views;
}

/// (n0, slices, n2) -> (n0, n2, lane), or the other way with `n0` and `slices` exchanged for volumes: from
/// (slice, y, x) strides. Element (i, k, j) of four slices becomes float4 (i, j).
__global__ void __launch_bounds__(threads)
    interleave(const float* __restrict__ in, Index rows, Index columns, Index row_stride, Index slice_stride,
               int slices, bool transposed, float4* out) {
  const Index j = static_cast<Index>(blockIdx.x) * threads + threadIdx.x, i = blockIdx.y;
  if (j >= columns) return;
  float value[lanes] = {};
  for (int k = 0; k < slices; ++k) value[k] = in[i * row_stride + k * slice_stride + j];
  out[transposed ? j * rows + i : i * columns + j] = {value[0], value[1], value[2], value[3]};
}

/// out(i, k, j) <- alpha batch(i, j).k + beta out
__global__ void __launch_bounds__(threads)
    uninterleave(const float4* __restrict__ batch, Index columns, Index row_stride, Index slice_stride,
                 int slices, float alpha, float beta, float* out) {
  const Index j = static_cast<Index>(blockIdx.x) * threads + threadIdx.x, i = blockIdx.y;
  if (j >= columns) return;
  const float4 v = batch[i * columns + j];
  const float value[lanes] = {v.x, v.y, v.z, v.w};
  for (int k = 0; k < slices; ++k) {
    float& o = out[i * row_stride + k * slice_stride + j];
    o = beta == 0 ? alpha * value[k] : alpha * value[k] + beta * o;
  }
}

__device__ inline void add(float4& sum, float w, float4 v) {
  sum.x = fmaf(w, v.x, sum.x);
  sum.y = fmaf(w, v.y, sum.y);
  sum.z = fmaf(w, v.z, sum.z);
  sum.w = fmaf(w, v.w, sum.w);
}

// ---- back-projection

constexpr int edge = 32;  // pixels of a block along x and y: four tiles
constexpr int pixels = edge * edge / threads;
constexpr int chunk = 16;  // views whose windows lie in shared memory at once

struct BackwardShape {
  Index views, bins, nx, ny;
  int half_width, window;  ///< window: bins of a block that any view can meet
};

/// Shared memory: chunk windows of `window` float4, and of each view four anchors and its steps.
template <int half_width>
__global__ void __launch_bounds__(threads, 4) backward(BackwardShape n, const DeviceView* __restrict__ views,
                                                       const float4* __restrict__ sinogram, float4* volume) {
  extern __shared__ float4 windows[];
  __shared__ Anchor anchors[chunk][4];  // bins from the start of the window
  __shared__ float4 steps[chunk];       // step_x, step_y, height, slope
  __shared__ int starts[chunk];
  const int reach = half_width > 0 ? half_width : n.half_width;
  const int x = threadIdx.x % edge, y = threadIdx.x / edge;  // and rows y + 8 j
  const Index x0 = static_cast<Index>(blockIdx.x) * edge, y0 = static_cast<Index>(blockIdx.y) * edge;
  float4 sum[pixels] = {};
  for (Index first = 0; first < n.views; first += chunk) {
    const int count = static_cast<int>(min(static_cast<Index>(chunk), n.views - first));
    __syncthreads();
    if (threadIdx.x < count * 4) {
      const int v = threadIdx.x / 4, corner = threadIdx.x % 4;
      const DeviceView view = views[first + v];
      const double lowest = view.origin + view.step_x * static_cast<double>(x0) +
                            view.step_y * static_cast<double>(y0) +
                            (edge - 1) * (fmin(view.step_x, 0.0) + fmin(view.step_y, 0.0));
      const int start = static_cast<int>(floor(fmin(fmax(lowest, -1e9), 1e9))) - n.half_width - 1;
      Anchor anchor = anchor_at(view, x0 / tile + corner % 2, y0 / tile + corner / 2);
      anchor.bin -= start;
      anchors[v][corner] = anchor;
      starts[v] = start;
      steps[v] = {static_cast<float>(view.step_x), static_cast<float>(view.step_y), view.height, view.slope};
    }
    __syncthreads();
    for (int v = 0; v < count; ++v)
      for (int i = threadIdx.x; i < n.window; i += threads) {
        const Index bin = static_cast<Index>(starts[v]) + i;
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
        for (int t = 1 - reach; t <= reach; ++t)
          add(sum[j], hat(step.z, step.w, at.fraction, static_cast<float>(t)), q[t]);
      }
    }
  }
#pragma unroll
  for (int j = 0; j < pixels; ++j) {
    const Index px = x0 + x, py = y0 + y + j * (edge / pixels);
    if (px < n.nx && py < n.ny) volume[py * n.nx + px] = sum[j];
  }
}

// ---- projection

constexpr int bins_a_block = 32, views_a_block = threads / bins_a_block;
constexpr double margin = 1e-3;  // pixels, more than rounding moves a position

struct ForwardShape {
  Index views, bins, nx, ny;
  int tiles;  ///< along a line, that a block of bins can meet within a stripe of `tile` lines
};

/// One thread a bin and view walks along the lines that the view crosses most steeply, and sums over the
/// pixels of each line whose hat reaches its bin. `volume` is (y, x, quad), `turned` the same as (x, y,
/// quad): lines are contiguous. Shared memory: anchors of the tiles that the views of a block meet in the
/// stripe of lines at work.
template <int quads>
__global__ void __launch_bounds__(threads)
    forward(ForwardShape n, const DeviceView* __restrict__ views, const float4* __restrict__ volume,
            const float4* __restrict__ turned, float4* projections) {
  extern __shared__ Anchor stripe[];
  const int lane = threadIdx.x % bins_a_block, v = threadIdx.x / bins_a_block;
  const Index first_bin = static_cast<Index>(blockIdx.x) * bins_a_block, bin = first_bin + lane;
  const Index which = min(static_cast<Index>(blockIdx.y) * views_a_block + v, n.views - 1);
  const DeviceView view = views[which];
  const bool along_x = fabs(view.step_x) >= fabs(view.step_y);
  const double major = along_x ? view.step_x : view.step_y, minor = along_x ? view.step_y : view.step_x;
  const int count = static_cast<int>(along_x ? n.nx : n.ny), lines = static_cast<int>(along_x ? n.ny : n.nx);
  const int most_lines = static_cast<int>(max(n.nx, n.ny));  // all views of a block walk together
  const float4* image = along_x ? volume : turned;
  const double radius = view.height / (view.slope * fabs(major)) + margin;  // of the hat, in pixels of a line
  const int reach = static_cast<int>(floor(2 * radius)) + 1;
  const float step_x = static_cast<float>(view.step_x), step_y = static_cast<float>(view.step_y);
  const float drift = static_cast<float>(-minor / major);
  const Index plane = n.nx * n.ny;
  float4 sum[quads] = {};
  for (int line0 = 0; line0 < most_lines; line0 += tile) {
    // the lowest pixel that any bin of the block meets in this stripe, in whole tiles
    const double at_first = (static_cast<double>(first_bin) - view.origin - minor * line0) / major;
    const double across = (bins_a_block - 1) / major, down = (tile - 1) * -minor / major;
    const double lowest = at_first + fmin(across, 0.0) + fmin(down, 0.0) - radius;
    const int tile0 = static_cast<int>(floor(fmin(fmax(lowest, -1e8), 1e8) / tile));
    __syncthreads();
    for (int i = lane; i < n.tiles; i += bins_a_block)
      stripe[v * n.tiles + i] =
          along_x ? anchor_at(view, tile0 + i, line0 / tile) : anchor_at(view, line0 / tile, tile0 + i);
    __syncthreads();
    const Anchor* anchors = stripe + v * n.tiles;
    const int base = tile0 * tile;
    const float start0 = static_cast<float>(at_first + lane / major - radius - base);
    for (int l = 0; l < tile && line0 + l < lines; ++l) {
      const int start = __float2int_ru(fmaf(drift, static_cast<float>(l), start0));
      const float4* pixels_of_line = image + static_cast<Index>(line0 + l) * count + base;
      for (int k = start; k < start + reach; ++k) {
        if (static_cast<unsigned>(base + k) >= static_cast<unsigned>(count)) continue;
        const Anchor anchor = anchors[k / tile];
        const int in = k % tile;
        const Split at = split(position_in(anchor, step_x, step_y, along_x ? in : l, along_x ? l : in));
        const float t = static_cast<float>(static_cast<int>(bin) - anchor.bin - at.below);
        const float weight = hat(view.height, view.slope, at.fraction, t);
#pragma unroll
        for (int q = 0; q < quads; ++q) add(sum[q], weight, pixels_of_line[k + q * plane]);
      }
    }
  }
  if (bin >= n.bins || static_cast<Index>(blockIdx.y) * views_a_block + v >= n.views) return;
#pragma unroll
  for (int q = 0; q < quads; ++q) projections[(q * n.views + which) * n.bins + bin] = sum[q];
}

// ---- batches of slices

dim3 cells(Index columns, Index rows) {
  return {static_cast<unsigned>(ceil_div<Index>(columns, threads)), static_cast<unsigned>(rows)};
}

void alu_backward(const ParallelViews& packed, float alpha, Image<const float> projections, float beta,
                  Image<float> volume, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const std::vector<DeviceView> host = views_of(packed);
  const Scratch<DeviceView> views(host, s);
  double span = 0;
  for (const ParallelView& v : packed.views) span = std::max(span, std::abs(v.step_x) + std::abs(v.step_y));
  const BackwardShape n{
      projections.n0,    projections.n2,
      volume.n2,         volume.n1,
      packed.half_width, static_cast<int>(std::ceil(span * (edge - 1))) + 2 * packed.half_width + 5};
  const std::size_t shared = static_cast<std::size_t>(chunk * n.window) * sizeof(float4);
  const auto kernel = packed.half_width == 1 ? backward<1> : backward<0>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  const Scratch<float4> sinogram(static_cast<std::size_t>(n.views * n.bins), s),
      out(static_cast<std::size_t>(n.nx * n.ny), s);
  const dim3 blocks(static_cast<unsigned>(ceil_div<Index>(n.nx, edge)),
                    static_cast<unsigned>(ceil_div<Index>(n.ny, edge)));
  for (Index first = 0; first < volume.n0; first += lanes) {
    const int slices = static_cast<int>(std::min<Index>(lanes, volume.n0 - first));
    interleave<<<cells(n.bins, n.views), threads, 0, s>>>(&projections(0, first, 0), n.views, n.bins,
                                                          projections.s0, projections.s1, slices, false,
                                                          sinogram.data());
    after_launch();
    kernel<<<blocks, threads, shared, s>>>(n, views.data(), sinogram.data(), out.data());
    after_launch();
    uninterleave<<<cells(n.nx, n.ny), threads, 0, s>>>(out.data(), n.nx, volume.s1, volume.s0, slices, alpha,
                                                       beta, &volume(first, 0, 0));
    after_launch();
  }
}

/// Tiles along a line that the bins of a block can meet within a stripe.
int tiles_of(const ParallelViews& packed) {
  double most = 0;
  for (const ParallelView& v : packed.views) {
    const double a = std::abs(v.step_x), b = std::abs(v.step_y), major = std::max(a, b),
                 minor = std::min(a, b);
    const double radius = v.height / (v.slope * major) + margin;
    most = std::max(most, (bins_a_block - 1) / major + (tile - 1) * minor / major + 2 * radius + 1);
  }
  return static_cast<int>(std::ceil(most / tile)) + 2;
}

void alu_forward(const ParallelViews& packed, float alpha, Image<const float> volume, float beta,
                 Image<float> projections, Stream& stream) {
  constexpr int most_quads = 4;
  const cudaStream_t s = queue(stream);
  const std::vector<DeviceView> host = views_of(packed);
  const Scratch<DeviceView> views(host, s);
  const ForwardShape n{projections.n0, projections.n2, volume.n2, volume.n1, tiles_of(packed)};
  const std::size_t shared = static_cast<std::size_t>(views_a_block * n.tiles) * sizeof(Anchor);
  const auto area = static_cast<std::size_t>(n.nx * n.ny * most_quads);
  const Scratch<float4> image(area, s), turned(area, s),
      out(static_cast<std::size_t>(n.views * n.bins * most_quads), s);
  const dim3 blocks(static_cast<unsigned>(ceil_div<Index>(n.bins, bins_a_block)),
                    static_cast<unsigned>(ceil_div<Index>(n.views, views_a_block)));
  for (Index first = 0; first < volume.n0;) {
    const Index left = ceil_div<Index>(volume.n0 - first, lanes);
    const int quads = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    const auto slices_in = [&](int q) {
      return static_cast<int>(std::clamp<Index>(volume.n0 - first - q * lanes, 0, lanes));
    };
    const Index area = n.nx * n.ny, cells_a_quad = n.views * n.bins;
    for (int q = 0; q < quads; ++q)
      for (const bool transposed : {false, true}) {
        interleave<<<cells(n.nx, n.ny), threads, 0, s>>>(
            &volume(first + q * lanes, 0, 0), n.ny, n.nx, volume.s1, volume.s0, slices_in(q), transposed,
            (transposed ? turned.data() : image.data()) + q * area);
        after_launch();
      }
    const auto kernel = quads == 4 ? forward<4> : quads == 2 ? forward<2> : forward<1>;
    kernel<<<blocks, threads, shared, s>>>(n, views.data(), image.data(), turned.data(), out.data());
    after_launch();
    for (int q = 0; q < quads; ++q) {
      uninterleave<<<cells(n.bins, n.views), threads, 0, s>>>(
          out.data() + q * cells_a_quad, n.bins, projections.s0, projections.s1, slices_in(q), alpha, beta,
          &projections(0, first + q * lanes, 0));
      after_launch();
    }
    first += quads * lanes;
  }
}

}  // namespace

const ParallelKernels parallel_kernels{alu_forward, alu_backward};

}  // namespace tandem::kernels::cuda
