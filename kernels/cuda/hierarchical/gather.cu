// A parent's planes from its children, along t and along u at once; hierarchical.cu has the loop. Along t a
// warp reads the planes of a column once, for all eight lines of the block. Along u it reads twelve columns,
// for a group of four. So weights fill a window of planes, or of columns, with zeros for those that a line,
// or a column, does not read.

#include <algorithm>
#include <type_traits>

#include "../common/launch.cuh"
#include "crossing.cuh"

namespace tandem::kernels::cuda {

namespace {

constexpr int warps = lines_a_block, threads = 32 * warps;
constexpr int children_at_once = 8;
constexpr int columns_per_group = 4;  // neighbouring columns of a parent, which read the same columns
constexpr int window_u = 12;          // columns of a child that a group reads
constexpr int largest_offset = 3;     // planes by which lines of a block read on, from the first one
constexpr int far_flag = 15;          // in the place of a larger offset

struct alignas(16) OverU {
  float weights[window_u];  ///< from the first column of the group on, or from the own first one
};

template <int along>
struct alignas(16) OverT {
  static constexpr int window = along + largest_offset;
  float weights[window];  ///< from plane `base()` on
  /// 16 base + offset. The base is the first plane that the first or the last line of the block reads at this
  /// column. The offset leads from the base to the first plane of this line. If it is not within [0,
  /// largest_offset], `far_flag` stands in its place, and the base is the first plane of this line.
  int place;
  __device__ int base() const { return place / 16; }
  __device__ int offset() const { return place % 16; }
};

/// The places of one child.
template <int along>
struct Places {
  OverU* over_u;  ///< [line][column]
  /// [line][group of columns]: the first column that the group reads. If it is negative, columns are read for
  /// each by itself, and -1 - base is the first one.
  int* base;
  int* own;              ///< [line][column]: first column that it reads, from that of the group on
  OverT<along>* over_t;  ///< [line][column of the child]
};

template <int along, int rows>
struct Shared {
  static constexpr int all = lines_a_block * columns_a_block;
  unsigned char* memory;
  int reach;  ///< columns of the child

