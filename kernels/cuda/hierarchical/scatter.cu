// The transpose of gather.cu, as a gather: the columns of a child from all planes of its parent. A block has
// 32 columns of a child and some rows, and goes through the parent's planes, up to 8 at a time, in the order
// in which they meet the child's. Each warp has four columns and, in registers, the planes that the next ones
// can reach; a plane that they have passed is finished and written. Lanes are rows.

#include <algorithm>

#include "../common/launch.cuh"
#include "crossing.cuh"

namespace tandem::kernels::cuda {

namespace {

constexpr int warps = 8, threads = 32 * warps, columns_a_warp = own_columns_a_block / warps;
constexpr int planes_at_once = 256;
static_assert(columns_a_warp == 4 && planes_at_once == threads);

/// The columns of a plane that a warp reads, from the crossing's `origin` on.
struct Reach {
  int first, last;
};

template <int along>
struct Shared {
  Crossing* crossings;   ///< [plane]; `columns`: of the plane that read the block's
  Reach* reaches;        ///< [plane of some][warp]
  Place<along>* over_t;  ///< [plane of some][column of the child]
  float* over_u;         ///< [plane of some][column of the plane][column of the child]
  int spread;            ///< columns of the plane
  const Crossing* some;  ///< the crossings of some planes
  __device__ Shared(const Merging& n, unsigned char* memory) : spread(n.spread) {
    over_t = reinterpret_cast<Place<along>*>(memory);
    over_u = reinterpret_cast<float*>(over_t + n.together * own_columns_a_block);
    crossings = reinterpret_cast<Crossing*>(over_u + n.together * n.spread * own_columns_a_block);
    reaches = reinterpret_cast<Reach*>(crossings + planes_at_once);
    some = crossings;
  }
  static std::size_t bytes(const Merging& n) {
    const std::size_t columns = n.together * own_columns_a_block;
    return sizeof(Place<along>) * columns + sizeof(float) * columns * n.spread +
           sizeof(Crossing) * planes_at_once + sizeof(Reach) * lines_a_block * warps;
  }
};

/// How many columns after the origin a position of the child, from that of the origin on, is met. A position
/// that the plane meets nowhere in front of the child's source is taken as met far out.
__device__ inline float columns_until(const Crossing& at, float position) {
  constexpr float far = 1 << 24;
  const float beyond = position - at.at.part, slope = at.step - at.bend * beyond;
  return slope * at.step > 0 ? beyond / slope : copysignf(far, beyond * at.step);
}

/// Columns of the plane that can read [first, last) of the child, as counted from the origin.
template <int across>
__device__ inline Reach reach_of(const Crossing& at, int first, int last) {
  const float base = first - at.at.whole, a = columns_until(at, base - across / 2),
              b = columns_until(at, base + (last - first + across / 2));
  return {floor_int(fminf(a, b)), ceil_int(fmaxf(a, b)) + 1};
}

/// A plane of the parent at the block's columns.
template <int across>
__device__ inline void cross(const Merging& n, const Joint& child, const ParentPlane& p, int first,
                             Crossing& to) {
  to.columns = 0, to.first = 0, to.origin = 0;
  if (p.columns == 0 || p.rows == 0) return;
  const FrameTurn& turn = child.turn;
  const double own = (first + 0.5 * own_columns_a_block - n.axis_column) * n.step_u,
               u = (own * (1 - p.t * (1 - turn.c) / turn.sod) - p.t * turn.s) /
                   (turn.c + own * turn.s / turn.sod);
  const double near = fmin(fmax((u - p.u.first) / p.u.step, p.first_column), p.first_column + p.columns - 1);
  cross_along_u(n, turn, p, static_cast<int>(near), to);
  const Reach all = reach_of<across>(to, first, first + own_columns_a_block);
  const int begin = max(all.first, p.first_column - to.origin),
            end = min(all.last, p.first_column + p.columns - to.origin);
  to.columns = max(0, min(end - begin, n.spread)),
  to.reach = begin;  // here: the first column, from the origin
  cross_along_t(n, child, p.t, first, to);
}

template <int across, int along>
__device__ inline void find_places(const Merging& n, const Crossing* planes, int some, const Joint& child,
                                   int first, const Shared<along>& shared) {
  const int thread = threadIdx.x;
  if (thread < lines_a_block * warps) {
    const Crossing& at = planes[thread / warps];
    Reach reach{0, 0};
    if (thread / warps < some && at.columns > 0) {
      const int own = first + thread % warps * columns_a_warp;
      reach = reach_of<across>(at, own, own + columns_a_warp);
      reach = {max(reach.first - at.reach, 0), min(reach.last - at.reach, at.columns)};
    }
    shared.reaches[thread] = reach;
  }
  for (int i = thread; i < some * own_columns_a_block; i += threads)
    if (const Crossing& at = planes[i / own_columns_a_block]; at.columns > 0)
      place_along_t(n, at, child.count, i % own_columns_a_block, shared.over_t[i]);
  for (int i = thread; i < some * n.spread; i += threads) {
    const int line = i / n.spread, d = i - line * n.spread;
    const Crossing& at = planes[line];
    if (d >= at.columns) continue;
    Place<across> place;
    place_along_u(n, at, d + at.reach, child.first_column, child.last_column - across, place);
    float* to = shared.over_u + i * own_columns_a_block;
#pragma unroll
    for (int k = 0; k < across; ++k)
      if (const unsigned column = place.first + k - first; column < own_columns_a_block)
        to[column] = place.weights[k];
  }
}

__device__ inline void clear(float* numbers, int count) {
  for (int i = threadIdx.x; i < count / 4; i += threads) reinterpret_cast<float4*>(numbers)[i] = {0, 0, 0, 0};
}

/// The planes that a column gathers, from `first` on.
template <int along, int rows>
struct Planes {
  int first = 0;
  Lane<rows> sums[along] = {};

