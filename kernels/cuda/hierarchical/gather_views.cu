// A group's planes from its views; hierarchical.cu has the loop. Columns of a view lie nearly as far apart as
// those of the planes, so that 16 columns of a plane read 22 or 23 of a view, in order: seven or eight of
// these at a time, the window, stay in registers.

#include "../common/launch.cuh"
#include "crossing.cuh"

namespace tandem::kernels::cuda {

namespace {

constexpr int warps = lines_a_block, threads = 32 * warps, rows = 4, taps = 6;
constexpr int children_at_once = 32;
constexpr int widest_window = 8;  // columns that a column reads, with zeros among them

/// A column between two stations.
struct alignas(16) Between {
  unsigned at;  ///< its number at the first of them, from the row of a lane on
  float first, second;
};

/// The places of one view.
template <int window>
struct Places {
  static constexpr int slack = window - taps;  ///< by how much columns may drift against each other
  static constexpr int own_columns = columns_a_block + window - 1;
  static constexpr int placed_columns = own_columns + 2 * slack;  ///< from `slack` before the first one on
  float over_u[lines_a_block][columns_a_block][widest_window];
  Between over_t[lines_a_block][placed_columns];
  int base[lines_a_block];  ///< the first of the placed columns that is read
};

/// The crossing of line `line` of the block with a view; it has no columns if the line has none here.
template <int window>
__device__ inline void cross(const Merging& n, const Joint& view, int line, int first_column, Crossing& to) {
  to.columns = 0;
  if (line >= n.count) return;
  const ParentPlane& p = n.planes[line];
  const int a = max(first_column, p.first_column),
            b = min(first_column + columns_a_block, p.first_column + p.columns);
  if (a >= b || p.rows == 0) return;
  cross_along_u(n, view.turn, p, a, to);
  to.columns = b - a;
  cross_along_t(n, view, p.t, to.at.whole + 1 - taps / 2 - Places<window>::slack, to);
}

/// Column `d` of a line reads these, as `Places::over_u` has them. All lanes of 16 take part.
template <int window>
__device__ inline void place_columns(const Merging& n, const Crossing& at, int line, int d,
                                     Places<window>& places) {
  constexpr int far = 1 << 20;
  const bool some = d < at.columns;
  Place<taps> place;
  place.first = far;
  if (some) place_along_u(n, at, d, -far, far, place);
  int base = place.first - d;
#pragma unroll
  for (int i = 1; i < columns_a_block; i *= 2) base = min(base, __shfl_xor_sync(~0u, base, i));
  if (d == 0) places.base[line] = base - at.first;
  const int skip = place.first - d - base;
  if (!some) return;
#pragma unroll
  for (int k = 0; k < window; ++k) {
    float weight = 0;
#pragma unroll
    for (int s = 0; s <= Places<window>::slack; ++s)
      if (k - s >= 0 && k - s < taps && skip == s) weight = place.weights[k - s];
    places.over_u[line][d][k] = weight;
  }
}

__device__ inline void place_stations(const Merging& n, const Joint& view, const Crossing& at, int d,
                                      Between& to) {
  Place<2> place;
  place_along_t(n, at, view.count, d, place);
  const ChildPlane p = view.planes[place.first];
  const int column = min(max(at.first + d, view.first_column), view.last_column - 1);
  to = {p.column_0 + column * p.rows, place.weights[0], place.weights[1]};
}

template <int window>
__device__ inline void find_places(const Merging& n, const Joint& view, const Crossing* lines,
                                   Places<window>& places) {
  const int thread = threadIdx.x, line = thread / columns_a_block;
  if (thread < lines_a_block * columns_a_block)
    place_columns(n, lines[line], line, thread % columns_a_block, places);
  constexpr int placed = Places<window>::placed_columns;
  for (int i = threads - 1 - thread; i < lines_a_block * placed; i += threads)
    if (const Crossing& at = lines[i / placed]; at.columns > 0)
      place_stations(n, view, at, i % placed, places.over_t[i / placed][i % placed]);
}

/// The rows of a lane at two stations, of column 0.
struct Stations {
  const float *first, *second;

