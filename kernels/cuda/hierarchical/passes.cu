// The passes of the hierarchical pair: a thread has one number of the output and gathers, in both directions,
// in one order. Neighbouring threads have neighbouring rows. A transpose finds the places that read a sample
// by inverting their positions, and asks each of them, so that both directions have the same weights.

#include "../common/launch.cuh"
#include "passes.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 128;

__device__ inline int row_of_thread() { return static_cast<int>(blockIdx.x * threads + threadIdx.x); }

dim3 blocks_of(int rows, int columns, int planes) {
  return {static_cast<unsigned>(ceil_div(rows, threads)), static_cast<unsigned>(columns),
          static_cast<unsigned>(planes)};
}

__device__ inline bool has(Range range, Index i) { return i >= range.first && i < range.last; }

/// The whole number at or before a position, and the distance from the middle of the step behind it.
struct Position {
  Index whole;
  float middle_distance;
  __device__ explicit Position(double at) {
    const double below = floor(at);
    whole = static_cast<Index>(below), middle_distance = static_cast<float>(at - below - 0.5);
  }
};

/// The value at a position among samples, beyond which there are zeros.
__device__ float interpolated(const Taps& taps, double at, Range samples, const float* from) {
  const Position position(at);
  float sum = 0;
  for (int k = 0; k < taps.count; ++k) {
    const Index i = position.whole + taps.first() + k;
    if (has(samples, i)) sum += taps.weight(k, position.middle_distance) * from[i - samples.first];
  }
  return sum;
}

/// What places on a line, of which `from` has values, give to a sample.
__device__ float given(const Taps& taps, Line line, Range places, Index sample, const float* from) {
  const double low = static_cast<double>(sample - taps.first() - taps.count + 1), high = low + taps.count;
  const Index first = static_cast<Index>(floor((low - line.first) / line.step)) - 1,
              last = static_cast<Index>(ceil((high - line.first) / line.step)) + 1;
  float sum = 0;
  for (Index j = max(first, places.first); j <= min(last, places.last - 1); ++j) {
    const Position position(line.at(j));
    const Index k = sample - position.whole - taps.first();
    if (k >= 0 && k < taps.count)
      sum += taps.weight(static_cast<int>(k), position.middle_distance) * from[j - places.first];
  }
  return sum;
}

// ---- along v

__device__ inline Line rows_by(const PassAlongRows& pass, const DisparityPlane& turned, Index column) {
  const double scale = pass.turn.rows_of_child(turned.u.at(column), turned.t);
  return {pass.middle_row * (1 - scale), scale};
}

__global__ void __launch_bounds__(threads) turn(PassAlongRows pass, const float* from, float* to) {
  const DisparityPlane t = pass.turned[blockIdx.z], own = pass.own[pass.of_one ? 0 : blockIdx.z];
  const Index column = t.columns.first + blockIdx.y, row = t.rows.first + row_of_thread();
  if (column >= t.columns.last || row >= t.rows.last) return;
  float value = 0;
  if (has(own.columns, column)) {
    const float* in = from + own.column_0() + column * own.rows.size();
    value = pass.flat ? *in : interpolated(pass.taps, rows_by(pass, t, column).at(row), own.rows, in);
  }
  to[t.column_0() + column * t.rows.size() + row - t.rows.first] = value;
}

__global__ void __launch_bounds__(threads) turn_back(PassAlongRows pass, const float* from, float* to) {
  const int plane = static_cast<int>(blockIdx.z);
  const DisparityPlane own = pass.own[plane];
  const Index column = own.columns.first + blockIdx.y, row = own.rows.first + row_of_thread();
  if (column >= own.columns.last || row >= own.rows.last) return;
  float sum = 0;
  for (int k = pass.of_one ? 0 : plane; k < (pass.of_one ? pass.planes : plane + 1); ++k) {
    const DisparityPlane t = pass.turned[k];
    if (!has(t.columns, column)) continue;
    const float* in = from + t.column_0() + column * t.rows.size();
    sum += pass.flat ? *in : given(pass.taps, rows_by(pass, t, column), t.rows, row, in);
  }
  to[own.column_0() + column * own.rows.size() + row - own.rows.first] = sum;
}

