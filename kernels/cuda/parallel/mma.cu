// Back-projection as small dense products on the tensor cores of any card: for a tile of 4 x 4 pixels, two
// views and 64 slices, B[16 x 64] += W[16 x 16] Q[16 x 64], where W holds hats that are made in registers and
// Q is two windows of 8 bins, one a view, of the slices-fastest sinogram in shared memory (docs/kernels.md).

#include <algorithm>
#include <cmath>
#include <vector>

#include "../common/ampere.cuh"
#include "half_rows.cuh"
#include "parallel.hpp"
#include "products.cuh"

namespace tandem::kernels::cuda {

namespace {

constexpr int edge = 4;                                          // pixels of a product along x and y
constexpr int window = 8;                                        // bins of a product from each of its views
constexpr int tiles_x = tile / edge, tiles = tiles_x * tiles_x;  // products of a block: one tile of batch.cuh
constexpr int most_views = 8;                                    // views of a stage
constexpr int slabs_kept = 2, windows_kept = 3;                  // stages

/// A lane has 64 sums: a warp takes 16 pixels of 128 slices or 32 of 64.
template <int lanes>
constexpr int products = 128 / lanes;  // products of a warp, side by side along x
template <int lanes>
constexpr int threads = 32 * tiles / products<lanes>;
template <int lanes>
constexpr int row_bytes = 2 * lanes + 16;  // neighbouring rows lie in different banks

/// The window of a product in one view; bins count from `ahead` before the anchor's bin.
struct alignas(16) Window {
  float offset;  ///< offset of the anchor (batch.cuh)
  float first;   ///< bin of the window's start
  unsigned at;   ///< its row in shared memory
  int slab;      ///< first bin of the view in shared memory, far outside if there is no such view
};

struct Layout {
  Index nx, ny;
  Blocks blocks;
  int views, bins;
  int slab_rows;      ///< bins of a view that a block can meet
  int slab_bytes;     ///< bytes of a view, all planes
  int views_a_stage;  ///< even
};

/// Shared memory of a block: slabs of two stages, windows of three.
struct Memory {
  unsigned slabs;
  Window* windows;
  ViewNumbers* numbers;
  __device__ unsigned slab_at(const Layout& n, int step, int v) const {
    return slabs + (step % slabs_kept * n.views_a_stage + v) * n.slab_bytes;
  }
};

__device__ inline Memory memory_of(const Layout& n, unsigned char* shared) {
  Window* windows = reinterpret_cast<Window*>(shared + slabs_kept * n.views_a_stage * n.slab_bytes);
  return {shared_address(shared), windows,
          reinterpret_cast<ViewNumbers*>(windows + windows_kept * n.views_a_stage * tiles)};
}

/// The place of the windows and numbers of a view.
__device__ inline int slot_of(const Layout& n, int step, int v) {
  return step % windows_kept * n.views_a_stage + v;
}

/// Thread (v, t) finds the window of tile t in view v of a stage.
template <int lanes>
__device__ inline void find_windows(const Layout& n, const Memory& memory, const ParallelView& view,
                                    int2 block, int step) {
  const int v = threadIdx.x / tiles, t = threadIdx.x % tiles;
  if (v >= n.views_a_stage) return;
  const float step_x = static_cast<float>(view.step_x), step_y = static_cast<float>(view.step_y);
  const Anchor anchor = anchor_at(view, block.x, block.y);
  const float radius = __fdividef(1, view.height);
  const auto first = [&](int x, int y, int across) {
    const int dx = x + (step_x < 0 ? across - 1 : 0), dy = y + (step_y < 0 ? across - 1 : 0);
    return floor_int(position_in(anchor, step_x, step_y, dx, dy) - radius) + 1;
  };
  const int of_tile = first(t % tiles_x * edge, t / tiles_x * edge, edge), of_block = first(0, 0, tile);
  const int slot = slot_of(n, step, v);
  memory.windows[slot * tiles + t] = {
      anchor.offset + ahead, of_tile + ahead,
      memory.slab_at(n, step, v) + (of_tile - of_block) * row_bytes<lanes>,
      step * n.views_a_stage + v < n.views ? anchor.bin + of_block : -(1 << 30)};
  if (t == 0) memory.numbers[slot] = {step_x, step_y, view.height, view.slope};
}

/// Begins to copy the slabs of a stage, each view by its share of the threads; what lies outside is zero.
template <int lanes, int planes>
__device__ inline void fetch(const Layout& n, const Memory& memory, const __half* __restrict__ sinogram,
                             int step) {
  constexpr int share = threads<lanes> / most_views, pieces = 2 * lanes / 16, rows = share / pieces;
  const int v = threadIdx.x / share, piece = threadIdx.x % pieces, row0 = threadIdx.x % share / pieces;
  if (v >= n.views_a_stage) return;
  const int slab = memory.windows[slot_of(n, step, v) * tiles].slab;
  const Index plane = Index{n.views} * n.bins * lanes;
  const Index first = Index{step * n.views_a_stage + v} * n.bins + slab + row0;
  const __half* from = sinogram + first * lanes + piece * 8;
  unsigned to = memory.slab_at(n, step, v) + row0 * row_bytes<lanes> + piece * 16;
#pragma unroll 4
  for (int row = row0; row < n.slab_rows; row += rows, from += rows * lanes, to += rows * row_bytes<lanes>) {
    const bool inside = is_below(slab + row, n.bins);
    begin_copy(to, from, inside);
    if constexpr (planes == 2) begin_copy(to + n.slab_bytes / 2, from + plane, inside);
  }
}

/// The factors of one product: float16 weights as mma wants them, what their rounding left over, and this
/// lane's row of its windows.
template <int planes>
struct Factors {
  unsigned weights[4], rest[planes == 2 ? 4 : 1], row;
};

/// The pixels of this lane in product i of its warp: this one and the one two below.
template <int lanes>
__device__ inline int2 pixel_of(int i) {
  const int t = threadIdx.x / 32 * products<lanes> + i, lane = threadIdx.x % 32;
  return {t % tiles_x * edge + lane / 4 % edge, t / tiles_x * edge + lane / 16};
}

/// The factors of product i for the views of slots `slot` and `slot + 1`.
template <int lanes, int planes, bool unit>
__device__ inline Factors<planes> factors_of(const Memory& memory, int slot, int i) {
  const int tile_of_block = threadIdx.x / 32 * products<lanes> + i, lane = threadIdx.x % 32;
  const int2 pixel = pixel_of<lanes>(i);
  Factors<planes> f;
#pragma unroll
  for (int k = 0; k < 2; ++k) {  // whole structs, in one load each
    const float4 numbers = reinterpret_cast<const float4*>(memory.numbers)[slot + k];
    const float4 w = reinterpret_cast<const float4*>(memory.windows)[(slot + k) * tiles + tile_of_block];
    const ViewNumbers view{numbers.x, numbers.y, numbers.z, numbers.w};
    const float start = w.y + lane % 4 * 2;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float e =
          position_in({0, w.x}, view.step_x, view.step_y, pixel.x, pixel.y + h * (edge / 2)) - start;
      if constexpr (planes == 1)
        f.weights[2 * k + h] = hats<unit>(e, e - 1, view);
      else
        split_hats<unit>(e, e - 1, view, f.weights[2 * k + h], f.rest[2 * k + h]);
    }
    if (k == 0 || lane / 8 % 2 == 1) f.row = __float_as_uint(w.z);
  }
  f.row += lane % 8 * row_bytes<lanes> + lane / 16 * 16;
  return f;
}

template <int lanes>
using Sums = float[lanes / 8][4];

/// Tensor cores cut sums of products, and do not round them. So for the float32 grade the cores add what two
/// views give to the total.
template <int lanes, int planes>
__device__ inline void multiply_and_add(const Factors<planes>& f, unsigned plane_bytes, Sums<lanes>& sum) {
#pragma unroll
  for (int j = 0; j < lanes / 8; j += 2) {
    unsigned q[4], rest[4];
    load_transposed(q, f.row + 16 * j);
    if constexpr (planes == 2) load_transposed(rest, f.row + plane_bytes + 16 * j);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if constexpr (planes == 1) {
        multiply(sum[j + h], f.weights, q[2 * h], q[2 * h + 1]);
      } else {
        float part[4] = {};
        multiply(part, f.rest, q[2 * h], q[2 * h + 1]);
        multiply(part, f.weights, rest[2 * h], rest[2 * h + 1]);
        multiply(part, f.weights, q[2 * h], q[2 * h + 1]);
#pragma unroll
        for (int c = 0; c < 4; ++c) sum[j + h][c] += part[c];
      }
    }
  }
}

