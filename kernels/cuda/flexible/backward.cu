// Back-projection in any geometry. A block sums its brick in registers: for some views at a time it copies
// the cells that the brick meets to shared memory. Shadows that are too wide for that are read where they
// lie.

#include <utility>

#include "../../cone.hpp"
#include "../../launches.hpp"
#include "../common/device_table.cuh"
#include "bricks.cuh"
#include "flexible.hpp"

namespace tandem::kernels::cuda {

namespace {

/// Views of projections times the distances of their cells, with zeros behind the last bin of a row.
struct Slanted {
  float* data;
  int rows, bins, pitch;  // cells
  __device__ float* view(int v) const { return data + Index{v} * rows * pitch; }
};

__global__ void __launch_bounds__(256)
    slant(const FlexiblePlace* __restrict__ places, Image<const float> in, Slanted out) {
  const int v = blockIdx.y;
  for (int row = blockIdx.x; row < out.rows; row += grid_x())
    for (int bin = threadIdx.x; bin < out.pitch; bin += threads_in_block())
      out.view(v)[Index{row} * out.pitch + bin] =
          bin < out.bins ? static_cast<float>(distance_of(places[v], row, bin)) * element(in, v, row, bin)
                         : 0;
}

/// A window on its way to shared memory, by a warp: two rows at a time, 16 pieces of four cells each.
__device__ void begin_window(const Slanted& in, int view, const Window& window, float* cells, int width) {
  constexpr int across = 16;
  const int lane = threadIdx.x % 32, pieces = (window.bins + 3) / 4;
  for (int piece = lane % across; piece < pieces; piece += across) {
    const int bin = window.first_bin + 4 * piece;
    const bool inside = bin >= 0 && bin < in.pitch;
    int row = window.first_row + lane / across;
    const float* from = in.view(view) + Index{row} * in.pitch + bin;
    unsigned to = shared_address(cells + lane / across * width + 4 * piece);
    for (int line = lane / across; line < window.rows; line += 2) {
      const bool there = inside && row >= 0 && row < in.rows;
      begin_copy(to, there ? from : in.data, there);
      row += 2, from += 2 * in.pitch, to += 2 * width * sizeof(float);
    }
  }
}

/// Copies begin at multiples of four cells.
__device__ inline void begin_at_fours(Window& w) {
  const int aside = w.first_bin & 3;
  w.first_bin -= aside, w.bins += aside;
}

__device__ inline float unscaled(const BrickShadow&, float) { return 1; }

template <class Stage>
__device__ void prepare(const BrickOfBlock& brick, const Axes& axes, const FlexiblePlace* __restrict__ places,
                        int first, int count, const Slanted& in, Stage& stage) {
  const int v = threadIdx.x / 32;
  if (v >= Stage::views) return;
  ViewOfBlock known{};
  if (first + v < count)
    known = prepare_view(brick, turned(places[first + v], axes), in.bins, in.rows, stage.records[v],
                         begin_at_fours, unscaled);
  if (known.reach > 0) begin_window(in, first + v, known.window, stage.cells[v], Stage::width);
  known.cells = window_at<Stage::width>(stage.cells[v], known.reach);
  if (threadIdx.x % 32 == 0) stage.known[v] = known;
}

template <int offset>
__device__ inline float cell_at(unsigned address) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1+%2];" : "=f"(value) : "r"(address), "n"(offset));
  return value;
}

/// The cells from `address` on, times their shares.
template <int reach, int width>
__device__ float gather(unsigned address, const float (&of_bins)[2 * reach + 1],
                        const float (&of_rows)[2 * reach + 1]) {
  constexpr int count = 2 * reach + 1;
  return [&]<int... j>(std::integer_sequence<int, j...>) {
    const auto line = [&]<int row, int... i>(std::integral_constant<int, row>,
                                             std::integer_sequence<int, i...>) {
      float sum = product(of_bins[0], cell_at<4 * row * width>(address));
      ((sum = fused(of_bins[i + 1], cell_at<4 * (row * width + i + 1)>(address), sum)), ...);
      return sum;
    };
    constexpr auto others = std::make_integer_sequence<int, count - 1>{};
    float sum = product(of_rows[0], line(std::integral_constant<int, 0>{}, others));
    ((sum = fused(of_rows[j + 1], line(std::integral_constant<int, j + 1>{}, others), sum)), ...);
    return sum;
  }
  (std::make_integer_sequence<int, count - 1>{});
}

__device__ void store(const Axes& axes, const BrickOfBlock& brick, const Run& run, const float (&sums)[edge],
                      Update update, float* volume) {
  if (!run.there) return;
  float* to = volume + (brick.span[0].first + run.across[0]) * axes.stride[0] +
              (brick.span[1].first + run.across[1]) * axes.stride[1] + brick.span[2].first * axes.stride[2];
#pragma unroll
  for (int k = 0; k < edge; ++k)
    if (k < brick.span[2].size) update(to[k * axes.stride[2]], sums[k]);
}

