#pragma once

// Separable footprints as factors of products on tensor cores. A tile is 4 x 4 columns of voxels; seen from
// one view, all its slices and rows share the weights of 16 columns and 16 neighbouring bins. They are made
// once, from the functions of footprint.hpp, as float16 numbers and what these leave over.

#include <cuda_fp16.h>

#include <type_traits>

#include "../../footprint.hpp"
#include "../common/batch.cuh"
#include "batches.hpp"

namespace tandem::kernels::cuda {

constexpr float weight_unit = 1.0f / 256;  // unit in pitches; keeps what float16 leaves over far from its end

/// Some rows of the tiles of a volume.
struct Tiles {
  int across, down;  ///< tiles
  int first;         ///< the first row, among those of all tiles
  Index nx, ny;      ///< voxels of the whole volume
  __host__ __device__ int count() const { return across * down; }
};

/// The shadows of tiles that a direction of the projector needs, for (view, tile).
struct TileShadows {
  uint4* weights;   ///< backward: [2][lane], forward: [most_granules][lane]
  Ladder* ladders;  ///< [column]
  /// Forward: the first bin of the first granule, plus the number of granules. Backward: the first bin times
  /// `most_bins`, plus the number of bins.
  int* bins;
};

/// Two numbers as float16, the first in the low half, and what is left over.
__device__ inline void split_pair(float a, float b, unsigned& high, unsigned& low) {
  const __half2 h = __floats2half2_rn(a, b);
  const float2 rounded = __half22float2(h);
  const __half2 l = __floats2half2_rn(a - rounded.x, b - rounded.y);
  high = *reinterpret_cast<const unsigned*>(&h);
  low = *reinterpret_cast<const unsigned*>(&l);
}

constexpr int shadow_warps = 8, tiles_a_warp = 32 / columns;
constexpr int spare = 1;  // against bank conflicts
using ColumnWeights = float[columns][most_granules * granule + spare];

/// A lane's part of the factors, as mma.m16n8k16 has them: columns are rows of its first factor in the
/// back-projection and rows of its second in the projection.
template <Direction direction>
__device__ inline void write_factors(const ColumnWeights& w, uint4* out) {
  const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4 * 2;
  uint4 high, low;
  if constexpr (direction == Direction::backward) {
    split_pair(w[g][q], w[g][q + 1], high.x, low.x);
    split_pair(w[g + 8][q], w[g + 8][q + 1], high.y, low.y);
    split_pair(w[g][q + 8], w[g][q + 9], high.z, low.z);
    split_pair(w[g + 8][q + 8], w[g + 8][q + 9], high.w, low.w);
    out[lane] = high, out[32 + lane] = low;
  } else {
#pragma unroll
    for (int k = 0; k < most_granules; ++k) {
      const int bin = k * granule + g;
      split_pair(w[q][bin], w[q + 1][bin], high.x, low.x);
      split_pair(w[q + 8][bin], w[q + 9][bin], high.y, low.y);
      out[k * 32 + lane] = {high.x, high.y, low.x, low.y};
    }
  }
}

/// The lowest value of the lanes of one tile.
__device__ inline int lowest_of_tile(int value) {
  for (int o = columns / 2; o > 0; o /= 2) value = min(value, __shfl_xor_sync(~0u, value, o));
  return value;
}

/// Makes shadows; a lane has a column. In the projection, profiles along rows are in voxels: the weights
/// carry the rows that a voxel takes, over those of one on the axis of the first view.
template <Direction direction>
static __global__ void __launch_bounds__(shadow_warps * 32)
    cast_shadows(ConeFrame n, const ConeView* __restrict__ views, Index pairs, Tiles tiles, TileShadows out) {
  __shared__ ColumnWeights all[shadow_warps * tiles_a_warp];
  constexpr bool forward = direction == Direction::forward;
  const int column = threadIdx.x % columns, of_block = threadIdx.x / columns;
  const Index first_pair = Index{blockIdx.x} * shadow_warps * tiles_a_warp;
  const Index pair = min(first_pair + of_block, pairs - 1);  // the last one may be made more than once
  const int tile = static_cast<int>(pair % tiles.count());
  const Index x = Index{tile % tiles.across} * edge + column % edge,
              y = Index{tiles.first + tile / tiles.across} * edge + column / edge;
  const ConeView& view = views[pair / tiles.count()];
  const Trapezoid<double> t = trapezoid_of(view, min(x, tiles.nx - 1), min(y, tiles.ny - 1));
  const Column along = column_at(view, t.distance);

  const int first = __double2int_rd(t.corners[0] + 0.5), last = __double2int_ru(t.corners[3] + 0.5);
  const int lowest = lowest_of_tile(first), start = forward ? lowest & ~(granule - 1) : lowest;
  const int bins = -lowest_of_tile(-last) - start;
  for (int k = threadIdx.x; k < size_of<decltype(all)> / size_of<float>; k += blockDim.x)
    (&all[0][0][0])[k] = 0;
  __syncthreads();
  const double on_axis = n.sdd * n.pitch_z / (n.sod * n.row_pitch);
  const auto scale = static_cast<float>((forward ? along.step / on_axis : 1) / (weight_unit * n.pitch));
  const Trapezoid<float> near = counted_from(t, first);
  if (x < tiles.nx && y < tiles.ny)
    for (int bin = first; bin < min(last, start + most_granules * granule); ++bin)
      all[of_block][column][bin - start] = mean_over(near, bin - first) * scale;
  __syncwarp();

  for (int k = 0; k < tiles_a_warp; ++k) {
    const int which = own_thread() / 32 * tiles_a_warp + k;
    const Index at = min(first_pair + which, pairs - 1);
    write_factors<direction>(all[which], out.weights + at * parts_of(direction) * 32);
  }
  const double below = along.first + 0.5;  // the lower edge of row 0 is the start
  out.ladders[pair * columns + column] =
      forward ? Ladder{-below / along.step, 1 / along.step} : Ladder{below, along.step};
  if (column == 0) out.bins[pair] = forward ? start + ceil_div(bins, granule) : start * most_bins + bins;
}

/// Shadows of some tiles in some views, in memory of their own.
template <Direction direction>
class ShadowStore {
 public:
  static_assert(record_bytes(direction) ==
                parts_of(direction) * 32 * sizeof(uint4) + columns * sizeof(Ladder) + sizeof(int));