template <int lanes>
__device__ inline void write(const Target& out, const Layout& n, int2 block, int i, const Sums<lanes>& sum) {
  const int2 pixel = pixel_of<lanes>(i);
  const Index x = Index{block.x} * tile + pixel.x;
  if (x >= n.nx) return;
#pragma unroll
  for (int j = 0; j < lanes / 8; ++j)
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int slice = j * 8 + threadIdx.x % 4 * 2 + c % 2;
      const Index y = Index{block.y} * tile + pixel.y + c / 2 * (edge / 2);
      if (slice < out.slices && y < n.ny) out.update(slice, x, y, sum[j][c]);
    }
}

/// While the views of a stage are multiplied, the next one is copied and the windows of the one after found.
template <int lanes, int planes, bool unit>
__global__ void __launch_bounds__(threads<lanes>, 512 / threads<lanes>)
    backward(Layout n, const ParallelView* __restrict__ views, const __half* __restrict__ sinogram,
             Target out) {
  extern __shared__ __align__(16) unsigned char shared[];
  const Memory memory = memory_of(n, shared);
  const int2 block = block_at<16>(n.blocks);
  const auto view_of = [&](int step) {  // after the last view that one again, over zeros
    const int v = min(own_thread() / tiles, n.views_a_stage - 1);
    return views[min(step * n.views_a_stage + v, n.views - 1)];
  };
  for (int step = 0; step < 2; ++step) find_windows<lanes>(n, memory, view_of(step), block, step);
  __syncthreads();
  fetch<lanes, planes>(n, memory, sinogram, 0);
  const unsigned plane_bytes = n.slab_bytes / planes;
  const int steps = ceil_div(n.views, n.views_a_stage);
  Sums<lanes> sum[products<lanes>] = {};
  Factors<planes> f[products<lanes>];
#pragma unroll
  for (int i = 0; i < products<lanes>; ++i) f[i] = factors_of<lanes, planes, unit>(memory, 0, i);
  int slot = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const ParallelView view = view_of(step + 2);
    wait_copies();
    __syncthreads();
    if (step + 1 < steps) fetch<lanes, planes>(n, memory, sinogram, step + 1);
    find_windows<lanes>(n, memory, view, block, step + 2);
#pragma unroll 1
    for (int v = 0; v < n.views_a_stage; v += 2) {
      slot = slot + 2 == windows_kept * n.views_a_stage ? 0 : slot + 2;
#pragma unroll
      for (int i = 0; i < products<lanes>; ++i) {
        multiply_and_add<lanes, planes>(f[i], plane_bytes, sum[i]);
        f[i] = factors_of<lanes, planes, unit>(memory, slot, i);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < products<lanes>; ++i) write<lanes>(out, n, block, i, sum[i]);
}

// ---- batches

/// The most bins between the first and the last window start of a block.
int spread(const ParallelViews& packed) {
  double most = 0;
  for (const ParallelView& v : packed.views)
    most = std::max(most, (tile - edge) * (std::abs(v.step_x) + std::abs(v.step_y)));
  return ceil_int(most) + 1;
}

/// The shared memory that each of `blocks` blocks of a multiprocessor can have, bytes.
int shared_of_a_block(int blocks, Device device) {
  constexpr int taken_by_system = 1024;
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device.ordinal()));
  return bytes / blocks - taken_by_system;
}