  __device__ Shared(const Merging& n, unsigned char* m) : memory(m), reach(n.reach) {}
  __device__ Crossing* crossings() const { return reinterpret_cast<Crossing*>(memory); }  ///< [child][line]
  __device__ Places<along> places(int which) const {
    unsigned char* at = memory + crossing_bytes() + which * place_bytes(reach);
    Places<along> p;
    p.over_u = reinterpret_cast<OverU*>(at);
    p.over_t = reinterpret_cast<OverT<along>*>(at + sizeof(OverU) * all);
    p.own = reinterpret_cast<int*>(at + sizeof(OverU) * all + sizeof(OverT<along>) * lines_a_block * reach);
    p.base = p.own + all;
    return p;
  }
  /// What a line has of the child's columns, and room for the zeros of the last four: [column][row].
  __device__ float* mixed(int line) const {
    return reinterpret_cast<float*>(memory + crossing_bytes() + 2 * place_bytes(reach)) +
           line * mixed_columns(reach) * 32 * rows;
  }
  TANDEM_HOST_DEVICE static int crossing_bytes() {
    return size_of<Crossing> * children_at_once * lines_a_block;
  }
  TANDEM_HOST_DEVICE static int place_bytes(int reach) {
    return static_cast<int>((sizeof(OverU) + sizeof(int)) * all + sizeof(int) * all / columns_per_group +
                            sizeof(OverT<along>) * (lines_a_block * reach));
  }
  TANDEM_HOST_DEVICE static int mixed_columns(int reach) { return reach + columns_per_group; }
  static std::size_t bytes(const Merging& n) {
    return crossing_bytes() + 2 * place_bytes(n.reach) +
           lines_a_block * mixed_columns(n.reach) * 32 * rows * 4;
  }
};

/// The crossing of line `line` of the block with a child; it has no columns if the line has none here.
template <int across>
__device__ inline void cross(const Merging& n, const Joint& child, int line, int first_column, Crossing& to) {
  to.columns = 0, to.reach = 0, to.first = 0;
  if (line >= n.count) return;
  const ParentPlane& p = n.planes[line];
  const int a = max(first_column, p.first_column),
            b = min(first_column + columns_a_block, p.first_column + p.columns);
  if (a >= b || p.rows == 0) return;
  cross_along_u(n, child.turn, p, a, to);
  to.columns = b - a;
  const double begin = n.axis_column + child_u(child.turn, p.u.at(a), p.t) / n.step_u,
               end = n.axis_column + child_u(child.turn, p.u.at(b - 1), p.t) / n.step_u;
  const int first = floor_int(fmin(begin, end)) + 1 - across / 2;
  to.reach = min(floor_int(fmax(begin, end)) + 1 + across / 2 - first, n.reach);
  cross_along_t(n, child, p.t, first, to);
}

/// All lanes of a warp take part.
template <int across, int along>
__device__ inline void place_column(const Merging& n, const Crossing& at, int i,
                                    const Places<along>& places) {
  constexpr int far = 1 << 20;
  const int d = i % columns_a_block;
  Place<across> place;
  place.first = far;
  if (d < at.columns) place_along_u(n, at, d, at.first, at.first + at.reach - across, place);
  int base = place.first;
#pragma unroll
  for (int k = 1; k < columns_per_group; k *= 2) base = min(base, __shfl_xor_sync(~0u, base, k));
  const int offset = d < at.columns ? place.first - base : 0;
  int most = offset;
#pragma unroll
  for (int k = 1; k < columns_per_group; k *= 2) most = max(most, __shfl_xor_sync(~0u, most, k));
  const bool together = most <= window_u - across;
  if (d >= at.columns) return;
  OverU& to = places.over_u[i];
#pragma unroll
  for (int k = 0; k < window_u; ++k) {
    float weight = k < across && !together ? place.weights[k] : 0;
#pragma unroll
    for (int s = 0; s <= window_u - across; ++s)
      if (k - s >= 0 && k - s < across && together && offset == s) weight = place.weights[k - s];
    to.weights[k] = weight;
  }
  places.own[i] = offset;
  if (d % columns_per_group == 0)
    places.base[i / columns_per_group] = together ? base - at.first : -1 - (base - at.first);
}

/// The lines of a block at one child.
struct Lines {
  const Crossing* all;
  int planes;     ///< planes of the child
  int low, high;  ///< the first and the last line that have columns
};

/// Finds the place of a line at a column of the child.
template <int along>
__device__ inline void place_planes(const Merging& n, const Lines& lines, int line, int d, OverT<along>& to) {
  const Crossing &at = lines.all[line], &low = lines.all[lines.low], &high = lines.all[lines.high];
  Place<along> place;
  place_along_t(n, at, lines.planes, d, place);
  const int base = min(first_along_t<along>(low, lines.planes, d + at.first - low.first),
                       first_along_t<along>(high, lines.planes, d + at.first - high.first));
  const int offset = place.first - base;
  const bool together = offset >= 0 && offset <= largest_offset;
#pragma unroll
  for (int k = 0; k < OverT<along>::window; ++k) {
    float weight = k < along && !together ? place.weights[k] : 0;
#pragma unroll
    for (int s = 0; s <= largest_offset; ++s)
      if (k - s >= 0 && k - s < along && together && offset == s) weight = place.weights[k - s];
    to.weights[k] = weight;
  }
  to.place = together ? 16 * base + offset : 16 * place.first + far_flag;
}

template <int across, int along>
__device__ inline void find_places(const Merging& n, const Lines& lines, const Places<along>& places) {
  const int thread = threadIdx.x;
  constexpr int all = lines_a_block * columns_a_block;
  if (thread < all) place_column<across>(n, lines.all[thread / columns_a_block], thread, places);
  for (int i = threads - 1 - thread; i < lines_a_block * n.reach; i += threads) {
    const int line = i / n.reach, d = i - line * n.reach;
    if (d < lines.all[line].reach) place_planes<along>(n, lines, line, d, places.over_t[i]);
  }
}

/// What a plane has at a column; beyond its rows and beyond the last plane the nearest one that there is.
template <int rows>
__device__ inline Lane<rows> read(const Joint& child, int plane, int column, int row) {
  const ChildPlane p = child.planes[min(plane, child.count - 1)];
  const int own = min(max(row, p.first_row), p.last_row - rows);
  return *reinterpret_cast<const Lane<rows>*>(child.data + (p.column_0 + (column * p.rows + own)));
}

template <int count, int rows, int most>
__device__ inline Lane<rows> mix(const float* weights, const Lane<rows> (&numbers)[most]) {
  Lane<rows> sum{};
#pragma unroll
  for (int k = 0; k < count; ++k)
#pragma unroll
    for (int r = 0; r < rows; ++r) sum.v[r] = fmaf(weights[k], numbers[k].v[r], sum.v[r]);
  return sum;
}

/// What a warp reads of one column of the child.
template <int along, int rows>
struct ColumnOfPlanes {
  static constexpr int window = OverT<along>::window;
  unsigned readers = 0;  ///< lines that read it, a bit each
  Lane<rows> planes[window] = {};

