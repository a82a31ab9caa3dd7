// The passes along v: turned planes of a child, slices of voxels, and their transposes. A warp has a column,
// or a few; lanes are rows of the result.

#include <algorithm>

#include "crossing.cuh"

namespace tandem::kernels::cuda {

namespace {

constexpr int warps = 8, threads = 32 * warps, edge = 32;
constexpr int rows_at_once = 128;  // results of a warp in a gather, counted in float from the first of them
constexpr int rows_a_warp = 4 * rows_at_once;
constexpr int results_a_warp = 256;  // the same in a transpose
constexpr int columns_a_warp = edge / warps;

/// Row i of a result reads at `at + step i`.
struct Rows {
  Split64 at;
  float step;
  __device__ Rows(double first, double by) : at(split_of(first)), step(static_cast<float>(by)) {}
  __device__ float onward(int i) const { return fmaf(step, i, at.part); }
};

__device__ inline Line rows_of(const Turning& n, double u, double t) {
  const double scale = 1 - (t * (1 - n.turn.c) - u * n.turn.s) / n.turn.sod;
  return {n.middle_row * (1 - scale), scale};
}

/// The value that taps give at a position among `count` numbers, beyond which there are zeros.
template <int taps>
__device__ inline float interpolated(const Taps& of, const Rows& rows, int i, const float* numbers,
                                     int count) {
  const float position = rows.onward(i), whole = floorf(position);
  const int first = rows.at.whole + static_cast<int>(whole) + 1 - taps / 2;
  float weights[taps], sum = 0;
  weigh<taps>(of, position - whole - 0.5f, weights);
  numbers += first;
  if (first >= 0 && first + taps <= count) {
#pragma unroll
    for (int k = 0; k < taps; ++k) sum = fmaf(weights[k], numbers[k], sum);
  } else {
#pragma unroll
    for (int k = 0; k < taps; ++k)
      if (is_below(first + k, count)) sum = fmaf(weights[k], numbers[k], sum);
  }
  return sum;
}

template <int taps>
__global__ void __launch_bounds__(threads)
    turn(const __grid_constant__ Turning n, const float* own, float* turned) {
  const ParentPlane& to = n.turned[blockIdx.z];
  const ParentPlane& from = n.own[n.of_one ? 0 : blockIdx.z];
  const int lane = threadIdx.x % 32;
  const int column = to.first_column + static_cast<int>(blockIdx.x * warps + threadIdx.x / 32),
            begin = own_block_y() * rows_a_warp, end = min(begin + rows_a_warp, to.rows);
  if (column >= to.first_column + to.columns || begin >= end) return;
  const bool there = column >= from.first_column && column < from.first_column + from.columns;
  const Line line = rows_of(n, (column - n.axis_column) * n.step_u, to.t);
  const float* numbers = own + from.column_0 + Index{column} * from.rows + from.first_row;
  float* out = turned + to.column_0 + Index{column} * to.rows + to.first_row;
  for (int row0 = begin; row0 < end; row0 += rows_at_once) {
    const Rows rows(line.at(to.first_row + row0) - from.first_row, line.step);
#pragma unroll
    for (int i = lane; i < rows_at_once; i += 32)
      if (row0 + i < end)
        out[row0 + i] = !there   ? 0
                        : n.flat ? *numbers
                                 : interpolated<taps>(n.taps, rows, i, numbers, from.rows);
  }
}

/// Results [row0, row0 + results_a_warp) of a warp, in shared memory, with room for taps that reach beyond.
template <int taps>
struct Results {
  static constexpr int beside = taps - 1, room = results_a_warp + 2 * beside;
  int row0;
  float* sums;