template <int lanes, int planes>
void batch_backward(const ParallelViews& packed, const ParallelView* views, float alpha,
                    Image<const float> projections, float beta, Image<float> volume, const Stream& stream) {
  const cudaStream_t s = queue(stream);
  const HalfRows<lanes, planes> rows(projections, s);
  const int slab_rows = spread(packed) + window, slab_bytes = planes * slab_rows * row_bytes<lanes>;
  const int view_bytes =
      slabs_kept * slab_bytes + windows_kept * (tiles * size_of<Window> + size_of<ViewNumbers>);
  const int fitting = shared_of_a_block(512 / threads<lanes>, stream.device()) / view_bytes;
  const Layout n{volume.n2,
                 volume.n1,
                 {ceil_div<Index>(volume.n2, tile), ceil_div<Index>(volume.n1, tile)},
                 int_of(projections.n0),
                 int_of(projections.n2),
                 slab_rows,
                 slab_bytes,
                 std::min(most_views, fitting / 2 * 2)};
  const int shared = n.views_a_stage * view_bytes;
  const bool unit = hats_are_units(packed);
  const auto kernel = unit ? backward<lanes, planes, true> : backward<lanes, planes, false>;
  note_launch(product_name("mma backward", lanes, planes, unit));
  allow_all_shared_memory(kernel);
  const Target out{volume.data, volume.s0, volume.s1, int_of(volume.n0), alpha, beta, rows.units()};
  kernel<<<grid_of(n.blocks.x * n.blocks.y), threads<lanes>, shared, s>>>(n, views, rows.data(), out);
  after_launch();
}

}  // namespace

bool mma_fits(const ParallelViews& packed) {
  return std::all_of(packed.views.begin(), packed.views.end(), [](const ParallelView& v) {
    return (edge - 1) * (std::abs(v.step_x) + std::abs(v.step_y)) + 2 / v.height <= window;
  });
}

void mma_backward(const ParallelViews& packed, Precision precision, float alpha,
                  Image<const float> projections, float beta, Image<float> volume, Stream& stream) {
  const auto views = views_on_device(packed, stream);
  const Index most = precision == Precision::float16 ? 128 : 64;
  for (Index first = 0; first < volume.n0; first += most) {
    const auto batch = precision != Precision::float16 ? batch_backward<64, 2>
                       : volume.n0 - first > 64        ? batch_backward<128, 1>
                                                       : batch_backward<64, 1>;
    batch(packed, views->data(), alpha, part_of(projections, 0, projections.n0, first, most), beta,
          part_of(volume, first, most, 0, volume.n1), stream);
  }
}

}  // namespace tandem::kernels::cuda