  __device__ void finish_one(const Joint& child, int column, int row) {
    if (first < child.count) {
      const ChildPlane p = child.planes[first];
      const PlaneColumns c = child.columns[first];
      if (column >= c.first && column < c.last && row >= p.first_row && row < p.last_row)
        *reinterpret_cast<Lane<rows>*>(child.data + (p.column_0 + (column * p.rows + row))) = sums[0];
    }
#pragma unroll
    for (int k = 0; k + 1 < along; ++k) sums[k] = sums[k + 1];
    sums[along - 1] = {};
    ++first;
  }
};

/// Adds what four columns of the child get from a plane, along u. Numbers and weights begin at the first
/// column of the plane that any of them reads.
template <int rows>
__device__ inline void mix_columns(const float* from, int stride, const float* weights, int count,
                                   Lane<rows> (&sum)[columns_a_warp]) {
#pragma unroll 4
  for (int i = 0; i < count; ++i, from += stride, weights += own_columns_a_block) {
    const auto value = *reinterpret_cast<const Lane<rows>*>(from);
    const float4 w = *reinterpret_cast<const float4*>(weights);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      sum[0].v[r] = fmaf(w.x, value.v[r], sum[0].v[r]);
      sum[1].v[r] = fmaf(w.y, value.v[r], sum[1].v[r]);
      sum[2].v[r] = fmaf(w.z, value.v[r], sum[2].v[r]);
      sum[3].v[r] = fmaf(w.w, value.v[r], sum[3].v[r]);
    }
  }
}

/// Plane `line` of some, for a warp's columns from `column` on.
template <int along, int rows>
__device__ inline void add_plane(const Joint& child, const ParentPlane& p, const float* values,
                                 const LanePlace& at, const Shared<along>& shared,
                                 Planes<along, rows> (&own)[columns_a_warp]) {
  const auto [line, column, row] = at;
  const int warp = threadIdx.x / 32;
  const Reach reach = shared.reaches[line * warps + warp];
  if (reach.first >= reach.last) return;
  const Crossing& crossing = shared.some[line];
  Lane<rows> sum[columns_a_warp] = {};
  if (row >= p.first_row && row < p.first_row + p.rows)
    mix_columns(
        values + p.column_0 + Index{crossing.origin + crossing.reach + reach.first} * p.rows + row, p.rows,
        shared.over_u + (line * shared.spread + reach.first) * own_columns_a_block + warp * columns_a_warp,
        reach.last - reach.first, sum);
#pragma unroll
  for (int c = 0; c < columns_a_warp; ++c) {
    const Place<along> place = shared.over_t[line * own_columns_a_block + warp * columns_a_warp + c];
    while (own[c].first < place.first) own[c].finish_one(child, column + c, row);
#pragma unroll
    for (int k = 0; k < along; ++k)
#pragma unroll
      for (int r = 0; r < rows; ++r)
        own[c].sums[k].v[r] = fmaf(place.weights[k], sum[c].v[r], own[c].sums[k].v[r]);
  }
}

template <int across, int along, int rows>
__global__ void __launch_bounds__(threads, 2)
    scatter_block(const __grid_constant__ Merging n, const Joint* children, const float* values) {
  extern __shared__ __align__(16) unsigned char memory[];
  Shared<along> shared(n, memory);
  const Joint& child = children[blockIdx.x];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int first = child.first_column + own_block_y() * own_columns_a_block,
            row = child.first_row + (own_block_z() * 32 + lane) * rows;
  if (first >= child.last_column || row - lane * rows >= child.last_row) return;
  const int column = first + warp * columns_a_warp;
  // planes of the parent in the order of t
  const bool falling = n.planes[n.count - 1].t < n.planes[0].t;
  const auto plane_of = [&](int j) -> const ParentPlane& { return n.planes[falling ? n.count - 1 - j : j]; };

  Planes<along, rows> own[columns_a_warp];
  for (int j0 = 0; j0 < n.count; j0 += planes_at_once) {
    const int some = min(planes_at_once, n.count - j0);
    __syncthreads();
    if (thread < some) cross<across>(n, child, plane_of(j0 + thread), first, shared.crossings[thread]);
#pragma unroll 1
    for (int j = 0; j < some; j += n.together) {
      const int together = min(n.together, some - j);
      shared.some = shared.crossings + j;
      __syncthreads();
      clear(shared.over_u, n.together * n.spread * own_columns_a_block);
      __syncthreads();
      find_places<across, along>(n, shared.some, together, child, first, shared);
      __syncthreads();
#pragma unroll 1
      for (int l = 0; l < together; ++l)
        add_plane(child, plane_of(j0 + j + l), values, {l, column, row}, shared, own);
    }
  }
#pragma unroll
  for (int c = 0; c < columns_a_warp; ++c)
    while (own[c].first < child.count) own[c].finish_one(child, column + c, row);
}

template <int across, int along, int rows>
void launch(Merging n, const std::vector<Joint>& children, const float* values, cudaStream_t s) {
  int columns = 0, most_rows = 0;
  for (const Joint& child : children) {
    columns = std::max(columns, child.last_column - child.first_column);
    most_rows = std::max(most_rows, child.last_row - child.first_row);
  }
  if (columns <= 0 || most_rows <= 0) return;
  const Scratch<Joint> there(std::span<const Joint>(children), s);
  // children side by side, since all of them read the same planes
  const dim3 blocks =
      grid_of(children.size(), ceil_div(columns, own_columns_a_block), ceil_div(most_rows, 32 * rows));
  while (n.together > 1 && Shared<along>::bytes(n) > shared_memory_here()) n.together /= 2;
  const auto kernel = scatter_block<across, along, rows>;
  allow_all_shared_memory(kernel);
  kernel<<<blocks, threads, Shared<along>::bytes(n), s>>>(n, there.data(), values);
  after_launch();
}

}  // namespace

void scatter(const Merging& n, const std::vector<Joint>& children, const float* values, cudaStream_t s) {
  const bool one_row = n.most_rows == 1;
  if (n.of_views)
    one_row ? launch<6, 2, 1>(n, children, values, s) : launch<6, 2, 4>(n, children, values, s);
  else
    one_row ? launch<8, 8, 1>(n, children, values, s) : launch<8, 8, 2>(n, children, values, s);
}

}  // namespace tandem::kernels::cuda