  __device__ void clear() const {
    for (int i = threadIdx.x % 32; i < room; i += 32) sums[i] = 0;
    __syncwarp();
  }
  /// Adds what 32 numbers give, as far as there are `count`: number i stands at rows.onward(i). A lane has
  /// one of them. Lanes whose taps begin at the same row add one after the other.
  __device__ void add(const Taps& of, const Rows& rows, int count, float number) const {
    const int lane = threadIdx.x % 32;
    const float position = rows.onward(lane), whole = floorf(position);
    const int first = rows.at.whole + static_cast<int>(whole) + 1 - taps / 2 - row0;
    float weights[taps];
    weigh<taps>(of, position - whole - 0.5f, weights);
    const int before = __shfl_up_sync(~0u, first, 1);
    const bool begins = lane == 0 || first != before;
    const int rank = lane - (31 - __clz(__ballot_sync(~0u, begins) & (~0u >> (31 - lane)))),
              turns = __reduce_max_sync(~0u, rank) + 1;
    const bool reaches = lane < count && static_cast<unsigned>(first + beside) < results_a_warp + beside;
    float* to = sums + beside + first;
    for (int turn = 0; turn < turns; ++turn) {
      const bool adds = reaches && turn == rank;
#pragma unroll
      for (int k = 0; k < taps; ++k) {
        if (adds) to[k] = fmaf(weights[k], number, to[k]);
        __syncwarp();
      }
    }
  }
  /// Writes the results, as far as there are `count`.
  __device__ void store(float* out, int count) const {
    __syncwarp();
    for (int i = threadIdx.x % 32; i < min(results_a_warp, count - row0); i += 32)
      out[row0 + i] = sums[beside + i];
  }
};

template <int taps>
__global__ void __launch_bounds__(threads)
    turn_back(const __grid_constant__ Turning n, const float* turned, float* own) {
  __shared__ float sums[warps][Results<taps>::room];
  const ParentPlane& to = n.own[blockIdx.z];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int column = to.first_column + own_block_x() * warps + warp, row0 = own_block_y() * results_a_warp;
  if (column >= to.first_column + to.columns || row0 >= to.rows) return;
  const Results<taps> results{row0, sums[warp]};
  results.clear();
  for (int k = n.of_one ? 0 : own_block_z(); k < (n.of_one ? n.planes : own_block_z() + 1); ++k) {
    const ParentPlane& from = n.turned[k];
    if (column < from.first_column || column >= from.first_column + from.columns || from.rows == 0) continue;
    const float* numbers = turned + from.column_0 + Index{column} * from.rows + from.first_row;
    if (n.flat) {
      if (lane == 0) results.sums[results.beside] += *numbers;
      continue;
    }
    const Line line = rows_of(n, (column - n.axis_column) * n.step_u, from.t);
    const Rows rows(line.at(from.first_row) - to.first_row, line.step);
    const float base = row0 - rows.at.whole - rows.at.part;
    const int begin = max(0, floor_int((base - taps / 2) / rows.step)),
              end = min(from.rows, ceil_int((base + results_a_warp + taps / 2) / rows.step) + 1);
    for (int i = begin; i < end; i += 32)
      results.add(n.taps, Rows(line.at(from.first_row + i) - to.first_row, line.step), from.rows - i,
                  i + lane < from.rows ? numbers[i + lane] : 0);
  }
  results.store(own + to.column_0 + Index{column} * to.rows + to.first_row, to.rows);
}

// ---- voxels

__device__ inline Line rows_of(const VoxelPass& n, const ParentPlane& line) {
  const double rows_a_mm = (1 - line.t / n.sod) / n.step_v;
  return {n.middle_row + n.z0 * rows_a_mm, n.pitch_z * rows_a_mm};
}

/// The place of a block's column of voxels: its line, and the place on that.
struct OnLine {
  int line, place;
  bool there;
};
template <class Volume>
__device__ inline OnLine on_line(const VoxelPass& n, const Volume& volume, int x, int y) {
  const int line = n.along_x ? y : x;
  return {line, n.along_x ? x : y,
          x < volume.n2 && y < volume.n1 && line >= n.first && line < n.first + n.count};
}
/// (x, y) where a block begins.
__device__ inline int2 begin_of(const VoxelPass& n) {
  return {own_block_x() * edge + (n.along_x ? 0 : n.first), own_block_z() + (n.along_x ? n.first : 0)};
}
dim3 blocks_of(const VoxelPass& n, Index nx, Index ny, Index down, int a_block) {
  return grid_of(ceil_div<Index>(n.along_x ? nx : n.count, edge), ceil_div<Index>(down, a_block),
                 n.along_x ? n.count : ny);
}

template <int taps>
__global__ void __launch_bounds__(threads)
    add(const __grid_constant__ VoxelPass n, const float* rows, Update update, Image<float> volume) {
  __shared__ float tile[edge][edge + 1];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int2 begin = begin_of(n);
  const int z0 = own_block_y() * edge;
  for (int c = warp; c < edge; c += warps) {
    const OnLine at = on_line(n, volume, begin.x + c, begin.y);
    if (!at.there) continue;
    const ParentPlane& line = n.lines[at.line - n.first];
    const Line by_slices = rows_of(n, line);
    const Rows places(by_slices.at(z0) - line.first_row, by_slices.step);
    const float* numbers = rows + line.column_0 + Index{at.place} * line.rows + line.first_row;
    tile[lane][c] = n.flat ? *numbers : interpolated<taps>(n.taps, places, lane, numbers, line.rows);
  }
  __syncthreads();
  if (!on_line(n, volume, begin.x + lane, begin.y).there) return;
  for (int z = warp; z < edge; z += warps)
    if (z0 + z < volume.n0) update(element(volume, z0 + z, begin.y, begin.x + lane), tile[z][lane]);
}

/// The slices that the results from `row0` on read, of all lines that lanes have.
template <int taps>
__device__ inline int2 slices_read(const VoxelPass& n, const OnLine& own, int row0, int slices) {
  if (n.flat) return {0, 1};
  int first = 1 << 30, last = 0;
  if (own.there) {
    const ParentPlane& line = n.lines[own.line - n.first];
    const Line by_slices = rows_of(n, line);
    const double low = (row0 + line.first_row - taps / 2 - by_slices.first) / by_slices.step,
                 high =
                     (row0 + line.first_row + results_a_warp + taps / 2 - by_slices.first) / by_slices.step;
    first = static_cast<int>(fmax(floor(low), 0.0));
    last = static_cast<int>(fmin(ceil(high) + 1, slices));
  }
  return {__reduce_min_sync(~0u, first), __reduce_max_sync(~0u, last)};
}

/// A column of voxels of a warp. Its line stays at hand, since it takes two divisions in double.
struct ColumnOfVoxels {
  const ParentPlane* line = nullptr;  ///< none beyond the volume
  Line rows{};                        ///< by slices, from the first of the line
  Index at = 0;                       ///< where its numbers begin
  __device__ ColumnOfVoxels(const VoxelPass& n, const OnLine& own) {
    if (!own.there) return;
    line = &n.lines[own.line - n.first];
    const Line by_slices = rows_of(n, *line);
    rows = {by_slices.first - line->first_row, by_slices.step};
    at = line->column_0 + Index{own.place} * line->rows + line->first_row;
  }
};

template <int taps>
__global__ void __launch_bounds__(threads)
    spread_voxels(const __grid_constant__ VoxelPass n, Image<const float> volume, float* rows) {
  static_assert(columns_a_warp == 4);
  __shared__ float tile[edge][edge + 1];
  __shared__ float sums[warps][columns_a_warp][Results<taps>::room];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int2 begin = begin_of(n);
  const int row0 = own_block_y() * results_a_warp, nz = static_cast<int>(volume.n0);
  const OnLine own = on_line(n, volume, begin.x + lane, begin.y);
  const int2 slices = slices_read<taps>(n, own, row0, nz);
  const auto column = [&](int c) {
    return ColumnOfVoxels(n, on_line(n, volume, begin.x + c * warps + warp, begin.y));
  };
  const ColumnOfVoxels columns[columns_a_warp] = {column(0), column(1), column(2), column(3)};
  for (float* own_sums : sums[warp]) Results<taps>{row0, own_sums}.clear();

  for (int z0 = slices.x; z0 < slices.y; z0 += edge) {
    __syncthreads();
    for (int z = warp; z < edge; z += warps)
      tile[z][lane] = own.there && z0 + z < nz ? element(volume, z0 + z, begin.y, begin.x + lane) : 0;
    __syncthreads();
#pragma unroll
    for (int c = 0; c < columns_a_warp; ++c) {
      if (!columns[c].line) continue;
      const Results<taps> results{row0, sums[warp][c]};
      if (n.flat)
        results.sums[results.beside] = tile[0][c * warps + warp];
      else
        results.add(n.taps, Rows(columns[c].rows.at(z0), columns[c].rows.step), min(edge, nz - z0),
                    tile[lane][c * warps + warp]);
    }
  }
#pragma unroll
  for (int c = 0; c < columns_a_warp; ++c)
    if (columns[c].line)
      Results<taps>{row0, sums[warp][c]}.store(rows + columns[c].at, columns[c].line->rows);
}

dim3 columns_and_rows(int columns, int rows, int planes) {
  return grid_of(ceil_div(columns, warps), rows, planes);
}

}  // namespace

void turn_rows(const Turning& n, const float* own, float* turned, cudaStream_t s) {
  if (n.most_columns <= 0 || n.most_rows <= 0) return;
  const dim3 blocks = columns_and_rows(n.most_columns, ceil_div(n.most_rows, rows_a_warp), n.planes);
  const auto kernel = n.taps.count == 6 ? turn<6> : turn<8>;
  kernel<<<blocks, threads, 0, s>>>(n, own, turned);
  after_launch();
}

void turn_rows_back(const Turning& n, const float* turned, float* own, cudaStream_t s) {
  if (n.most_columns <= 0 || n.most_rows <= 0) return;
  const dim3 blocks =
      columns_and_rows(n.most_columns, ceil_div(n.most_rows, results_a_warp), n.of_one ? 1 : n.planes);
  const auto kernel = n.taps.count == 6 ? turn_back<6> : turn_back<8>;
  kernel<<<blocks, threads, 0, s>>>(n, turned, own);
  after_launch();
}

void add_lines(const VoxelPass& n, const float* rows, Update update, Image<float> volume, cudaStream_t s) {
  add<8><<<blocks_of(n, volume.n2, volume.n1, volume.n0, edge), threads, 0, s>>>(n, rows, update, volume);
  after_launch();
}

void spread_lines(const VoxelPass& n, Image<const float> volume, float* rows, cudaStream_t s) {
  spread_voxels<8>
      <<<blocks_of(n, volume.n2, volume.n1, n.most_rows, results_a_warp), threads, 0, s>>>(n, volume, rows);
  after_launch();
}

}  // namespace tandem::kernels::cuda