  __device__ void load(const Joint& child, const Crossing* lines, int reach, const OverT<along>* over_t,
                       int column, int row) {
    const int line = threadIdx.x % lines_a_block, d = column - lines[line].first;
    const bool reads = d >= 0 && d < lines[line].reach;
    readers = __ballot_sync(~0u, reads) & ((1u << lines_a_block) - 1);
    if (readers == 0) return;
    const OverT<along>& own = over_t[line * reach + min(max(d, 0), reach - 1)];
    const int offset = own.offset();
    const bool near = reads && offset != far_flag;
    const int first = __reduce_min_sync(~0u, near ? offset : far_flag),
              last = __reduce_max_sync(~0u, near ? offset : -1),
              base = __reduce_max_sync(~0u, near ? own.base() : 0);
    // A plane that no line reads has weights of zero, and another one stands for it.
    if (last < 0) return;
#pragma unroll
    for (int k = 0; k < window; ++k)
      planes[k] = read<rows>(child, base + min(max(k, first), last + along - 1), column, row);
  }
  __device__ void give(const Joint& child, const Crossing* lines, const Shared<along, rows>& shared,
                       const OverT<along>* over_t, int column, int row) const {
#pragma unroll
    for (int l = 0; l < lines_a_block; ++l) {
      if (!(readers >> l & 1)) continue;
      const int d = column - lines[l].first;
      const OverT<along> place = over_t[l * shared.reach + d];
      Lane<rows> sum = mix<window>(place.weights, planes);
      if (place.offset() == far_flag) {
        Lane<rows> own[along];
#pragma unroll
        for (int k = 0; k < along; ++k) own[k] = read<rows>(child, place.base() + k, column, row);
        sum = mix<along>(place.weights, own);
      }
      *reinterpret_cast<Lane<rows>*>(shared.mixed(l) + (d * 32 + threadIdx.x % 32) * rows) = sum;
    }
  }
};

/// The pass along t: a warp has every eighth of the columns that the block reads.
template <int along, int rows>
__device__ inline void mix_planes(const Joint& child, const Crossing* lines, int row,
                                  const Shared<along, rows>& shared, const OverT<along>* over_t) {
  constexpr int far = 1 << 30;
  const int line = threadIdx.x % lines_a_block;
  const int own_first = lines[line].first, own_reach = lines[line].reach;
  const int begin = __reduce_min_sync(~0u, own_reach > 0 ? own_first : far),
            end = __reduce_max_sync(~0u, own_reach > 0 ? own_first + own_reach : -far);
  for (int column = begin + static_cast<int>(threadIdx.x / 32); column < end; column += 2 * warps) {
    ColumnOfPlanes<along, rows> a, b;
    a.load(child, lines, shared.reach, over_t, column, row);
    if (column + warps < end) b.load(child, lines, shared.reach, over_t, column + warps, row);
    a.give(child, lines, shared, over_t, column, row);
    b.give(child, lines, shared, over_t, column + warps, row);
  }
}

/// The pass along u: a warp has a line.
template <int across, int along, int rows>
__device__ inline void mix_columns(const Crossing& line, int which, const Shared<along, rows>& shared,
                                   const Places<along>& places, Lane<rows> (&sums)[columns_a_block]) {
  const float* mixed = shared.mixed(which) + threadIdx.x % 32 * rows;
  const auto column = [&](int at) { return *reinterpret_cast<const Lane<rows>*>(mixed + at * 32 * rows); };
#pragma unroll
  for (int i = 0; i < columns_a_block; i += columns_per_group) {
    if (i >= line.columns) break;
    const int base = places.base[(which * columns_a_block + i) / columns_per_group];
    if (base >= 0) {
      Lane<rows> read_ones[window_u];
#pragma unroll
      for (int k = 0; k < window_u; ++k) read_ones[k] = column(base + k);
#pragma unroll
      for (int j = i; j < i + columns_per_group; ++j) {
        const OverU place = places.over_u[which * columns_a_block + j];
#pragma unroll
        for (int k = 0; k < window_u; ++k)
#pragma unroll
          for (int r = 0; r < rows; ++r)
            sums[j].v[r] = fmaf(place.weights[k], read_ones[k].v[r], sums[j].v[r]);
      }
    } else {
#pragma unroll
      for (int j = i; j < i + columns_per_group; ++j) {
        if (j >= line.columns) break;
        const OverU place = places.over_u[which * columns_a_block + j];
        const int first = -1 - base + places.own[which * columns_a_block + j];
#pragma unroll
        for (int k = 0; k < across; ++k) {
          const Lane<rows> value = column(first + k);
#pragma unroll
          for (int r = 0; r < rows; ++r) sums[j].v[r] = fmaf(place.weights[k], value.v[r], sums[j].v[r]);
        }
      }
    }
  }
}

/// Clears shared memory, so that weights of zero meet numbers.
template <int along, int rows>
__device__ inline void clear(const Shared<along, rows>& shared) {
  const int thread = threadIdx.x;
  for (int i = thread; i < lines_a_block * shared.mixed_columns(shared.reach) * 32 * rows; i += threads)
    shared.mixed(0)[i] = 0;
  for (int which = 0; which < 2; ++which)
    for (int i = thread; i < lines_a_block * columns_a_block; i += threads)
      shared.places(which).over_u[i] = {};
}

/// Adds what some children give. All of their crossings fit into shared memory.
template <int across, int along, int rows>
__device__ inline void add_children(const Merging& n, const Joint* children, int some, int row,
                                    const Shared<along, rows>& shared, Lane<rows> (&sum)[columns_a_block]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // lines with columns are the same for all children
  const unsigned here =
      __ballot_sync(~0u, shared.crossings()[lane % lines_a_block].columns > 0) & ((1u << lines_a_block) - 1);
  if (here == 0) return;
  Lines lines{shared.crossings(), children[0].count, __ffs(here) - 1, 31 - __clz(here)};
  find_places<across>(n, lines, shared.places(0));
#pragma unroll 1
  for (int k = 0; k < some; ++k) {
    const Crossing* own = lines.all;
    const Places<along> places = shared.places(k % 2);
    __syncthreads();
    mix_planes(children[k], own, row, shared, places.over_t);
    __syncthreads();
    lines.all += lines_a_block;
    if (k + 1 < some) {
      lines.planes = children[k + 1].count;
      find_places<across>(n, lines, shared.places((k + 1) % 2));
    }
    mix_columns<across>(own[warp], warp, shared, places, sum);
  }
}

template <int across, int along, int rows>
__global__ void __launch_bounds__(threads, 2)
    gather_block(const __grid_constant__ Merging n, const Joint* children, int count, bool add, float* sums) {
  extern __shared__ __align__(16) unsigned char memory[];
  const Shared<along, rows> shared(n, memory);
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int first_line = own_block_y() * lines_a_block;
  const PlaneHull hull = hull_of(n, first_line);
  const int first_column = hull.first_column + own_block_x() * columns_a_block,
            row = hull.first_row + (own_block_z() * 32 + lane) * rows;
  if (first_column >= hull.last_column || row - lane * rows >= hull.last_row) return;
  clear(shared);

  Lane<rows> sum[columns_a_block] = {};
  for (int child0 = 0; child0 < count; child0 += children_at_once) {
    const int some = min(children_at_once, count - child0);
    __syncthreads();
    for (int i = thread; i < some * lines_a_block; i += threads)
      cross<across>(n, children[child0 + i / lines_a_block], first_line + i % lines_a_block, first_column,
                    shared.crossings()[i]);
    __syncthreads();
    add_children<across>(n, children + child0, some, row, shared, sum);
  }
  store_sums(n, {first_line + warp, first_column, row}, add, sum, sums);
}

template <int across, int along, int rows>
void launch(const Merging& n, const Joint* children, int count, bool add, float* sums, cudaStream_t s) {
  const dim3 blocks = grid_of(ceil_div(n.most_columns, columns_a_block), ceil_div(n.count, lines_a_block),
                              ceil_div(n.most_rows, 32 * rows));
  const auto kernel = gather_block<across, along, rows>;
  allow_all_shared_memory(kernel);
  kernel<<<blocks, threads, Shared<along, rows>::bytes(n), s>>>(n, children, count, add, sums);
  after_launch();
}

}  // namespace

void gather(const Merging& n, const Joint* children, int count, bool add, float* sums, cudaStream_t s) {
  if (gather_views(n, children, count, add, sums, s)) return;
  if (n.count == 0 || n.most_columns <= 0 || n.most_rows <= 0) return;
  const auto run = [&](auto across, auto along) {
    const bool two_rows = n.most_rows > 1 && Shared<along(), 2>::bytes(n) <= shared_memory_here();
    two_rows ? launch<across(), along(), 2>(n, children, count, add, sums, s)
             : launch<across(), along(), 1>(n, children, count, add, sums, s);
  };
  using std::integral_constant;
  if (n.of_views)
    run(integral_constant<int, 6>{}, integral_constant<int, 2>{});
  else
    run(integral_constant<int, 8>{}, integral_constant<int, 8>{});
}

}  // namespace tandem::kernels::cuda
