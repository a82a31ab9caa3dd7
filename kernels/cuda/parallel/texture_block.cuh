#pragma once

// Tiles of pixels back-projected by texture units: the second loop in parallel.hpp.

#include <algorithm>

#include "texel_rows.cuh"

namespace tandem::kernels::cuda {

constexpr int texture_threads = 256;
static_assert(texture_threads == tile * tile, "sums are added by one thread a pixel");

/// Slices of one texture at a position, in bins from the texel of the anchor. Naming its only level spares
/// the unit an operand.
template <int count>
struct TextureSource;

template <>
struct TextureSource<1> {
  static constexpr int lanes = 1;
  cudaTextureObject_t texture;
  __device__ void fetch(float position, float texel, float row, float (&value)[1]) const {
    value[0] = tex2DLod<float>(texture, position + texel, row, 0);
  }
};

template <>
struct TextureSource<2> {
  static constexpr int lanes = 2;
  cudaTextureObject_t texture;
  __device__ void fetch(float position, float texel, float row, float (&value)[2]) const {
    const float2 v = tex2DLod<float2>(texture, position + texel, row, 0);
    value[0] = v.x, value[1] = v.y;
  }
};

template <>
struct TextureSource<4> {
  static constexpr int lanes = 4;
  cudaTextureObject_t texture;
  __device__ void fetch(float position, float texel, float row, float (&value)[4]) const {
    const float4 v = tex2DLod<float4>(texture, position + texel, row, 0);
    value[0] = v.x, value[1] = v.y, value[2] = v.z, value[3] = v.w;
  }
};

/// Views as one tile meets them, in shared memory. A texture unit takes a float, which has steps of 2^-13
/// bins at bin 1024; so the position within the tile is summed by itself and rounded once, with its anchor.
struct StagedViews {
  float4 terms[texture_threads];  ///< offset, step_x, step_y, height
  float texel[texture_threads];   ///< middle of the anchor's bin
};

/// Finds the numbers of views; a thread has one view.
__device__ inline void stage(const ParallelView* __restrict__ views, int count, Index tile_x, Index tile_y,
                             StagedViews& staged) {
  const int v = threadIdx.x;
  if (v >= count) return;
  const ParallelView view = views[v];
  const Anchor anchor = anchor_at(view, tile_x, tile_y);
  staged.terms[v] = {anchor.offset, static_cast<float>(view.step_x), static_cast<float>(view.step_y),
                     view.height};
  staged.texel[v] = anchor.bin + (margin_texels + 0.5f);
}

/// Position of a pixel of a tile in bins from the anchor's: the one formula of `texture_tile` and of a
/// projection that is its transpose.
TANDEM_HOST_DEVICE inline float position_by_quarters(float offset, float step_x, float step_y, int dx,
                                                     int dy) {
  constexpr int half = tile / 2;
  const auto low = [](int d) { return static_cast<float>(d % half); };
  const auto high = [](int d) { return static_cast<float>(d / half * half); };
  return fmaf(high(dx), step_x, fmaf(high(dy), step_y, fmaf(step_x, low(dx), fmaf(step_y, low(dy), offset))));
}

/// Pixel i of a square along the Z-order curve: neighbours in number are neighbours in both directions.
__device__ inline int2 z_order(int i) {
  const auto every_second = [](int bits) { return (bits & 1) | (bits >> 1 & 2) | (bits >> 2 & 4); };
  return {every_second(i), every_second(i >> 1)};
}

constexpr int groups = 4, quarters = 4, quarter_edge = tile / 2;

/// Adds the sums of each pixel in the order of the groups of threads that made them, of one quarter-tile
/// pixel `at` in all quarters: one thread a pixel, store(lane, x, y, sum).
template <int lanes_of_sum, class Store>
__device__ void add_groups(const float (&sum)[quarters][lanes_of_sum], int group, int2 at,
                           const Store& store) {
  __shared__ float partial[groups][tile * tile];
  const int mine = threadIdx.x;
#pragma unroll
  for (int lane = 0; lane < lanes_of_sum; ++lane) {
    __syncthreads();
#pragma unroll
    for (int q = 0; q < quarters; ++q)
      partial[group][(at.y + q / 2 * quarter_edge) * tile + at.x + q % 2 * quarter_edge] = sum[q][lane];
    __syncthreads();
    float total = 0;
#pragma unroll
    for (int g = 0; g < groups; ++g) total += partial[g][mine];
    store(lane, mine % tile, mine / tile, total);
  }
}

/// The sums of one tile over `count` views, of which row k of the texture holds view k: calls store(lane, x,
/// y, sum) for each of its pixels. 64 threads along the Z-order curve over a quarter of the tile take every
/// fourth view, for the same pixel of all four quarters; the four groups of threads then add up in order.
template <class Source, class Store>
__device__ void texture_tile(const Source& source, const ParallelView* __restrict__ views, Index count,
                             Index tile_x, Index tile_y, const Store& store) {
  __shared__ StagedViews staged;
  const int group = threadIdx.x / (quarter_edge * quarter_edge);
  const int2 at = z_order(threadIdx.x % (quarter_edge * quarter_edge));
  const float x = at.x, y = at.y;
  float sum[quarters][Source::lanes] = {};
  for (Index first = 0; first < count; first += texture_threads) {
    const int here = at_most(texture_threads, count - first);
    __syncthreads();
    stage(views + first, here, tile_x, tile_y, staged);
    __syncthreads();
    float row = first + group + 0.5f;  // between rows nothing is to be interpolated
#pragma unroll 2
    for (int v = group; v < here; v += groups, row += groups) {
      const float4 view = staged.terms[v];
      const float texel = staged.texel[v];
      const float upper = fmaf(view.y, x, fmaf(view.z, y, view.x)), lower = fmaf(quarter_edge, view.z, upper);
      const float position[quarters] = {upper, fmaf(quarter_edge, view.y, upper), lower,
                                        fmaf(quarter_edge, view.y, lower)};
#pragma unroll
      for (int q = 0; q < quarters; ++q) {
        float value[Source::lanes];
        source.fetch(position[q], texel, row, value);
#pragma unroll
        for (int lane = 0; lane < Source::lanes; ++lane)
          sum[q][lane] = fmaf(view.w, value[lane], sum[q][lane]);
      }
    }
  }
  add_groups(sum, group, at, [&](int lane, int x_in, int y_in, float total) {
    store(lane, tile_x * tile + x_in, tile_y * tile + y_in, total);
  });
}

/// Says what keeps the hats from a texture of these texels; null if nothing does. A linear interpolation can
/// stand for hats whose radius is one bin, whatever their height.
template <class Texel>
const char* texture_misfit(const ParallelViews& packed, tandem::Shape projections, Device device) {
  const bool linear = std::all_of(packed.views.begin(), packed.views.end(),
                                  [](const ParallelView& v) { return v.height == v.slope; });
  if (!linear) return "hats that no texture draws";
  return TexelRows<Texel>::fits(projections[2], device) ? nullptr : "rows too long for a texture";
}

}  // namespace tandem::kernels::cuda