  __device__ Stations(const Joint& view, int row) {
    const ChildPlane p = view.planes[0];
    const int apart = view.count > 1 ? static_cast<int>(view.planes[1].column_0 - p.column_0) : 0;
    first = view.data + min(max(row, p.first_row), p.last_row - rows);
    second = first + apart;
    // each stays an address of its own: sums of row and column would cost two additions a number
    asm volatile("" : "+l"(first), "+l"(second));
  }
  __device__ Lane<rows> at(const Between& column) const {
    const float4 a = __ldg(reinterpret_cast<const float4*>(first + column.at)),
                 b = __ldg(reinterpret_cast<const float4*>(second + column.at));
    const float u = column.first, v = column.second;
    return {{fmaf(v, b.x, u * a.x), fmaf(v, b.y, u * a.y), fmaf(v, b.z, u * a.z), fmaf(v, b.w, u * a.w)}};
  }
};

template <int window>
__device__ inline void add_view(const Stations& view, const Places<window>& places, int line,
                                Lane<rows> (&sums)[columns_a_block]) {
  const Between* columns = places.over_t[line] + places.base[line];
  Lane<rows> read_ones[window];
#pragma unroll
  for (int i = 0; i + 1 < window; ++i) read_ones[i] = view.at(columns[i]);
#pragma unroll
  for (int i = 0; i < columns_a_block; ++i) {
    read_ones[(i + window - 1) % window] = view.at(columns[i + window - 1]);
    const float* weights = places.over_u[line][i];
    const float4 low = *reinterpret_cast<const float4*>(weights),
                 high = *reinterpret_cast<const float4*>(weights + 4);
    const float w[widest_window] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int k = 0; k < window; ++k)
#pragma unroll
      for (int r = 0; r < rows; ++r)
        sums[i].v[r] = fmaf(w[k], read_ones[(i + k) % window].v[r], sums[i].v[r]);
  }
}

template <int window>
__global__ void __launch_bounds__(threads, 2)
    gather_from_views(const __grid_constant__ Merging n, const Joint* views, int count, bool add,
                      float* sums) {
  __shared__ Crossing crossings[children_at_once][lines_a_block];
  __shared__ Places<window> places[2];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int first_line = own_block_y() * lines_a_block;
  const PlaneHull hull = hull_of(n, first_line);
  const int first_column = hull.first_column + own_block_x() * columns_a_block,
            row = hull.first_row + (own_block_z() * 32 + lane) * rows;
  if (first_column >= hull.last_column || row - lane * rows >= hull.last_row) return;
  // beyond the columns of planes weights are zero, and meet numbers that are there
  for (Places<window>& one : places)
    for (int i = thread; i < lines_a_block * columns_a_block * widest_window; i += threads)
      (&one.over_u[0][0][0])[i] = 0;

  Lane<rows> sum[columns_a_block] = {};
  for (int view0 = 0; view0 < count; view0 += children_at_once) {
    const int some = min(children_at_once, count - view0);
    __syncthreads();
    for (int i = thread; i < some * lines_a_block; i += threads)
      cross<window>(n, views[view0 + i / lines_a_block], first_line + i % lines_a_block, first_column,
                    crossings[i / lines_a_block][i % lines_a_block]);
    __syncthreads();
    find_places(n, views[view0], crossings[0], places[0]);
#pragma unroll 1
    for (int k = 0; k < some; ++k) {
      __syncthreads();
      if (k + 1 < some) find_places(n, views[view0 + k + 1], crossings[k + 1], places[(k + 1) % 2]);
      if (crossings[k][warp].columns > 0) add_view(Stations(views[view0 + k], row), places[k % 2], warp, sum);
    }
  }
  store_sums(n, {first_line + warp, first_column, row}, add, sum, sums);
}

}  // namespace

bool gather_views(const Merging& n, const Joint* views, int count, bool add, float* sums, cudaStream_t s) {
  if (!n.of_views || n.along_u.count != taps || n.most_rows == 1 || n.drift >= widest_window - taps)
    return false;
  if (n.count == 0 || n.most_columns <= 0 || n.most_rows <= 0) return true;
  const dim3 blocks = grid_of(ceil_div(n.most_columns, columns_a_block), ceil_div(n.count, lines_a_block),
                              ceil_div(n.most_rows, 32 * rows));
  const auto kernel = n.drift < widest_window - 1 - taps ? gather_from_views<widest_window - 1>
                                                         : gather_from_views<widest_window>;
  kernel<<<blocks, threads, 0, s>>>(n, views, count, add, sums);
  after_launch();
  return true;
}

}  // namespace tandem::kernels::cuda
