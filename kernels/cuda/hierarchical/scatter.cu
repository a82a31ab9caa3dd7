// The transpose of gather.cu, as a gather: the columns of a child from all planes of its parent. A block has
// 32 columns of a child and some rows, and goes through the parent's planes, up to 4 at a time, in the order
// in which they meet the child's; the places of the next ones are found while warps still add these. Each
// warp has four columns and, in registers, the planes that the next ones can reach; a plane that they have
// passed is finished and written. Lanes are rows.

#include <algorithm>
#include <bit>

#include "../common/launch.cuh"
#include "crossing.cuh"

namespace tandem::kernels::cuda {

namespace {

constexpr int warps = 8, threads = 32 * warps, columns_a_warp = own_columns_a_block / warps;
constexpr int planes_at_once = 256;  // planes that have crossings in shared memory
constexpr int most_together = 4;     // planes between two barriers
constexpr int stride_u =
    own_columns_a_block + 4;  // so that lanes that clear lines next to each other meet other banks
static_assert(columns_a_warp == 4 && planes_at_once == threads && warps % most_together == 0);

/// The columns of a plane that a warp reads, from the crossing's `reach` on.
struct Reach {
  int first, last;
};

/// The places of some planes.
template <int along>
struct Places {
  Place<along>* over_t;  ///< [plane][column of the child]
  float* over_u;         ///< [plane][column of the plane][column of the child]
  Reach* reaches;        ///< [plane][warp]
};

template <int along>
struct Shared {
  unsigned char* memory;
  int together, spread;  ///< planes, and columns of each, that have places
  __device__ Shared(const Merging& n, unsigned char* m) : memory(m), together(n.together), spread(n.spread) {}
  __device__ Crossing* crossings() const { return reinterpret_cast<Crossing*>(memory); }
  __device__ Places<along> places(int which) const {
    unsigned char* at = memory + sizeof(Crossing) * planes_at_once + which * place_bytes(together, spread);
    Places<along> p;
    p.over_t = reinterpret_cast<Place<along>*>(at);
    p.over_u = reinterpret_cast<float*>(p.over_t + together * own_columns_a_block);
    p.reaches = reinterpret_cast<Reach*>(p.over_u + together * spread * stride_u);
    return p;
  }
  TANDEM_HOST_DEVICE static int place_bytes(int together, int spread) {
    return together * (size_of<Place<along>> * own_columns_a_block + size_of<float> * spread * stride_u +
                       size_of<Reach> * warps);
  }
  static std::size_t bytes(const Merging& n) {
    return sizeof(Crossing) * planes_at_once + 2 * place_bytes(n.together, n.spread);
  }
};

/// How many columns after the origin a position of the child, from that of the origin on, is met. A position
/// that the plane meets nowhere in front of the child's source is taken as met far out.
__device__ inline float columns_until(const Crossing& at, float position) {
  constexpr float far = 1 << 24;
  const float beyond = position - at.at.part, slope = at.step - at.bend * beyond;
  return slope * at.step > 0 ? beyond / slope : copysignf(far, beyond * at.step);
}

/// Columns of the plane that read [first, last) of the child, as counted from the origin.
template <int across>
__device__ inline Reach reach_of(const Crossing& at, int first, int last) {
  constexpr float rounding = 0.01F;  // more than that of places and of `columns_until`, in columns
  const float base = first - at.at.whole, a = columns_until(at, base - across / 2),
              b = columns_until(at, base + (last - first) + across / 2 - 1);
  return {ceil_int(fminf(a, b) - rounding), floor_int(fmaxf(a, b) + rounding) + 1};
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

/// What a column of the plane gives to those of the child, zeros among them.
template <int across>
__device__ inline void place_column(const Merging& n, const Crossing& at, int d, const Joint& child,
                                    int first, float* over_u) {
#pragma unroll
  for (int k = 0; k < own_columns_a_block; k += 4) *reinterpret_cast<float4*>(over_u + k) = {0, 0, 0, 0};
  Place<across> place;
  place_along_u(n, at, d + at.reach, child.first_column, child.last_column - across, place);
#pragma unroll
  for (int k = 0; k < across; ++k)
    if (const unsigned column = place.first + k - first; column < own_columns_a_block)
      over_u[column] = place.weights[k];
}

/// Finds the places of `some` planes. A plane has a few warps along u, and one of its own along t.
template <int across, int along>
__device__ inline void find_places(const Merging& n, const Crossing* planes, int some, const Joint& child,
                                   int first, const Places<along>& places) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (const int which = threadIdx.x >> n.threads_log2; which < some && planes[which].columns > 0)
    for (int d = threadIdx.x & ((1u << n.threads_log2) - 1); d < planes[which].columns;
         d += 1 << n.threads_log2)
      place_column<across>(n, planes[which], d, child, first,
                           places.over_u + (which * n.spread + d) * stride_u);
  const int plane = warps - 1 - warp;  // along t
  if (plane >= some) return;
  const Crossing& at = planes[plane];
  if (at.columns > 0)
    place_along_t(n, at, child.count, lane, places.over_t[plane * own_columns_a_block + lane]);
  if (lane < warps) {
    Reach reach{0, 0};
    if (at.columns > 0) {
      const int own = first + lane * columns_a_warp;
      reach = reach_of<across>(at, own, own + columns_a_warp);
      reach = {max(reach.first - at.reach, 0), min(reach.last - at.reach, at.columns)};
    }
    places.reaches[plane * warps + lane] = reach;
  }
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

/// Adds what four columns of the child get from some of a plane, along u.
template <int rows>
__device__ inline void mix_column(const float* from, const float* weights,
                                  Lane<rows> (&sum)[columns_a_warp]) {
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

/// The same for a plane's columns `reach`, out of `columns`. Where as many as neighbours read are enough,
/// their number is known beforehand, and columns that nobody reads have weights of zero.
template <int across, int rows>
__device__ inline void mix_columns(const float* from, int stride, const float* weights, Reach reach,
                                   int columns, Lane<rows> (&sum)[columns_a_warp]) {
  constexpr int often = columns_a_warp + across;
  const bool few = reach.last - reach.first <= often && columns >= often;
  const int first = few ? min(reach.first, columns - often) : reach.first;
  from += Index{first} * stride, weights += first * stride_u;
  if (few) {
#pragma unroll
    for (int i = 0; i < often; ++i) mix_column(from + i * stride, weights + i * stride_u, sum);
  } else {
#pragma unroll 4
    for (int i = first; i < reach.last; ++i, from += stride, weights += stride_u)
      mix_column(from, weights, sum);
  }
}

/// The place of a lane: a plane out of some, the first of its columns of the child, and its first row.
struct ColumnPlace {
  int which, column, row;
};

/// Adds a plane to a warp's columns.
template <int across, int along, int rows>
__device__ inline void add_plane(const Joint& child, const ParentPlane& p, const Crossing& crossing,
                                 const float* values, const ColumnPlace& at, const Places<along>& places,
                                 int spread, Planes<along, rows> (&own)[columns_a_warp]) {
  const auto [which, column, row] = at;
  const int warp = threadIdx.x / 32;
  const Reach reach = places.reaches[which * warps + warp];
  if (reach.first >= reach.last) return;
  Lane<rows> sum[columns_a_warp] = {};
  if (row >= p.first_row && row < p.first_row + p.rows)
    mix_columns<across>(values + p.column_0 + Index{crossing.origin + crossing.reach} * p.rows + row, p.rows,
                        places.over_u + which * spread * stride_u + warp * columns_a_warp, reach,
                        crossing.columns, sum);
#pragma unroll
  for (int c = 0; c < columns_a_warp; ++c) {
    const Place<along> place = places.over_t[which * own_columns_a_block + warp * columns_a_warp + c];
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
  const Shared<along> shared(n, memory);
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
    if (thread < some) cross<across>(n, child, plane_of(j0 + thread), first, shared.crossings()[thread]);
    __syncthreads();
    const auto find = [&](int j, int which) {
      find_places<across>(n, shared.crossings() + j, min(n.together, some - j), child, first,
                          shared.places(which));
    };
    find(0, 0);
#pragma unroll 1
    for (int j = 0, which = 0; j < some; j += n.together, which = 1 - which) {
      __syncthreads();
      if (j + n.together < some) find(j + n.together, 1 - which);
      const Places<along> places = shared.places(which);
#pragma unroll 1
      for (int k = 0; k < min(n.together, some - j); ++k)
        add_plane<across>(child, plane_of(j0 + j + k), shared.crossings()[j + k], values, {k, column, row},
                          places, n.spread, own);
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
  const auto set_together = [&](int planes) {
    n.together = planes, n.threads_log2 = std::countr_zero(0U + threads / planes);
  };
  set_together(most_together);
  while (n.together > 1 && Shared<along>::bytes(n) > shared_memory_here()) set_together(n.together / 2);
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
