#pragma once

// What a thread of the plain footprint kernels does (separable_footprint.cu). Plain C++, so that tests need
// no device.
//
// Lengths are in pitches. Seen from the source a point at depth d lies off the central ray by a tangent t. A
// step o along x, or along y, from there leads to
//
//     d' = d + o e,   t' = t + o g / d',     e = -sin, g = cos + t sin,     or e = cos, g = sin - t cos
//
// exactly, and without differences of large numbers: where one point of a line stands is found in double, and
// from there on columns beside it, and their corners, are counted in float.

#include "../../../core/array.hpp"
#include "../../../core/rounding.hpp"
#include "../../footprint.hpp"
#include "../../line.hpp"

namespace tandem::kernels::cuda {

struct PlainFrame {
  double cos, sin;
  double sod, x0, y0;
  double axis_bin, bins;  ///< bins: how many a tangent of 1 takes
  double row_of_0;        ///< the midplane, from the lower edge of row 0
  double bottom, voxel;   ///< rows at depth 1: from the midplane to the lowest slice, and for a slice
  explicit PlainFrame(const ConeView& n)
      : cos(n.cos),
        sin(n.sin),
        sod(n.sod / n.pitch),
        x0(n.x0 / n.pitch),
        y0(n.y0 / n.pitch),
        axis_bin(n.axis_bin),
        bins(n.sdd / n.bin_pitch),
        row_of_0(n.midplane_row + 0.5),
        bottom(n.sdd * (n.z0 - 0.5 * n.pitch_z) / (n.row_pitch * n.pitch)),
        voxel(n.sdd * n.pitch_z / (n.row_pitch * n.pitch)) {}
};

// ---- numbers

/// 1 / x, within 2^-23.
TANDEM_HOST_DEVICE inline float over(float x) {
#ifdef __CUDA_ARCH__
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#else
  return 1 / x;
#endif
}

/// 1 / x by one step of Newton's, within 1e-13: cards that have few units for double divide slowly.
TANDEM_HOST_DEVICE inline double over(double x) {
  const double first = over(static_cast<float>(x));
  return first + first * (1 - x * first);
}

TANDEM_HOST_DEVICE inline float root(float x) {
#ifdef __CUDA_ARCH__
  float r;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#else
  return std::sqrt(x);
#endif
}

/// Whole numbers that can still be added to each other, whatever the position.
constexpr int farthest = 1 << 29;
TANDEM_HOST_DEVICE inline int whole(double position) {
#ifdef __CUDA_ARCH__
  return min(max(__double2int_rn(position), -farthest), farthest);
#else
  return static_cast<int>(std::rint(std::clamp<double>(position, -farthest, farthest)));
#endif
}
TANDEM_HOST_DEVICE inline int whole_below(float position) {
#ifdef __CUDA_ARCH__
  return __float2int_rd(position);
#else
  return floor_int(std::clamp<float>(position, -farthest, farthest));
#endif
}
TANDEM_HOST_DEVICE inline int whole_above(float position) {
#ifdef __CUDA_ARCH__
  return __float2int_ru(position);
#else
  return ceil_int(std::clamp<float>(position, -farthest, farthest));
#endif
}

/// How much of [from, to] lies between a whole number and the next.
TANDEM_HOST_DEVICE inline float share_of(float from, float to, int cell) {
  const float low = cell;
  return fmaxf(fminf(to, low + 1) - fmaxf(from, low), 0.0f);
}

// ---- the shadow of a column along the bins

/// A view in float.
struct PlainView {
  float cos, sin, bins;
  TANDEM_HOST_DEVICE explicit PlainView(const PlainFrame& n)
      : cos(static_cast<float>(n.cos)), sin(static_cast<float>(n.sin)), bins(static_cast<float>(n.bins)) {}
};

/// The shadow of the column at that tangent and depth, in bins from its middle. However small it is, its area
/// is that of a column; its height is in pitches.
TANDEM_HOST_DEVICE inline Trapezoid<float> shadow_of(const PlainView& v, float tangent, float depth) {
  const float x = v.cos + tangent * v.sin, y = v.sin - tangent * v.cos;
  float low[2], high[2];
  const auto place = [&](int k, float across, float deeper) {  // two opposite corners
    const float beyond = across < 0 ? -0.5f * deeper : 0.5f * deeper, here = depth - beyond,
                there = depth + beyond;
    const float bins = 0.5f * v.bins * fabsf(across) * over(here * there);
    low[k] = -bins * there, high[k] = bins * here;
  };
  place(0, x + y, v.cos - v.sin), place(1, x - y, -v.sin - v.cos);
  Trapezoid<float> t;
  t.corners[0] = fminf(low[0], low[1]), t.corners[1] = fmaxf(low[0], low[1]);
  t.corners[2] = fminf(high[0], high[1]), t.corners[3] = fmaxf(high[0], high[1]);
  t.height = root(x * x + y * y) * over(fmaxf(fabsf(x), fabsf(y)));
  const auto half_over = [](float width) {
    constexpr float steep = 1e-6f;  // bins
    return width > steep ? 0.5f * over(width) : 0.0f;
  };
  t.rise = half_over(t.corners[1] - t.corners[0]), t.fall = half_over(t.corners[3] - t.corners[2]);
  t.distance = depth;
  return t;
}

/// The part of a trapezoid of height 1 before an edge. F1 is a difference of two of these, of which
/// neighbouring bins share one.
TANDEM_HOST_DEVICE inline float area_before(const Trapezoid<float>& t, float edge) {
  const auto& c = t.corners;
  const auto part = [&](float from, float to) { return fminf(fmaxf(edge - from, 0.0f), to - from); };
  const float rising = part(c[0], c[1]), falling = part(c[2], c[3]);
  return rising * rising * t.rise + part(c[1], c[2]) + falling * (2 * (c[3] - c[2]) - falling) * t.fall;
}

// ---- back-projection: a thread has neighbouring columns, and some slices of each

constexpr int columns_a_thread = 4;  // along y
constexpr int bins_at_once = 3;      // bins that a column meets, if no wider than 1.4 bins

/// The first column of a thread, and its first slice.
struct PlainColumns {
  double x, y, slice;
};

/// Projections of one view.
struct PlainCells {
  const float* data;
  Index stride;         ///< stride of rows
  const float* slants;  ///< (row, bin)
  int rows, bins;
};

/// Where a column falls: bins are counted from `bin`, rows from the lower edge of `row`.
struct PlainShadow {
  Trapezoid<float> along;
  float at;  ///< its middle
  int bin, row;
  float low, step;  ///< its first slice begins at low, and slices are steps
};

template <int run>
TANDEM_HOST_DEVICE void add_cells(const PlainShadow& s, const PlainCells& cells, float (&sum)[run]) {
  const auto& c = s.along.corners;
  const int first = std::max(whole_below(s.at + c[0] + 0.5f), -s.bin),
            last = std::min(whole_above(s.at + c[3] + 0.5f), cells.bins - s.bin),
            first_row = std::max(whole_below(s.low), -s.row),
            last_row = std::min(whole_above(s.low + run * s.step), cells.rows - s.row);
  float edge = first - 0.5f - s.at, before = area_before(s.along, edge);
  TANDEM_KEEP_ROLLED
  for (int bin = first; bin < last; bin += bins_at_once) {
    float weight[bins_at_once];
    TANDEM_UNROLL
    for (int k = 0; k < bins_at_once; ++k) {
      const float after = area_before(s.along, edge += 1);
      weight[k] = s.along.height * (after - before), before = after;
    }
    TANDEM_KEEP_ROLLED
    for (int row = first_row; row < last_row; ++row) {
      const Index line = s.row + row, at = s.bin + bin;
      const float *cell = cells.data + line * cells.stride + at,
                  *slant = cells.slants + line * cells.bins + at;
      float value = 0;
      TANDEM_UNROLL
      for (int k = 0; k < bins_at_once; ++k)
        if (bin + k < last) value += weight[k] * slant[k] * cell[k];
      TANDEM_UNROLL
      for (int k = 0; k < run; ++k) {
        const float from = s.low + k * s.step;
        sum[k] += share_of(from, from + s.step, row) * value;
      }
    }
  }
}

/// Adds one view to all columns of a thread.
template <int run>
TANDEM_HOST_DEVICE void add_view(const PlainFrame& n, const PlainColumns& columns, const PlainCells& cells,
                                 float (&sum)[columns_a_thread][run]) {
  const double x = n.x0 + columns.x, y = n.y0 + columns.y, bottom = n.bottom + n.voxel * columns.slice;
  const double depth = n.sod - x * n.sin + y * n.cos, over_depth = over(depth),
               tangent = (x * n.cos + y * n.sin) * over_depth;
  const double at = n.axis_bin + n.bins * tangent, low = n.row_of_0 + over_depth * bottom;
  const int bin = whole(at), row = whole(low);
  const PlainView v(n);
  const auto d = static_cast<float>(depth), t = static_cast<float>(tangent);
  const auto in_bin = static_cast<float>(at - bin), in_row = static_cast<float>(low - row),
             above = static_cast<float>(low - n.row_of_0), voxel = static_cast<float>(n.voxel);
  const float across = v.sin - t * v.cos;
  TANDEM_UNROLL
  for (int k = 0; k < columns_a_thread; ++k) {
    const float step = k;
    const float deeper = step * v.cos, here = d + deeper, over_here = over(here),
                moved = step * across * over_here;
    add_cells({shadow_of(v, t + moved, here), in_bin + v.bins * moved, bin, row,
               in_row - above * deeper * over_here, voxel * over_here},
              cells, sum[k]);
  }
}

// ---- projection: a thread has two bins and some rows of them, and takes the columns that the bins meet,
// line by line. Lines run along x or along y, whichever the ray between the bins crosses more steeply.

/// The columns where a ray meets lines, counted from the first of a line. `across`: how far a step along a
/// line moves.
struct Crossing {
  double across;
  Line column;
};

TANDEM_HOST_DEVICE inline Crossing crossing_of(const PlainFrame& n, double tangent, bool along_x) {
  const double x = n.cos + tangent * n.sin, y = n.sin - tangent * n.cos;
  const double across = along_x ? x : y, along = along_x ? y : x;
  return {across,
          {(tangent * n.sod - along * (along_x ? n.y0 : n.x0)) / across - (along_x ? n.x0 : n.y0),
           -along / across}};
}

/// What two bins meet, counted from the ray between them.
struct PlainRay {
  bool along_x;
  float tangent;
  int first_line, last_line;
  Line column, slice;         ///< for a line: where the ray passes, and the lower edge of the first row
  float depth, depth_a_line;  ///< depth of the ray
  float slice_a_column;       ///< slices that the edge moves
  float low, low_a_line;      ///< from the ray's column to the first that the bins meet
  float high, high_a_line;    ///< the same to the last one
  TANDEM_HOST_DEVICE void find_columns(const PlainFrame& n, double tangent);
  TANDEM_HOST_DEVICE void find_lines(int columns, int lines);
};

/// Finds the columns between the edges of the bins, at both sides of a line.
TANDEM_HOST_DEVICE inline void PlainRay::find_columns(const PlainFrame& n, double middle) {
  constexpr double half = 0.5, more = 1e-3;
  const Crossing ray = crossing_of(n, middle, along_x), one = crossing_of(n, middle - 1 / n.bins, along_x),
                 two = crossing_of(n, middle + 1 / n.bins, along_x);
  const Line &first = ray.across > 0 ? one.column : two.column,
             &last = ray.across > 0 ? two.column : one.column;
  column = ray.column;
  low = static_cast<float>(first.first - column.first - half * fabs(first.step) - half - more);
  high = static_cast<float>(last.first - column.first + half * fabs(last.step) + half + more);
  low_a_line = static_cast<float>(first.step - column.step);
  high_a_line = static_cast<float>(last.step - column.step);
  constexpr double steep = 0.1;
  if (one.across * ray.across > steep && two.across * ray.across > steep) return;
  low = -1e8f, high = 1e8f, low_a_line = high_a_line = 0;  // an edge runs along the lines: all columns
}

/// Finds the lines in which the bins meet columns that are there.
TANDEM_HOST_DEVICE inline void PlainRay::find_lines(int columns, int lines) {
  const float last = lines - 1;
  const float reach = fmaxf(fmaxf(fabsf(low), fabsf(low + low_a_line * last)),
                            fmaxf(fabsf(high), fabsf(high + high_a_line * last))) +
                      1;
  const double a = (-reach - column.first) / column.step,
               b = (columns - 1 + reach - column.first) /
                   column.step;  // infinite where rays stay in a column
  first_line = static_cast<int>(fmin(fmax(fmin(a, b), 0.0), lines));
  last_line = static_cast<int>(fmin(fmax(fmax(a, b) + 1, 0.0), lines));
}

/// The ray between the bins `bin` and bin + 1, for rows from `row` on.
TANDEM_HOST_DEVICE inline PlainRay ray_between(const PlainFrame& n, Index bin, Index row,
                                               const Image<const float>& volume) {
  const double tangent = (bin + 0.5 - n.axis_bin) / n.bins;
  PlainRay ray;
  ray.along_x = fabs(n.cos + tangent * n.sin) >= fabs(n.sin - tangent * n.cos);
  ray.tangent = static_cast<float>(tangent);
  ray.find_columns(n, tangent);
  const double a_column = ray.along_x ? -n.sin : n.cos, a_line = ray.along_x ? n.cos : -n.sin;
  const Line depth{n.sod + a_column * ((ray.along_x ? n.x0 : n.y0) + ray.column.first) +
                       a_line * (ray.along_x ? n.y0 : n.x0),
                   a_column * ray.column.step + a_line};
  const double slices = (row - n.row_of_0) / n.voxel;  // slices of an edge at depth 1
  ray.depth = static_cast<float>(depth.first), ray.depth_a_line = static_cast<float>(depth.step);
  ray.slice = {slices * depth.first - n.bottom / n.voxel, slices * depth.step};
  ray.slice_a_column = static_cast<float>(slices * a_column);
  ray.find_lines(static_cast<int>(ray.along_x ? volume.n2 : volume.n1),
                 static_cast<int>(ray.along_x ? volume.n1 : volume.n2));
  return ray;
}

/// A column of voxels, slices counted from `slice`, and the rows on it: the first begins at `low`, they are
/// `width` slices each.
struct PlainVoxels {
  const float* data;
  Index stride;
  int slice, slices;
  float low, width;
};

/// Adds the mean over each row, times the slices that it takes.
template <int run>
TANDEM_HOST_DEVICE void add_voxels(const PlainVoxels& v, float first_weight, float second_weight,
                                   float (&sum)[2][run]) {
  TANDEM_UNROLL
  for (int k = 0; k < run; ++k) {
    const float from = v.low + k * v.width, to = from + v.width;
    const int last = std::min(whole_above(to), v.slices - v.slice);
    float value = 0;
    TANDEM_KEEP_ROLLED
    for (int z = std::max(whole_below(from), -v.slice); z < last; ++z)
      value += share_of(from, to, z) * v.data[(v.slice + z) * v.stride];
    sum[0][k] += first_weight * value, sum[1][k] += second_weight * value;
  }
}

/// Adds every `step`-th line from the `phase`-th on, times the rows that a slice takes at depth 1.
template <int run>
TANDEM_HOST_DEVICE void add_lines(const PlainFrame& n, const PlainRay& ray, const Image<const float>& volume,
                                  int phase, int step, float (&sum)[2][run]) {
  const PlainView v(n);
  const float across = ray.along_x ? v.cos + ray.tangent * v.sin : v.sin - ray.tangent * v.cos,
              deeper = ray.along_x ? -v.sin : v.cos, width = 1 / static_cast<float>(n.voxel);
  const Index line_stride = ray.along_x ? volume.s1 : 1, column_stride = ray.along_x ? 1 : volume.s1;
  const int columns = static_cast<int>(ray.along_x ? volume.n2 : volume.n1),
            slices = static_cast<int>(volume.n0);
  TANDEM_KEEP_ROLLED
  for (int line = ray.first_line / step * step + phase; line < ray.last_line; line += step) {
    const double at = ray.column.at(line), edge = ray.slice.at(line);
    const int column = whole(at), slice = whole(edge);
    const float in_column = static_cast<float>(at - column), in_slice = static_cast<float>(edge - slice),
                lines = line;
    const float depth = ray.depth + ray.depth_a_line * lines;
    const int first = std::max(column + whole_above(in_column + ray.low + ray.low_a_line * lines), 0),
              last =
                  std::min(column + whole_below(in_column + ray.high + ray.high_a_line * lines) + 1, columns);
    TANDEM_KEEP_ROLLED
    for (int k = first; k < last; ++k) {
      const float o = k - column - in_column, here = depth + deeper * o, over_here = over(here),
                  moved = o * across * over_here;
      const Trapezoid<float> t = shadow_of(v, ray.tangent + moved, here);
      const float between = -v.bins * moved;  // the bins, from the column's middle
      const float middle = area_before(t, between), height = t.height * over_here;
      const PlainVoxels voxels{volume.data + line * line_stride + k * column_stride,
                               volume.s0,
                               slice,
                               slices,
                               in_slice + ray.slice_a_column * o,
                               width * here};
      add_voxels(voxels, height * (middle - area_before(t, between - 1)),
                 height * (area_before(t, between + 1) - middle), sum);
    }
  }
}

}  // namespace tandem::kernels::cuda