  ShadowStore(Index most, cudaStream_t s)  ///< most: pairs of a view and a tile
      : weights_(most * parts_of(direction) * 32, s),
        ladders_(most * columns, s),
        bins_(most, s),
        stream_(s) {}

  TileShadows of(const ConeFrame& frame, const ConeView* views, int count, const Tiles& tiles) const {
    const TileShadows out{weights_.data(), ladders_.data(), bins_.data()};
    const Index pairs = Index{count} * tiles.count();
    const dim3 blocks = grid_of(ceil_div<Index>(pairs, shadow_warps * tiles_a_warp));
    cast_shadows<direction><<<blocks, shadow_warps * 32, 0, stream_>>>(frame, views, pairs, tiles, out);
    after_launch();
    return out;
  }

 private:
  Scratch<uint4> weights_;
  Scratch<Ladder> ladders_;
  Scratch<int> bins_;
  cudaStream_t stream_;
};

// ---- intervals of equal width on a profile of cells

/// Positions in cells, in fixed point: differences are exact.
template <int bits>
constexpr float one_cell = 1 << bits;

template <int bits>
__device__ inline int fixed(double position) {
  return __double2int_rn(position * (1 << bits));
}

/// Intervals of a column, in fixed point: where in its window the middle one begins, and how far apart they
/// are. In back-projection they are the voxels of a chunk, in rows; in projection the rows of a warp, in
/// voxels.
struct Rung {
  int middle, step;
};

/// Which intervals there are: at most one cell wide, from one to two, or any.
enum class Wide : char { one, two, any };

/// The width of all intervals of a warp's lanes; each lane has looked at its own.
__device__ inline Wide wide_of(bool one, bool two) {
  return __all_sync(~0u, one) ? Wide::one : __all_sync(~0u, two) ? Wide::two : Wide::any;
}

/// The form of a loop that is made for these intervals: `run(std::integral_constant<Wide, ...>)`.
template <class Run>
__device__ inline void for_width(Wide wide, const Run& run) {
  if (wide == Wide::one)
    run(std::integral_constant<Wide, Wide::one>());
  else if (wide == Wide::two)
    run(std::integral_constant<Wide, Wide::two>());
  else
    run(std::integral_constant<Wide, Wide::any>());
}

/// `sum` and the integral over [from, from + width] of a profile that is constant in each cell.
template <Wide wide, int bits>
__device__ inline float add_integral(const float* profile, int from, float width, float sum) {
  const float* p = profile + (from >> bits);
  constexpr int of_float = 23, one = 0x3f800000;
  int past_bits;  // bits of 1 + the part of the cell that lies before: (from & mask) | one
  asm("lop3.b32 %0, %1, %2, %3, 0xEA;"
      : "=r"(past_bits)
      : "r"(from << (of_float - bits)), "r"((1 << of_float) - 1), "r"(one));
  const float past = __int_as_float(past_bits);
  if constexpr (wide == Wide::one) {
    const float second = __saturatef(past + (width - 2));
    return fmaf(second, p[1], fmaf(width - second, p[0], sum));
  } else if constexpr (wide == Wide::two) {
    const float rest = past + (width - 2), third = __saturatef(rest - 1);
    sum = fmaf(rest - third, p[1], fmaf(2 - past, p[0], sum));
    return third > 0 ? fmaf(third, p[2], sum) : sum;  // the fewer lanes read, the fewer banks conflict
  } else {
    const float first = fminf(width, 2 - past);
    sum = fmaf(first, p[0], sum);
    for (float left = width - first; left > 0; left -= 1) sum = fmaf(fminf(left, 1), *++p, sum);
    return sum;
  }
}

}  // namespace tandem::kernels::cuda