// ---- along t and u

__device__ Place place_at(const Taps& taps, double at, double origin, int samples, float factor) {
  const double below = floor(at);
  const auto middle_distance = static_cast<float>(at - below - 0.5);
  // where rounding would read beside what there is
  Place place{min(max(static_cast<int>(below - origin) + taps.first(), 0), samples - taps.count), {}};
  for (int k = 0; k < taps.count; ++k) place.weights[k] = factor * taps.weight(k, middle_distance);
  return place;
}

__global__ void __launch_bounds__(threads) find_across(Crossings c) {
  const int j = static_cast<int>(blockIdx.y), i = row_of_thread();
  const DisparityPlane plane = c.planes[j];
  if (i >= plane.columns.size()) return;
  const double u = plane.u.at(plane.columns.first + i);
  const float factor = c.is_view ? static_cast<float>(c.weight.at(c.turn.magnification(u, plane.t))) : 1.0f;
  c.places_across[j * c.most_columns + i] =
      place_at(c.across, c.axis_column + c.turn.u_of_child(u, plane.t) / c.step_u, c.first_column[j],
               c.columns[j], factor);
}

__global__ void __launch_bounds__(threads) find_along(Crossings c) {
  const int j = static_cast<int>(blockIdx.y), i = row_of_thread();
  if (i >= c.columns[j]) return;
  const double t = c.turn.t_of_child(c.own_columns.at(c.first_column[j] + i), c.planes[j].t);
  const double last = c.turned_count - 1 - (c.is_view ? 1e-9 : 0);
  c.places_along[j * c.most_own_columns + i] =
      place_at(c.along, fmin(fmax((t - c.t.first) / c.t.step, 0.0), last), 0, c.turned_count, 1);
}

/// Column i of those that plane j reads, and where the first of its rows is.
__device__ inline Index between_at(const Crossings& c, int j, int i) {
  return (static_cast<Index>(j) * c.most_own_columns + i) * c.most_rows;
}
__device__ inline Index turned_at(const DisparityPlane& p, Index column, Index row) {
  return p.column_0() + column * p.rows.size() + row - p.rows.first;
}

__global__ void __launch_bounds__(threads) mix_planes(Crossings c, const float* turned) {
  const int j = static_cast<int>(blockIdx.z), i = static_cast<int>(blockIdx.y), r = row_of_thread();
  const DisparityPlane plane = c.planes[j];
  if (i >= c.columns[j] || r >= plane.rows.size()) return;
  float sum = 0;
  if (c.turned_count == 1) {
    sum = turned[turned_at(c.turned[0], c.first_column[j] + i, plane.rows.first + r)];
  } else {
    const Place place = c.places_along[j * c.most_own_columns + i];
    for (int k = 0; k < c.along.count; ++k)
      sum += place.weights[k] *
             turned[turned_at(c.turned[place.first + k], c.first_column[j] + i, plane.rows.first + r)];
  }
  c.between[between_at(c, j, i) + r] = sum;
}

__global__ void __launch_bounds__(threads) mix_columns(Crossings c, float* sums, Index first_number) {
  const int j = static_cast<int>(blockIdx.z), i = static_cast<int>(blockIdx.y), r = row_of_thread();
  const DisparityPlane plane = c.planes[j];
  if (i >= plane.columns.size() || r >= plane.rows.size()) return;
  const Place place = c.places_across[j * c.most_columns + i];
  float& to = sums[plane.offset - first_number + i * plane.rows.size() + r];
  float sum = to;
  for (int k = 0; k < c.across.count; ++k)
    sum += place.weights[k] * c.between[between_at(c, j, place.first + k) + r];
  to = sum;
}