template <class Stage, int blocks>
__global__ void __launch_bounds__(threads, blocks)
    gather_bricks(Axes axes, const FlexiblePlace* __restrict__ places, int count, Slanted in, Update update,
                  float* volume) {
  extern __shared__ __align__(16) unsigned char memory[];
  Stage& stage = *reinterpret_cast<Stage*>(memory);
  const BrickOfBlock brick(axes, blockIdx.x);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Run run(brick, warp % 2 * 8 + lane % 8, warp / 2 * 4 + lane / 8);
  float sums[edge] = {};
  for (int first = 0; first < count; first += Stage::views) {
    __syncthreads();
    prepare(brick, axes, places, first, count, in, stage);
    wait_copies();
    __syncthreads();
    for_views(stage, run, brick.span[2],
              [&](auto reach, int k, const auto& of_bins, const auto& of_rows, float weight, unsigned at) {
                sums[k] = fused(weight, gather<reach(), Stage::width>(at, of_bins, of_rows), sums[k]);
              });
  }
  store(axes, brick, run, sums, update, volume);
}

/// Shadows of any width. A thread has a voxel at a time.
__global__ void __launch_bounds__(threads) gather_wide(Axes axes, const FlexiblePlace* __restrict__ places,
                                                       int count, Slanted in, Update update, float* volume) {
  __shared__ Record records[warps][parts];
  __shared__ ViewOfBlock views[warps];
  const BrickOfBlock brick(axes, blockIdx.x);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Run run(brick, warp % 2 * 8 + lane % 8, warp / 2 * 4 + lane / 8);
  float sums[edge] = {};
  for (int first = 0; first < count; first += warps) {
    __syncthreads();
    ViewOfBlock own{};
    if (first + warp < count)
      own = prepare_view(
          brick, turned(places[first + warp], axes), in.bins, in.rows, records[warp], [](const Window&) {},
          unscaled);
    if (lane == 0) views[warp] = own;
    __syncthreads();
    for (int v = 0; v < warps; ++v) {
      const ViewOfBlock known = views[v];
      if (known.reach == 0) continue;
#pragma unroll
      for (int k = 0; k < edge; ++k) {
        if (k >= brick.span[2].size) break;
        float sum = 0;
        const Record& record = records[v][run.part + 4 * (k / brick_edge)];
        for_wide_voxel(record, run, brick.span[2], k, known.reach, [&](int row, int bin, float share) {
          row += known.window.first_row, bin += known.window.first_bin;
          if (row >= 0 && row < in.rows && bin >= 0 && bin < in.bins)
            sum = fused(share, in.view(first + v)[Index{row} * in.pitch + bin], sum);
        });
        sums[k] = fused(weight_in(record, run, brick.span[2], k), sum, sums[k]);
      }
    }
  }
  store(axes, brick, run, sums, update, volume);
}

template <class Stage, int blocks>
void launch(const Axes& axes, const FlexiblePlace* places, int count, const Slanted& in, Update update,
            float* volume, cudaStream_t s) {
  auto* kernel = gather_bricks<Stage, blocks>;
  allow_all_shared_memory(kernel);
  kernel<<<grid_of(BrickOfBlock::count(axes)), threads, sizeof(Stage), s>>>(axes, places, count, in, update,
                                                                            volume);
  after_launch();
}

using Narrow = Stage<8, 44, 44>;
using Broad = Stage<2, 76, 76>;

template <class Stage>
bool fits(const Extent& extent) {
  constexpr int aside = 3;  // cells before a window
  return extent.reach <= 2 && extent.width + aside <= Stage::width && extent.height <= Stage::height;
}

}  // namespace

void flexible_backward(const FlexibleViews& views, const Execution& how, float alpha,
                       Image<const float> projections, float beta, Image<float> volume, Stream& stream) {
  if (views.upright)
    return cone(Model::separable_footprint, stream.device())
        .backward(*views.upright, how, alpha, projections, beta, volume, stream);
  const cudaStream_t s = queue(stream);
  const Shape cells{projections.n0, projections.n1, projections.n2};
  const Extent extent = extent_of(views, {volume.n0, volume.n1, volume.n2}, cells, stream);
  const auto list = views_on_device(views, stream);
  const Index at_once = views_at_once(cells, sizeof(float)), pitch = padded_bins(cells[2]);
  const Scratch<float> slanted(at_once * cells[1] * pitch, s);
  const Slanted in{slanted.data(), int_of(cells[1]), int_of(cells[2]), int_of(pitch)};
  const Axes axes = along(2, volume);
  for (Index first = 0; first < cells[0]; first += at_once) {
    const int count = int_of(std::min(at_once, cells[0] - first));
    const FlexiblePlace* places = list->data() + first;
    const Image<const float> part = part_of(projections, first, count, 0, cells[1]);
    slant<<<grid_of(std::min<Index>(cells[1], 65535), count), 256, 0, s>>>(places, part, in);
    after_launch();
    const Update update{alpha, first == 0 ? beta : 1};
    if (fits<Narrow>(extent)) {
      note_launch("flexible backward, 44");
      launch<Narrow, 3>(axes, places, count, in, update, volume.data, s);
    } else if (fits<Broad>(extent)) {
      note_launch("flexible backward, 76");
      launch<Broad, 3>(axes, places, count, in, update, volume.data, s);
    } else {
      note_launch("flexible backward, wide");
      gather_wide<<<grid_of(BrickOfBlock::count(axes)), threads, 0, s>>>(axes, places, count, in, update,
                                                                         volume.data);
      after_launch();
    }
  }
}

}  // namespace tandem::kernels::cuda
