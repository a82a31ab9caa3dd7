// Back-projection as small dense products on Hopper's tensor cores: for a tile of 8 x 8 pixels, one view and
// N slices, B[64 x N] += W[64 x 16] Q[16 x N], where W holds hats that are made in registers and Q is a
// window of 16 bins of the slices-fastest sinogram in shared memory (docs/kernels.md).

#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../common/ring.cuh"
#include "../half_rows.cuh"
#include "../parallel.hpp"
#include "../products.cuh"

namespace tandem::kernels::cuda {

namespace {

constexpr int edge = 8;                           // pixels of a product along x and y
constexpr int tiles_x = 3, tiles_y = warpgroups;  // products of a block; each warpgroup has a row of them
constexpr int tiles = tiles_x * tiles_y;
constexpr int window = 16;  // bins of a product
constexpr int views_a_stage = 4;
constexpr int lanes_of_chunk = 64;  // slices: 128 bytes, the width of the swizzle

/// The window of a product. Both the positions of pixels (dx, dy) and the window's first bin are counted from
/// `ahead` bins before the anchor's bin.
struct alignas(16) Window {
  float offset;         ///< offset of the anchor (batch.cuh)
  float first;          ///< bin of the window's start
  unsigned descriptor;  ///< low half of the matrix descriptor of the window
  unsigned pad;
};

struct Notes {
  Window windows[views_a_stage][tiles];
  ViewNumbers numbers[views_a_stage];
};

struct Layout {
  Index views, nx, ny;
  Blocks blocks;
  int slab_rows;   ///< bins of a view that a block can meet
  int slab_bytes;  ///< bytes of 64 slices: rows of 128 bytes, whole patterns of 8 rows
  int stages;
};

template <int slices>
constexpr int slabs_a_view = slices / lanes_of_chunk;

/// Lane (v, t) finds the window of tile t of view v, then one lane of each view fetches its slabs.
template <int slices>
__device__ void fetch(const CUtensorMap& map, const Layout& n, const ParallelView* views, Index x0, Index y0,
                      const Ring<Notes>& ring) {
  constexpr int slabs = slabs_a_view<slices>;
  const int v = threadIdx.x % 32 / 8, t = min(static_cast<int>(threadIdx.x % 8), tiles - 1);
  const int px = static_cast<int>(x0) + t % tiles_x * edge, py = static_cast<int>(y0) + t / tiles_x * edge;
  const int steps = static_cast<int>(ceil_div<Index>(n.views, views_a_stage)) + 1;  // the last is zeros
#pragma unroll 1
  for (int step = ring.fetcher(); step < steps; step += fetchers) {
    const int stage = ring.await_empty(step);
    const Index which = Index{step} * views_a_stage + v;
    const ParallelView view = which < n.views ? views[which] : ParallelView{};
    const float step_x = static_cast<float>(view.step_x), step_y = static_cast<float>(view.step_y);
    const Anchor anchor = anchor_at(view, px / tile, py / tile);
    const int dx = px % tile + (step_x < 0 ? edge - 1 : 0), dy = py % tile + (step_y < 0 ? edge - 1 : 0);
    const float radius = view.height > 0 ? 1 / view.height : 0;  // radius of the hat; a view may be none
    const int first = floor_int(position_in(anchor, step_x, step_y, dx, dy) - radius) + 1;
    const int bin = anchor.bin + first;
    int lowest = bin;
    for (int o = 4; o > 0; o /= 2) lowest = min(lowest, __shfl_xor_sync(~0u, lowest, o));
    const unsigned slab = ring.boxes + (stage * views_a_stage + v) * slabs * n.slab_bytes;
    if (threadIdx.x % 8 < tiles) {
      constexpr unsigned stride_field = 16;
      ring.notes[stage].windows[v][t] = {
          anchor.offset + ahead, first + ahead,
          ((slab + (bin - lowest) * 128) >> 4) | (static_cast<unsigned>(n.slab_bytes >> 4) << stride_field),
          0};
    }
    if (threadIdx.x % 8 == 0) ring.notes[stage].numbers[v] = {step_x, step_y, view.height, view.slope};
    ring.begin_fetch(stage, views_a_stage * slabs * n.slab_rows * 128);
    for (int s = threadIdx.x % 8; s < slabs; s += 8)
      fetch_box(slab + s * n.slab_bytes, map, lowest, static_cast<int>(which), s, 0, ring.full_at(stage));
    ring.end_fetch(stage);
  }
}

/// Factors of the products of one view: weights as wgmma wants them, and where the bins are.
struct Factors {
  unsigned weights[tiles_x][4], descriptors[tiles_x];
};

/// Pixels and bins of a thread.
struct Own {
  int row;               ///< row of tiles
  float dx, turned, dy;  ///< pixels in tiles of 16; the tiles of a row alternate between dx and dx + turned
  float bins;            ///< bins of its weights, from the window's start
};

template <bool unit>
__device__ inline void make_factors(const Own& own, const Notes& notes, int v, Factors& f) {
  const float4 numbers = reinterpret_cast<const float4&>(notes.numbers[v]);  // whole, in one load
  const ViewNumbers view{numbers.x, numbers.y, numbers.z, numbers.w};
#pragma unroll
  for (int i = 0; i < tiles_x; ++i) {
    const float4 w = reinterpret_cast<const float4&>(notes.windows[v][own.row * tiles_x + i]);
    const float start = w.y + own.bins;
    f.descriptors[i] = __float_as_uint(w.z);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const float inner = fmaf(view.step_y, own.dy + k, w.x);
      const float e = fmaf(view.step_x, i % 2 ? own.dx + own.turned : own.dx, inner) - start;
      f.weights[i][k] = hats<unit>(e, e - 1, view);
      f.weights[i][k + 2] = hats<unit>(e - 8, e - 9, view);
    }
  }
}

template <int slices>
__device__ void write(const Target& out, const Layout& n, const float (&sum)[slices / 2], Index x, Index y) {
  const int first = threadIdx.x % 4 * 2;
  if (x >= n.nx) return;
#pragma unroll
  for (int j = 0; j < slices / 2; ++j) {
    const int slice = j / 4 * 8 + first + j % 2;
    const Index row = y + j % 4 / 2;
    if (slice < out.slices && row < n.ny) out.update(slice, x, row, sum[j]);
  }
}

template <int slices, bool unit>
__device__ void multiply_and_add(const Layout& n, const Target& out, Index x0, Index y0,
                                 const Ring<Notes>& ring) {
  const int row = threadIdx.x / 128, gx = threadIdx.x % 32 / 4, gy = threadIdx.x % 128 / 32 * 2;
  const int py = static_cast<int>(y0) + row * edge;
  const int dx = static_cast<int>(x0) % tile + gx;
  const Own own{row, static_cast<float>(dx), static_cast<float>(dx < edge ? edge : -edge),
                static_cast<float>(py % tile + gy), static_cast<float>(threadIdx.x % 4 * 2)};
  float sum[tiles_x][slices / 2] = {};
  ring.consume<Factors, views_a_stage>(
      static_cast<int>(ceil_div<Index>(n.views, views_a_stage)),
      [&](const Step& at, int v, Factors& f) { make_factors<unit>(own, ring.notes[at.stage], v, f); },
      [&](const Step&, int, const Factors& f) {
#pragma unroll
        for (int i = 0; i < tiles_x; ++i)
          multiply<slices>(sum[i], f.weights[i], descriptor(f.descriptors[i]));
      },
      [](const Step&) {});
#pragma unroll
  for (int i = 0; i < tiles_x; ++i) write<slices>(out, n, sum[i], x0 + i * edge + gx, py + gy);
}

template <int slices>
__host__ __device__ constexpr int box_bytes(const Layout& n) {
  return views_a_stage * slabs_a_view<slices> * n.slab_bytes;
}

template <int slices, bool unit>
__global__ void __launch_bounds__(threads, 1) backward(const __grid_constant__ CUtensorMap map, Layout n,
                                                       const ParallelView* __restrict__ views, Target out) {
  const Ring<Notes> ring(n.stages, box_bytes<slices>(n));
  const int2 block = block_at<8>(n.blocks);
  const Index x0 = Index{block.x} * tiles_x * edge, y0 = Index{block.y} * tiles_y * edge;
  divide_block([&] { fetch<slices>(map, n, views, x0, y0, ring); },
               [&] { multiply_and_add<slices, unit>(n, out, x0, y0, ring); });
}

// ---- batches

/// The most bins between the first and the last window start of a block.
int spread(const ParallelViews& packed) {
  double most = 0;
  for (const ParallelView& v : packed.views)
    most =
        std::max(most, (tiles_x - 1) * edge * std::abs(v.step_x) + (tiles_y - 1) * edge * std::abs(v.step_y));
  return ceil_int(most) + 1;
}

template <int lanes>
void batch_backward(const ParallelViews& packed, const ParallelView* views, float alpha,
                    Image<const float> projections, float beta, Image<float> volume, cudaStream_t s) {
  const HalfRows<lanes, 1> rows(projections, s);
  Layout n{projections.n0,
           volume.n2,
           volume.n1,
           {ceil_div<Index>(volume.n2, tiles_x * edge), ceil_div<Index>(volume.n1, tiles_y * edge)},
           spread(packed) + window,
           0,
           0};
  n.slab_bytes = ceil_div(n.slab_rows, 8) * 1024;
  n.stages = Ring<Notes>::stages_that_fit(box_bytes<lanes>(n));
  const int shared = Ring<Notes>::bytes(n.stages, box_bytes<lanes>(n));
  const bool unit = hats_are_units(packed);
  const auto kernel = unit ? backward<lanes, true> : backward<lanes, false>;
  note_launch(product_name("wgmma backward", lanes, 1, unit));
  allow_all_shared_memory(kernel);
  const Index row = 2 * lanes, view = row * projections.n2;  // bytes
  const CUtensorMap map =
      boxes_of({rows.data(), {64, projections.n2, n.views, lanes / 64, 1}, {row, view, 128, view * n.views}},
               n.slab_rows);
  const Target out{volume.data, volume.s0, volume.s1, int_of(volume.n0), alpha, beta, rows.units()};
  kernel<<<grid_of(n.blocks.x * n.blocks.y), threads, shared, s>>>(map, n, views, out);
  after_launch();
}

}  // namespace

bool tensor_backward_fits(const ParallelViews& packed) {
  return std::all_of(packed.views.begin(), packed.views.end(), [](const ParallelView& v) {
    return (edge - 1) * (std::abs(v.step_x) + std::abs(v.step_y)) + 2 / v.height <= window;
  });
}

void tensor_backward(const ParallelViews& packed, float alpha, Image<const float> projections, float beta,
                     Image<float> volume, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const auto views = views_on_device(packed, stream);
  constexpr Index most = 128;
  for (Index first = 0; first < volume.n0; first += most) {
    const auto batch = volume.n0 - first > 64 ? batch_backward<128> : batch_backward<64>;
    batch(packed, views->data(), alpha, part_of(projections, 0, projections.n0, first, most), beta,
          part_of(volume, first, most, 0, volume.n1), s);
  }
}

}  // namespace tandem::kernels::cuda