/// What a column of a view has where the parent's plane crosses it.
__device__ inline float crossed(const Crossings& c, const float* turned, int j, int column, Index row) {
  const Index own = c.first_column[j] + column;
  if (c.turned_count == 1) return turned[turned_at(c.turned[0], own, row)];
  const Place& place = c.places_along[j * c.most_own_columns + column];
  float sum = 0;
  for (int k = 0; k < c.along.count; ++k)
    sum += place.weights[k] * turned[turned_at(c.turned[place.first + k], own, row)];
  return sum;
}

__global__ void __launch_bounds__(threads)
    mix_views(const ViewCrossing* views, int count, float* sums, Index first_number) {
  const int j = static_cast<int>(blockIdx.z), i = static_cast<int>(blockIdx.y), r = row_of_thread();
  const DisparityPlane plane = views[0].crossings.planes[j];
  if (i >= plane.columns.size() || r >= plane.rows.size()) return;
  float sum = 0;
  for (int v = 0; v < count; ++v) {
    const Crossings& c = views[v].crossings;
    const Place& place = c.places_across[j * c.most_columns + i];
    for (int k = 0; k < c.across.count; ++k)
      sum += place.weights[k] * crossed(c, views[v].turned, j, place.first + k, plane.rows.first + r);
  }
  sums[plane.offset - first_number + i * plane.rows.size() + r] = sum;
}

__global__ void __launch_bounds__(threads)
    spread_columns(Crossings c, const float* values, Index first_number) {
  const int j = static_cast<int>(blockIdx.z), i = static_cast<int>(blockIdx.y), r = row_of_thread();
  const DisparityPlane plane = c.planes[j];
  if (i >= c.columns[j] || r >= plane.rows.size()) return;
  const Place* places = c.places_across + j * c.most_columns;
  const int count = static_cast<int>(plane.columns.size());
  const bool rising = places[count - 1].first >= places[0].first;
  // the first place that reads no less than i - count + 1 (or no more than i, if they fall)
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2, first = places[middle].first;
    const bool before = rising ? first < i - c.across.count + 1 : first > i;
    before ? low = middle + 1 : high = middle;
  }
  float sum = 0;
  for (int place = low; place < count; ++place) {
    const int k = i - places[place].first;
    if (k < 0 || k >= c.across.count) break;
    sum += places[place].weights[k] * values[plane.offset - first_number + place * plane.rows.size() + r];
  }
  c.between[between_at(c, j, i) + r] = sum;
}

__global__ void __launch_bounds__(threads) spread_planes(Crossings c, float* turned) {
  const int plane = static_cast<int>(blockIdx.z);
  const DisparityPlane to = c.turned[plane];
  const Index column = to.columns.first + blockIdx.y, row = to.rows.first + row_of_thread();
  if (column >= to.columns.last || row >= to.rows.last) return;
  float& all = turned[turned_at(to, column, row)];
  float sum = all;
  for (int j = 0; j < c.count; ++j) {
    const Index i = column - c.first_column[j];
    const DisparityPlane& from = c.planes[j];
    if (i < 0 || i >= c.columns[j] || !has(from.rows, row)) continue;
    float weight = 1;
    if (c.turned_count > 1) {
      const Place& place = c.places_along[j * c.most_own_columns + i];
      const int k = plane - place.first;
      if (k < 0 || k >= c.along.count) continue;
      weight = place.weights[k];
    }
    sum += weight * c.between[between_at(c, j, static_cast<int>(i)) + row - from.rows.first];
  }
  all = sum;
}

// ---- voxels

__device__ inline Line rows_by_slices(const LinesPass& pass, const DisparityPlane& line) {
  const double rows_a_mm = (1 - line.t / pass.sod) / pass.step_v;
  return {pass.middle_row + pass.z0 * rows_a_mm, pass.pitch_z * rows_a_mm};
}
__device__ inline Index voxel_of(const LinesPass& pass, Index l, Index i) {
  return (pass.along_x ? l * pass.nx + i : i * pass.nx + l) * pass.nz;
}

