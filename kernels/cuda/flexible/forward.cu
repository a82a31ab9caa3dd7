// Projection in any geometry. Shares are added as integers: first to the windows of a block in shared memory,
// with 23 bits and a sign for the largest share of the brick, then to the cells of the views, with 20 more
// bits for the largest voxel of the volume. Sums of integers do not depend on their order, so bits are the
// same in every run. Units are powers of two, so all else is exact.
//
// Beside a voxel much brighter than the rest, others of its brick would have few bits. So a block goes first
// through the voxels up to 64 times their mean, then through the others in the same way.
//
// Runs go along the axis nearest to the rays of a view, and lanes take every second run. So the lanes of a
// warp seldom meet in a cell.

#include <math_constants.h>

#include <utility>

#include "../../cone.hpp"
#include "../../launches.hpp"
#include "../common/device_table.cuh"
#include "../common/levels.cuh"
#include "bricks.cuh"
#include "flexible.hpp"

namespace tandem::kernels::cuda {

namespace {

/// Sums of some views, in their units.
struct Sums {
  FlexibleSum* data;
  int rows, bins;
  __device__ FlexibleSum* view(int v) const { return data + Index{v} * rows * bins; }
};

__device__ inline void add(FlexibleSum* to, long long value) {
  atomicAdd(to, static_cast<FlexibleSum>(value));  // modulo 2^64
}

constexpr int bits_of_share = 23, bits_beside = 20;

/// The exponent of the least power of two above a value. Values that are nearly nothing count as 2^-80, whose
/// units floats can still divide by.
template <class Real>
__device__ inline int exponent_above(Real value) {
  return ilogb(max(value, Real{0x1p-80})) + 1;
}

/// The exponent of 2 in the unit of the sums of a view. If a cell has more voxels than the bits beside a
/// share can count, a million, the unit is as large as its sum needs.
__device__ inline int unit_of_sums(const FlexiblePlace& view, float largest) {
  constexpr int bits_of_sum = 62;
  return max(
      exponent_above(largest * view.mass / (view.nearest * view.nearest)) - bits_of_share - bits_beside,
      exponent_above(largest * view.most_in_cell) - bits_of_sum);
}

/// The unit of the window of a brick, for voxels up to `limit`: a share fits, and so do their sums. A ray
/// meets at most 3 x 16 voxels of a brick, so the shares in a cell add up to 48 over the area of a shadow;
/// half as much again for what the trapezoids leave. Called by a warp, for its parts.
__device__ inline int unit_of_window(const FlexiblePlace& view, float limit, const BrickShadow& part,
                                     float nearest) {
  const auto largest = [&](const Profile& p) { return fminf(1, (2 - nearest) * 2 * p.per_flank / p.whole); };
  const float own_mass = part.mass > 0 ? part.mass / (nearest * nearest) : 0,
              own_share = part.mass > 0 ? own_mass * largest(part.along_bins) * largest(part.along_rows) : 0;
  const float share = __int_as_float(__reduce_max_sync(~0u, __float_as_int(own_share))),
              mass = __int_as_float(__reduce_max_sync(~0u, __float_as_int(own_mass)));
  const float sums = fminf(1.5f * 3 * edge / static_cast<float>(view.least_shadow), edge * edge * edge);
  return max(exponent_above(limit * share) - bits_of_share, exponent_above(limit * mass * sums) - 31);
}

/// The voxels of a run that are brighter than `above` and at most `limit`.
__device__ void load(const Axes& axes, const BrickOfBlock& brick, const Run& run, const float* volume,
                     float above, float limit, float (&voxels)[edge]) {
  const float* from = volume + (brick.span[0].first + run.across[0]) * axes.stride[0] +
                      (brick.span[1].first + run.across[1]) * axes.stride[1] +
                      brick.span[2].first * axes.stride[2];
#pragma unroll
  for (int k = 0; k < edge; ++k) {
    const float value = run.there && k < brick.span[2].size ? from[k * axes.stride[2]] : 0;
    voxels[k] = fabsf(value) > above && fabsf(value) <= limit ? value : 0;
  }
}

/// The brightness of those voxels of a block that are brighter than `above`: the largest, and 64 times the
/// mean.
struct Brightness {
  float most, limit;
};
__device__ Brightness brightness_of(const float (&voxels)[edge]) {
  __shared__ float most[warps], sum[warps], count[warps];
  float own_most = 0, own_sum = 0, own_count = 0;
#pragma unroll
  for (int k = 0; k < edge; ++k) {
    own_most = fmaxf(own_most, fabsf(voxels[k]));
    own_sum += fabsf(voxels[k]), own_count += voxels[k] != 0;
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) {
    own_most = fmaxf(own_most, __shfl_xor_sync(~0u, own_most, o));
    own_sum += __shfl_xor_sync(~0u, own_sum, o), own_count += __shfl_xor_sync(~0u, own_count, o);
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    most[threadIdx.x / 32] = own_most, sum[threadIdx.x / 32] = own_sum, count[threadIdx.x / 32] = own_count;
  __syncthreads();
  float all_most = 0, all_sum = 0, all_count = 0;
  for (int w = 0; w < warps; ++w)
    all_most = fmaxf(all_most, most[w]), all_sum += sum[w], all_count += count[w];
  constexpr float bright = 64;
  return {all_most, fminf(all_most, bright * all_sum / fmaxf(all_count, 1))};
}

/// The views of a launch: `which` of `places`; views are numbered from `first` on in the sums.
struct Chosen {
  const FlexiblePlace* places;
  const int* which;
  int count, first;
};

/// Adds share times value, at most 2^23, as a whole number. Sums with `base` have no digits behind the point:
/// 2^23 for a value above zero, 2^24 for one below.
template <int offset>
__device__ inline void add_whole(unsigned address, float share, float value, float base) {
  const int number = __float_as_int(__fmaf_rn(share, value, base)) - __float_as_int(base);
  asm volatile("red.shared.add.u32 [%0+%1], %2;" ::"r"(address), "n"(offset), "r"(number) : "memory");
}

/// Adds a voxel to the cells from `address` on.
template <int reach, int width>
__device__ void scatter(unsigned address, const float (&of_bins)[2 * reach + 1],
                        const float (&of_rows)[2 * reach + 1], float value) {
  const float base = value < 0 ? 0x1p24f : 0x1p23f;
  [&]<int... j>(std::integer_sequence<int, j...>) {
    const auto line = [&]<int row, int... i>(std::integral_constant<int, row>,
                                             std::integer_sequence<int, i...>) {
      const float part = product(of_rows[row], value);
      (add_whole<4 * (row * width + i)>(address, of_bins[i], part, base), ...);
    };
    (line(std::integral_constant<int, j>{}, std::make_integer_sequence<int, 2 * reach + 1>{}), ...);
  }
  (std::make_integer_sequence<int, 2 * reach + 1>{});
}

template <class Stage>
__device__ ViewOfBlock prepare(const BrickOfBlock& brick, const Axes& axes, const Chosen& views, int group,
                               float largest, float limit, const Sums& out, Stage& stage) {
  const int v = threadIdx.x / 32;
  ViewOfBlock known{};
  if (v >= Stage::views) return known;
  int shift = 0;
  if (group + v < views.count) {
    const FlexiblePlace view = turned(views.places[views.which[group + v]], axes);
    known = prepare_view(
        brick, view, out.bins, out.rows, stage.records[v], [](Window&) {},
        [&](const BrickShadow& part, float nearest) {
          const int unit = unit_of_sums(view, largest);
          shift = max(unit_of_window(view, limit, part, nearest) - unit, 0);
          return ldexpf(1, -(unit + shift));
        });
  }
  known.cells = window_at<Stage::width>(stage.cells[v], known.reach), known.shift = shift;
  if (threadIdx.x % 32 == 0) stage.known[v] = known;
  return known;
}

/// Moves a window to the sums, by a warp, and leaves zeros.
template <class Stage>
__device__ void flush(const ViewOfBlock& known, float* cells, FlexibleSum* view, const Sums& out) {
  int* tile = reinterpret_cast<int*>(cells);
  for (int k = threadIdx.x % 32; k < known.window.rows * Stage::width; k += 32) {
    const int sum = tile[k];
    if (sum == 0) continue;
    tile[k] = 0;
    const int row = known.window.first_row + k / Stage::width,
              bin = known.window.first_bin + k % Stage::width;
    if (row >= 0 && row < out.rows && bin >= 0 && bin < out.bins)
      add(view + Index{row} * out.bins + bin, static_cast<long long>(sum) << known.shift);
  }
}

/// Adds these voxels to all views of a block.
template <class Stage>
__device__ void scatter_voxels(const float (&voxels)[edge], const BrickOfBlock& brick, const Run& run,
                               const Axes& axes, const Chosen& views, float largest, float limit,
                               const Sums& out, Stage& stage) {
  for (int group = own_block_y() * Stage::views; group < views.count; group += grid_y() * Stage::views) {
    const ViewOfBlock own = prepare(brick, axes, views, group, largest, limit, out, stage);
    __syncthreads();
    for_views(stage, run, brick.span[2],
              [&](auto reach, int k, const auto& of_bins, const auto& of_rows, float weight, unsigned at) {
                scatter<reach(), Stage::width>(at, of_bins, of_rows, product(voxels[k], weight));
              });
    __syncthreads();
    const int v = threadIdx.x / 32;
    if (own.reach > 0) flush<Stage>(own, stage.cells[v], out.view(views.which[group + v] - views.first), out);
  }
}

template <class Stage, int blocks>
__global__ void __launch_bounds__(threads, blocks)
    scatter_bricks(Axes axes, Chosen views, const Extremes* __restrict__ extremes,
                   const float* __restrict__ volume, Sums out) {
  extern __shared__ __align__(16) unsigned char memory[];
  Stage& stage = *reinterpret_cast<Stage*>(memory);
  const float largest = __int_as_float(extremes->above);
  if (!isfinite(largest)) return;
  const BrickOfBlock brick(axes, blockIdx.x);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Run run(brick, lane % 8 * 2 + warp % 2, (lane / 8 + warp / 4 * 4) * 2 + warp / 2 % 2);
  for (int k = threadIdx.x; k < Stage::views * Stage::height * Stage::width; k += threads)
    stage.cells[0][k] = 0;
  for (float above = 0; above < largest;) {
    float voxels[edge];
    load(axes, brick, run, volume, above, largest, voxels);
    const auto [most, limit] = brightness_of(voxels);
    if (most == 0) break;
    if (limit < most) load(axes, brick, run, volume, above, limit, voxels);
    scatter_voxels<Stage>(voxels, brick, run, axes, views, largest, limit, out, stage);
    above = limit;
  }
}

/// Shadows of any width. A thread has a voxel at a time, and adds to the sums at once.
__global__ void __launch_bounds__(threads)
    scatter_wide(Axes axes, Chosen views, const Extremes* __restrict__ extremes,
                 const float* __restrict__ volume, Sums out) {
  __shared__ Record records[warps][parts];
  __shared__ ViewOfBlock known[warps];
  const BrickOfBlock brick(axes, blockIdx.x);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Run run(brick, lane % 8 * 2 + warp % 2, (lane / 8 + warp / 4 * 4) * 2 + warp / 2 % 2);
  const float largest = __int_as_float(extremes->above);
  if (!isfinite(largest)) return;
  float voxels[edge];
  load(axes, brick, run, volume, 0, largest, voxels);
  for (int group = 0; group < views.count; group += warps) {
    __syncthreads();
    ViewOfBlock own{};
    if (group + warp < views.count) {
      const FlexiblePlace view = turned(views.places[views.which[group + warp]], axes);
      own = prepare_view(
          brick, view, out.bins, out.rows, records[warp], [](Window&) {},
          [&](const BrickShadow&, float) { return ldexpf(1, -unit_of_sums(view, largest)); });
    }
    if (lane == 0) known[warp] = own;
    __syncthreads();
    for (int v = 0; v < warps; ++v) {
      const auto [window, reach, unused_cells, unused_shift] = known[v];
      if (reach == 0) continue;
      FlexibleSum* view = out.view(views.which[group + v] - views.first);
#pragma unroll
      for (int k = 0; k < edge; ++k) {
        if (k >= brick.span[2].size || voxels[k] == 0) continue;
        const Record& record = records[v][run.part + 4 * (k / brick_edge)];
        const float value = voxels[k] * weight_in(record, run, brick.span[2], k);
        for_wide_voxel(record, run, brick.span[2], k, reach, [&](int row, int bin, float share) {
          row += window.first_row, bin += window.first_bin;
          if (row >= 0 && row < out.rows && bin >= 0 && bin < out.bins)
            add(view + Index{row} * out.bins + bin, __float2ll_rn(share * value));
        });
      }
    }
  }
}

/// Makes projections of the sums. If some voxel of a volume is not finite, no projection is finite.
__global__ void __launch_bounds__(256)
    finish(const FlexiblePlace* __restrict__ places, const Extremes* __restrict__ extremes, Sums in,
           Update update, Image<float> out) {
  const int v = blockIdx.y;
  const FlexiblePlace& view = places[v];
  const float largest = __int_as_float(extremes->above);
  const bool finite = isfinite(largest);
  const double unit = finite ? ldexp(1.0, unit_of_sums(view, largest)) : CUDART_NAN;
  for (int row = blockIdx.x; row < in.rows; row += grid_x())
    for (int bin = threadIdx.x; bin < in.bins; bin += threads_in_block()) {
      const long long sum = in.view(v)[Index{row} * in.bins + bin];
      update(element(out, v, row, bin), static_cast<float>(sum * unit * distance_of(view, row, bin)));
    }
}

/// The axis along which rays to the middle of a view go most, measured in voxels: the axis whose steps move a
/// shadow least.
int axis_of_rays(const FlexiblePlace& view, const Shape& volume) {
  const auto middle = [](Index size) { return 0.5 * (size - 1); };
  const BrickShadow s = shadow_about(view, middle(volume[2]), middle(volume[1]), middle(volume[0]));
  int axis = 0;
  const auto moves = [&](int k) { return std::hypot(s.bin[k], s.row[k]); };
  for (int k = 1; k < 3; ++k)
    if (moves(k) < moves(axis)) axis = k;
  return axis;
}

/// The views of each axis, and where they lie on the device.
struct ByAxis {
  DeviceTable<int> which;
  int first[4];  ///< first view of each axis, in `which`, and their end
};

ByAxis by_axis(const FlexibleViews& views, const Shape& volume, Range range,
               const KeptOnDevices::Streams& streams) {
  std::vector<int> which;
  ByAxis all{};
  for (int axis = 0; axis < 3; ++axis) {
    all.first[axis] = int_of(which.size());
    for (Index v = range.first; v < range.last; ++v)
      if (axis_of_rays(views.views[v], volume) == axis) which.push_back(static_cast<int>(v));
  }
  all.first[3] = int_of(which.size());
  all.which = DeviceTable<int>(std::span<const int>(which), streams);
  return all;
}

using Narrow = Stage<8, 44, 44>;
using Broad = Stage<2, 76, 76>;

template <class Stage, int blocks>
void launch(const Axes& axes, const Chosen& views, const Extremes* largest, const float* volume,
            const Sums& sums, cudaStream_t s) {
  auto* kernel = scatter_bricks<Stage, blocks>;
  allow_all_shared_memory(kernel);
  constexpr int enough = 1024;  // blocks
  const int bricks = BrickOfBlock::count(axes);
  const dim3 grid = grid_of(bricks, std::clamp(enough / bricks, 1, ceil_div(views.count, Stage::views)));
  kernel<<<grid, threads, sizeof(Stage), s>>>(axes, views, largest, volume, sums);
  after_launch();
}

void scatter(const Extent& extent, const Axes& axes, const Chosen& views, const Extremes* largest,
             const float* volume, const Sums& sums, cudaStream_t s) {
  const auto fits = [&](int width, int height) {
    return extent.reach <= 2 && extent.width <= width && extent.height <= height;
  };
  if (fits(Narrow::width, Narrow::height)) {
    note_launch("flexible forward, 44");
    launch<Narrow, 3>(axes, views, largest, volume, sums, s);
  } else if (fits(Broad::width, Broad::height)) {
    note_launch("flexible forward, 76");
    launch<Broad, 3>(axes, views, largest, volume, sums, s);
  } else {
    note_launch("flexible forward, wide");
    scatter_wide<<<grid_of(BrickOfBlock::count(axes)), threads, 0, s>>>(axes, views, largest, volume, sums);
    after_launch();
  }
}

}  // namespace

void flexible_forward(const FlexibleViews& views, const Execution& how, float alpha,
                      Image<const float> volume, float beta, Image<float> projections, Stream& stream) {
  if (views.upright)
    return cone(Model::separable_footprint, stream.device())
        .forward(*views.upright, how, alpha, volume, beta, projections, stream);
  const cudaStream_t s = queue(stream);
  const Shape voxels{volume.n0, volume.n1, volume.n2}, cells{projections.n0, projections.n1, projections.n2};
  const Extent extent = extent_of(views, voxels, cells, stream);
  const auto list = views_on_device(views, stream);
  const Scratch<Extremes> largest(1, s);
  measure_largest(volume, largest.data(), s);
  const Index at_once = views_at_once(cells, sizeof(FlexibleSum)), view = cells[1] * cells[2];
  const Scratch<FlexibleSum> data(at_once * view, s);
  const Sums sums{data.data(), int_of(cells[1]), int_of(cells[2])};
  for (Index first = 0; first < cells[0]; first += at_once) {
    const Range range{first, std::min(first + at_once, cells[0])};
    check(cudaMemsetAsync(data.data(), 0, range.size() * view * sizeof(FlexibleSum), s));
    const KeptOnDevices::Key key{voxels[0] << 32 | voxels[1], voxels[2], first};
    const auto groups = views.kept.use<ByAxis>(stream, key, [&](const KeptOnDevices::Streams& streams) {
      return by_axis(views, voxels, range, streams);
    });
    for (int axis = 0; axis < 3; ++axis) {
      const Chosen chosen{list->data(), groups->which.data() + groups->first[axis],
                          groups->first[axis + 1] - groups->first[axis], int_of(first)};
      if (chosen.count > 0)
        scatter(extent, along(axis, volume), chosen, largest.data(), volume.data, sums, s);
    }
    finish<<<grid_of(std::min<Index>(cells[1], 65535), range.size()), 256, 0, s>>>(
        list->data() + first, largest.data(), sums, {alpha, beta},
        part_of(projections, first, range.size(), 0, cells[1]));
    after_launch();
  }
}

}  // namespace tandem::kernels::cuda
