#pragma once

// Where the columns of a parent's plane meet a child: along u, and along t. The first position of a block is
// in double; positions near it are counted from there in float.

#include "passes.cuh"

namespace tandem::kernels::cuda {

/// The numbers that taps read, from `first` on.
template <int taps>
struct alignas(16) Place {
  int first;
  float weights[taps];
};

/// Tap k at a distance is the last tap but k at minus that: even powers of both are the same.
template <int taps>
__device__ inline void weigh(const Taps& of, float middle_distance, float* weights) {
  static_assert(taps % 2 == 0 && powers_of_taps % 2 == 0);
  constexpr int powers = taps == 2 ? 2 : powers_of_taps;  // two taps are linear
  const float square = middle_distance * middle_distance;
#pragma unroll
  for (int k = 0; k < taps / 2; ++k) {
    float even = of.powers[powers - 2][k], odd = of.powers[powers - 1][k];
#pragma unroll
    for (int p = powers - 4; p >= 0; p -= 2)
      even = fmaf(even, square, of.powers[p][k]), odd = fmaf(odd, square, of.powers[p + 1][k]);
    weights[k] = fmaf(odd, middle_distance, even);
    weights[taps - 1 - k] = fmaf(-odd, middle_distance, even);
  }
}

/// A whole number and what lies above it.
struct Split64 {
  int whole;
  float part;
};
__device__ inline Split64 split_of(double position) {
  const double whole = floor(position);
  return {static_cast<int>(whole), static_cast<float>(position - whole)};
}

/// A plane of a parent at a child, near its column `origin`.
struct Crossing {
  int origin, columns;  ///< columns of the plane: where counting begins, and how many from there on
  Split64 at;           ///< column of the child there
  float step, bend;     ///< d columns on: step d / (1 + bend d) more
  int first, reach;     ///< columns of the child that these read
  Split64 plane;        ///< where the child's column `first` meets its planes
  float plane_step;     ///< step of `plane`, a column
  float magnification;  ///< at the origin

  __device__ float onward(float d) const { return at.part + step * d / (1 + bend * d); }
  __device__ float magnified(float d) const { return magnification / (1 + bend * d); }
};

__device__ inline double child_u(const FrameTurn& turn, double u, double t) {
  return (u * turn.c + t * turn.s) / (1 - (u * turn.s + t * (1 - turn.c)) / turn.sod);
}

/// Finds the columns of the child that the plane meets along u, from its column `origin` on.
__device__ inline void cross_along_u(const Merging& n, const FrameTurn& turn, const ParentPlane& p,
                                     int origin, Crossing& to) {
  const double u = p.u.at(origin), q = 1 - (u * turn.s + p.t * (1 - turn.c)) / turn.sod,
               own = (u * turn.c + p.t * turn.s) / q;
  to.origin = origin;
  to.at = split_of(n.axis_column + own / n.step_u);
  to.step = static_cast<float>(p.u.step * (turn.c + own * turn.s / turn.sod) / (q * n.step_u));
  to.bend = static_cast<float>(-p.u.step * turn.s / (turn.sod * q));
  to.magnification = static_cast<float>((1 - p.t / turn.sod) / q);
}

/// Finds the planes of the child that its columns meet along t, from column `first` on.
__device__ inline void cross_along_t(const Merging& n, const Joint& child, double t, int first,
                                     Crossing& to) {
  const FrameTurn& turn = child.turn;
  const double slope = turn.s * (t / turn.sod - 1), below = turn.c + t * (1 - turn.c) / turn.sod,
               u = (first - n.axis_column) * n.step_u;
  to.first = first;
  to.plane = split_of(((t + u * slope) / below - child.t.first) / child.t.step);
  to.plane_step = static_cast<float>(n.step_u * slope / (below * child.t.step));
}

/// The taps of column `origin + d` of the plane, which begin at columns [low, high] of the child.
template <int taps>
__device__ inline void place_along_u(const Merging& n, const Crossing& at, int d, int low, int high,
                                     Place<taps>& to) {
  const float position = at.onward(d);
  const int before = at.at.whole + 1 - taps / 2;
  to.first = min(max(floor_int(position) + before, low), high);
  const int whole = to.first - before;
  weigh<taps>(n.along_u, position - whole - 0.5f, to.weights);
  if (!n.of_views) return;
  const float factor = static_cast<float>(n.weight.at(at.magnified(d)));
#pragma unroll
  for (int k = 0; k < taps; ++k) to.weights[k] *= factor;
}

/// The place where the child's column `first + d` meets its planes, counted from `plane.whole`.
__device__ inline float onward_along_t(const Crossing& at, int count, int d) {
  const float base = at.plane.whole;
  return fminf(fmaxf(fmaf(at.plane_step, d, at.plane.part), -base), count - 1 - base);
}
/// The first plane that is read there.
template <int taps>
__device__ inline int first_along_t(const Crossing& at, int count, int d) {
  const int whole = floor_int(onward_along_t(at, count, d)) + at.plane.whole + 1 - taps / 2;
  return max(min(whole, count - taps), 0);
}
template <int taps>
__device__ inline void place_along_t(const Merging& n, const Crossing& at, int count, int d,
                                     Place<taps>& to) {
  to.first = first_along_t<taps>(at, count, d);
  const int below = to.first - at.plane.whole + taps / 2 - 1;
  weigh<taps>(n.along_t, onward_along_t(at, count, d) - below - 0.5f, to.weights);
}

/// Some rows of a lane.
template <int rows>
struct alignas(4 * rows) Lane {
  float v[rows];
};

/// The columns and rows that planes [first, first + 8) of a parent take together.
struct PlaneHull {
  int first_column, last_column, first_row, last_row;
};

__device__ inline PlaneHull hull_of(const Merging& n, int first) {
  const int line = first + static_cast<int>(threadIdx.x % lines_a_block);
  const ParentPlane& p = n.planes[min(line, n.count - 1)];
  const bool some = p.columns > 0 && p.rows > 0;
  constexpr int far = 1 << 30;
  return {__reduce_min_sync(~0u, some ? p.first_column : far),
          __reduce_max_sync(~0u, some ? p.first_column + p.columns : -far),
          __reduce_min_sync(~0u, some ? p.first_row : far),
          __reduce_max_sync(~0u, some ? p.first_row + p.rows : -far)};
}

/// The place of a lane: a plane of the parent, columns of the block, and its first row.
struct LanePlace {
  int line, first_column, row;
};

/// Writes what a lane has of some columns of a line of the block into `sums`, or adds it.
template <int rows>
__device__ inline void store_sums(const Merging& n, const LanePlace& at, bool add,
                                  Lane<rows> (&sum)[columns_a_block], float* sums) {
  const auto [line, first_column, row] = at;
  if (line >= n.count) return;
  const ParentPlane& p = n.planes[line];
  const int a = max(first_column, p.first_column),
            b = min(first_column + columns_a_block, p.first_column + p.columns);
  if (row < p.first_row || row >= p.first_row + p.rows) return;
#pragma unroll
  for (int i = 0; i < columns_a_block; ++i) {
    if (a + i >= b) break;
    auto& to = *reinterpret_cast<Lane<rows>*>(sums + p.column_0 + Index{a + i} * p.rows + row);
    if (add)
#pragma unroll
      for (int r = 0; r < rows; ++r) sum[i].v[r] += to.v[r];
    to = sum[i];
  }
}

}  // namespace tandem::kernels::cuda
