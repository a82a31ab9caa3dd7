#pragma once

// Projection on the cores as a gather, the third loop in parallel.hpp: the transpose of a back-projection
// that has the same coefficients.

#include <algorithm>
#include <cmath>
#include <string>

#include "../../launches.hpp"
#include "alu_block.cuh"

namespace tandem::kernels::cuda {

constexpr int bins_a_block = 32, views_a_block = threads / bins_a_block;
constexpr double margin = 1e-3;  // pixels, more than rounding moves a position

struct ForwardShape {
  Index views, bins, nx, ny;
  int tiles;  ///< along a line, that a block of bins can meet within a stripe of `tile` lines
};

/// One thread a bin and view walks along the lines that the view crosses most steeply, and sums over the
/// pixels of each line whose hat reaches its bin. `volume` is (y, x, quad), `turned` the same as (x, y,
/// quad): lines are contiguous. Shared memory: anchors of the tiles that the views of a block meet in the
/// stripe of lines at work. A `Weight`, made of a view, is the coefficient of a pixel and a bin; `radius`
/// says how far it reaches.
template <int quads, class Weight>
static __global__ void __launch_bounds__(threads)
    gather(ForwardShape n, const ParallelView* __restrict__ views, const float4* __restrict__ volume,
           const float4* __restrict__ turned, float4* projections) {
  extern __shared__ Anchor stripe[];
  const int lane = threadIdx.x % bins_a_block, v = threadIdx.x / bins_a_block;
  const Index first_bin = Index{blockIdx.x} * bins_a_block, bin = first_bin + lane;
  const Index which = min(Index{blockIdx.y} * views_a_block + v, n.views - 1);
  const ParallelView view = views[which];
  const bool along_x = fabs(view.step_x) >= fabs(view.step_y);
  const double major = along_x ? view.step_x : view.step_y, minor = along_x ? view.step_y : view.step_x;
  const int count = static_cast<int>(along_x ? n.nx : n.ny), lines = static_cast<int>(along_x ? n.ny : n.nx);
  const int most_lines = static_cast<int>(max(n.nx, n.ny));  // all views of a block walk together
  const float4* image = along_x ? volume : turned;
  const double radius = Weight::radius(view, fabs(major)) + margin;
  const int reach = floor_int(2 * radius) + 1;
  const float step_x = static_cast<float>(view.step_x), step_y = static_cast<float>(view.step_y);
  const float drift = static_cast<float>(-minor / major);
  const Index plane = n.nx * n.ny;
  const Weight weight_of(view);
  float4 sum[quads] = {};
  for (int line0 = 0; line0 < most_lines; line0 += tile) {
    // the lowest pixel that any bin of the block meets in this stripe, in whole tiles
    const double at_first = (first_bin - view.origin - minor * line0) / major;
    const double across = (bins_a_block - 1) / major, down = (tile - 1) * -minor / major;
    const double lowest = at_first + fmin(across, 0.0) + fmin(down, 0.0) - radius;
    const int tile0 = floor_int(fmin(fmax(lowest, -1e8), 1e8) / tile);
    __syncthreads();
    for (int i = lane; i < n.tiles; i += bins_a_block)
      stripe[v * n.tiles + i] =
          along_x ? anchor_at(view, tile0 + i, line0 / tile) : anchor_at(view, line0 / tile, tile0 + i);
    __syncthreads();
    const Anchor* anchors = stripe + v * n.tiles;
    const int base = tile0 * tile;
    const float start0 = static_cast<float>(at_first + lane / major - radius - base);
    for (int l = 0; l < tile && line0 + l < lines; ++l) {
      const int start = __float2int_ru(fmaf(drift, l, start0));
      const float4* pixels_of_line = image + Index{line0 + l} * count + base;
      for (int k = start; k < start + reach; ++k) {
        if (!is_below(base + k, count)) continue;
        const Anchor anchor = anchors[k / tile];
        const int in = k % tile;
        const int dx = along_x ? in : l, dy = along_x ? l : in;
        const float weight = weight_of(anchor, step_x, step_y, dx, dy, static_cast<int>(bin));
#pragma unroll
        for (int q = 0; q < quads; ++q) add(sum[q], weight, pixels_of_line[k + q * plane]);
      }
    }
  }
  if (bin >= n.bins || Index{blockIdx.y} * views_a_block + v >= n.views) return;
#pragma unroll
  for (int q = 0; q < quads; ++q) projections[(q * n.views + which) * n.bins + bin] = sum[q];
}

/// Tiles along a line that the bins of a block can meet within a stripe.
template <class Weight>
int tiles_of(const ParallelViews& packed) {
  double most = 0;
  for (const ParallelView& v : packed.views) {
    const double a = std::abs(v.step_x), b = std::abs(v.step_y), major = std::max(a, b),
                 minor = std::min(a, b);
    const double radius = Weight::radius(v, major) + margin;
    most = std::max(most, (bins_a_block - 1) / major + (tile - 1) * minor / major + 2 * radius + 1);
  }
  return ceil_int(most / tile) + 2;
}

/// `Variant::forward` by that weight, up to 16 slices at a time; launches are noted as `name`.
template <class Weight>
void forward_by(const std::string& name, const ParallelViews& packed, float alpha, Image<const float> volume,
                float beta, Image<float> projections, Stream& stream) {
  constexpr int most_quads = 4;
  const cudaStream_t s = queue(stream);
  const auto views = views_on_device(packed, stream);
  const ForwardShape n{projections.n0, projections.n2, volume.n2, volume.n1, tiles_of<Weight>(packed)};
  const std::size_t shared = views_a_block * n.tiles * sizeof(Anchor);
  const Index area = n.nx * n.ny, cells_a_quad = n.views * n.bins;
  const Scratch<float4> all(most_quads * (2 * area + cells_a_quad), s);
  float4 *const image = all.data(), *const turned = image + most_quads * area,
                *const out = turned + most_quads * area;
  const dim3 blocks = grid_of(ceil_div<Index>(n.bins, bins_a_block), ceil_div<Index>(n.views, views_a_block));
  for (Index first = 0, slices; first < volume.n0; first += slices) {
    const Index left = ceil_div<Index>(volume.n0 - first, lanes);
    const int quads = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    slices = std::min<Index>(volume.n0 - first, quads * lanes);
    interleave<<<cells(n.nx, n.ny, quads), threads, 0, s>>>(&volume(first, 0, 0), n.ny, n.nx, volume.s1,
                                                            volume.s0, int_of(slices), image, turned);
    after_launch();
    const auto kernel = quads == 4 ? gather<4, Weight> : quads == 2 ? gather<2, Weight> : gather<1, Weight>;
    note_launch(name + ", " + std::to_string(quads * lanes));
    kernel<<<blocks, threads, shared, s>>>(n, views->data(), image, turned, out);
    after_launch();
    uninterleave<<<cells(n.bins, n.views, quads), threads, 0, s>>>(
        out, n.bins, projections.s0, projections.s1, int_of(slices), alpha, beta, &projections(0, first, 0));
    after_launch();
  }
}

}  // namespace tandem::kernels::cuda