__global__ void __launch_bounds__(threads) add_columns(LinesPass pass, const float* sums, float* columns) {
  const DisparityPlane line = pass.lines[blockIdx.z];
  const Index i = blockIdx.y, z = row_of_thread();
  if (z >= pass.nz) return;
  const float* in = sums + line.offset - pass.first_number + i * line.rows.size();
  columns[voxel_of(pass, pass.first + blockIdx.z, i) + z] +=
      pass.flat ? *in : interpolated(pass.taps, rows_by_slices(pass, line).at(z), line.rows, in);
}

__global__ void __launch_bounds__(threads)
    spread_voxels(LinesPass pass, const float* columns, float* values) {
  const DisparityPlane line = pass.lines[blockIdx.z];
  const Index i = blockIdx.y, row = line.rows.first + row_of_thread();
  if (row >= line.rows.last) return;
  const float* in = columns + voxel_of(pass, pass.first + blockIdx.z, i);
  values[line.offset - pass.first_number + i * line.rows.size() + row - line.rows.first] =
      pass.flat ? *in : given(pass.taps, rows_by_slices(pass, line), {0, pass.nz}, row, in);
}

}  // namespace

void turn_rows(const PassAlongRows& pass, const float* from, float* to, cudaStream_t s) {
  turn<<<blocks_of(pass.rows, pass.columns, pass.planes), threads, 0, s>>>(pass, from, to);
  after_launch();
}

void turn_rows_back(const PassAlongRows& pass, const float* from, float* to, cudaStream_t s) {
  turn_back<<<blocks_of(pass.rows, pass.columns, pass.of_one ? 1 : pass.planes), threads, 0, s>>>(pass, from,
                                                                                                  to);
  after_launch();
}

void find_places(const Crossings& c, cudaStream_t s) {
  find_across<<<blocks_of(c.most_columns, c.count, 1), threads, 0, s>>>(c);
  after_launch();
  if (c.turned_count == 1) return;
  find_along<<<blocks_of(c.most_own_columns, c.count, 1), threads, 0, s>>>(c);
  after_launch();
}

void gather_planes(const Crossings& c, const float* turned, float* sums, Index first_number, cudaStream_t s) {
  mix_planes<<<blocks_of(c.most_rows, c.most_own_columns, c.count), threads, 0, s>>>(c, turned);
  after_launch();
  mix_columns<<<blocks_of(c.most_rows, c.most_columns, c.count), threads, 0, s>>>(c, sums, first_number);
  after_launch();
}

void gather_views(const ViewCrossing* views, int count, const Crossings& like, float* sums,
                  Index first_number, cudaStream_t s) {
  mix_views<<<blocks_of(like.most_rows, like.most_columns, like.count), threads, 0, s>>>(views, count, sums,
                                                                                         first_number);
  after_launch();
}

void scatter_planes(const Crossings& c, const float* values, Index first_number, float* turned,
                    cudaStream_t s) {
  spread_columns<<<blocks_of(c.most_rows, c.most_own_columns, c.count), threads, 0, s>>>(c, values,
                                                                                         first_number);
  after_launch();
  spread_planes<<<blocks_of(c.turned_rows, c.turned_columns, c.turned_count), threads, 0, s>>>(c, turned);
  after_launch();
}

void add_lines(const LinesPass& pass, const float* sums, float* columns, cudaStream_t s) {
  add_columns<<<blocks_of(static_cast<int>(pass.nz), pass.columns, pass.count), threads, 0, s>>>(pass, sums,
                                                                                                 columns);
  after_launch();
}

void spread_lines(const LinesPass& pass, const float* columns, float* values, cudaStream_t s) {
  spread_voxels<<<blocks_of(pass.rows, pass.columns, pass.count), threads, 0, s>>>(pass, columns, values);
  after_launch();
}

}  // namespace tandem::kernels::cuda
