#pragma once

// How the kernels of any geometry divide a volume. A block has a brick of 16 x 16 x 16 voxels, a thread a run
// of 16 of them along one axis. Some views at a time have a window of cells each in shared memory, and
// records: the shadows of the eight parts of the brick, each of 8 x 8 x 8 voxels as on the CPU. The middle of
// the brick is found in double, all that lies near it in float.

#include <type_traits>

#include "../../flexible_footprint.hpp"
#include "../common/ampere.cuh"
#include "../common/batch.cuh"

namespace tandem::kernels::cuda {

constexpr int edge = 2 * brick_edge;  // voxels along the brick of a block
constexpr int parts = 8;              // parts of a brick
constexpr int threads = edge * edge, warps = threads / 32;

/// The axes of a volume as a kernel takes them: two across, then the axis of the runs.
struct Axes {
  int of[3];        ///< 0: x, 1: y, 2: z
  int size[3];      ///< voxels, in this order
  Index stride[3];  ///< elements
};

/// Runs along `axis`; x, if it is another one, comes first across.
template <class T>
Axes along(int axis, const Image<T>& volume) {
  const int order[3][3]{{1, 2, 0}, {0, 2, 1}, {0, 1, 2}};
  const Index sizes[3]{volume.n2, volume.n1, volume.n0}, strides[3]{1, volume.s1, volume.s0};
  Axes axes{};
  for (int k = 0; k < 3; ++k) {
    const int from = order[axis][k];
    axes.of[k] = from, axes.size[k] = int_of(sizes[from]), axes.stride[k] = strides[from];
  }
  return axes;
}

/// A view with its axes in the order of a kernel.
__device__ inline FlexiblePlace turned(const FlexiblePlace& view, const Axes& axes) {
  FlexiblePlace place = view;
  for (int k = 0; k < 3; ++k) {
    place.bin.step[k] = view.bin.step[axes.of[k]];
    place.row.step[k] = view.row.step[axes.of[k]];
    place.depth.step[k] = view.depth.step[axes.of[k]];
  }
  return place;
}

/// The voxels of a brick along an axis: `size` of them from `first` on, fewer at the end of the volume.
struct Span {
  int first, size;
  __device__ static Span of(int brick, int voxels) {
    return {brick * edge, min(edge, voxels - brick * edge)};
  }
  __device__ float middle() const { return 0.5f * (size - 1); }  // from the first voxel
  /// The middle of a part, from the first voxel.
  __device__ float middle_of(int part) const {
    const int begin = part * brick_edge, end = min(begin + brick_edge, size);
    return 0.5f * (begin + end - 1);
  }
  __device__ bool has(int part) const { return part * brick_edge < size; }
  __device__ float half_of(int part) const { return 0.5f * min(brick_edge, size - part * brick_edge); }
};

struct BrickOfBlock {
  Span span[3];
  __device__ BrickOfBlock(const Axes& axes, int number) {
    for (int k = 0; k < 3; ++k) {
      const int along = ceil_div(axes.size[k], edge);
      span[k] = Span::of(number % along, axes.size[k]);
      number /= along;
    }
  }
  static int count(const Axes& axes) {
    return ceil_div(axes.size[0], edge) * ceil_div(axes.size[1], edge) * ceil_div(axes.size[2], edge);
  }
};

__device__ inline BrickShadow shadow_of(const BrickOfBlock& brick, const FlexiblePlace& view) {
  double middle[3];
  for (int k = 0; k < 3; ++k) middle[k] = brick.span[k].first + double{brick.span[k].middle()};
  return shadow_about(view, middle[0], middle[1], middle[2]);
}

/// Bit k of a part's number: the first or the second half along axis k.
__device__ inline bool is_there(const BrickOfBlock& brick, int part) {
  return brick.span[0].has(part & 1) && brick.span[1].has(part >> 1 & 1) && brick.span[2].has(part >> 2);
}

__device__ inline BrickShadow shadow_of_part(const BrickOfBlock& brick, const BrickShadow& whole, int part) {
  float away[3];
  for (int k = 0; k < 3; ++k) away[k] = brick.span[k].middle_of(part >> k & 1) - brick.span[k].middle();
  return moved(whole, away[0], away[1], away[2]);
}

/// The least depth in a part, as a share of the depth of its middle.
__device__ inline float nearest_of_part(const BrickOfBlock& brick, const BrickShadow& s, int part) {
  float half[3];
  for (int k = 0; k < 3; ++k) half[k] = brick.span[k].half_of(part >> k & 1);
  return nearest_of(s, half);
}

/// Cells that a brick meets in a view. None if it misses the detector.
struct Window {
  int first_bin, first_row, bins, rows;
};

/// Nearest cells of the voxel at a corner of a brick, from the first cell of the shadow. They may be wrong by
/// `slack`, towards which `away` says: -1 or 1.
struct CornerCell {
  int bin, row;
};
__device__ inline CornerCell corner_cell(const BrickOfBlock& brick, const BrickShadow& s, int corner,
                                         float away) {
  float at[3];
  for (int k = 0; k < 3; ++k) at[k] = (corner >> k & 1 ? 1.0f : -1.0f) * brick.span[k].middle();
  const VoxelShadow voxel = shadow_in(s, at[0], at[1], at[2]);
  constexpr float far = 1e6f, slack = 1e-3f;  // cells
  return {__float2int_rn(fminf(fmaxf(voxel.bin, -far), far) + away * slack),
          __float2int_rn(fminf(fmaxf(voxel.row, -far), far) + away * slack)};
}

/// The window of these corners, widened by `reach`.
__device__ inline Window window_between(const BrickShadow& s, CornerCell low, CornerCell high, int reach,
                                        int bins, int rows) {
  const Index first_bin = s.first_bin + low.bin - reach, first_row = s.first_row + low.row - reach,
              last_bin = s.first_bin + high.bin + reach, last_row = s.first_row + high.row + reach;
  if (first_bin >= bins || last_bin < 0 || first_row >= rows || last_row < 0) return {};
  return {static_cast<int>(first_bin), static_cast<int>(first_row),
          static_cast<int>(last_bin - first_bin) + 1, static_cast<int>(last_row - first_row) + 1};
}

/// Lanes look at one corner each; all get the window of all corners.
__device__ inline Window window_of(const BrickOfBlock& brick, const BrickShadow& s, int reach, int bins,
                                   int rows) {
  const int corner = threadIdx.x % 8;
  const CornerCell low = corner_cell(brick, s, corner, -1), high = corner_cell(brick, s, corner, 1);
  return window_between(s, {__reduce_min_sync(~0u, low.bin), __reduce_min_sync(~0u, low.row)},
                        {__reduce_max_sync(~0u, high.bin), __reduce_max_sync(~0u, high.row)}, reach, bins,
                        rows);
}

/// The shadow of a part as its threads read it, with places in a window.
struct alignas(16) Record {
  float depth[3], weight;
  float bin[3], bin_here;
  float row[3], row_here;
  float bin_flank, bin_outer, bin_whole, row_flank;
  float row_outer, row_whole;
};

__device__ inline Record record_of(const BrickShadow& s, const Window& window, float scale) {
  return {{s.depth[0], s.depth[1], s.depth[2]},
          weight_of(s) * scale,
          {s.bin[0], s.bin[1], s.bin[2]},
          s.bin_here + (s.first_bin - window.first_bin),
          {s.row[0], s.row[1], s.row[2]},
          s.row_here + (s.first_row - window.first_row),
          s.along_bins.per_flank,
          s.along_bins.outer,
          s.along_bins.whole,
          s.along_rows.per_flank,
          s.along_rows.outer,
          s.along_rows.whole};
}

__device__ inline BrickShadow shadow_in_window(const Record& r) {
  BrickShadow s{};
  for (int k = 0; k < 3; ++k) s.depth[k] = r.depth[k], s.bin[k] = r.bin[k], s.row[k] = r.row[k];
  s.bin_here = r.bin_here, s.row_here = r.row_here;
  s.along_bins = {r.bin_outer, r.bin_flank, r.bin_whole};
  s.along_rows = {r.row_outer, r.row_flank, r.row_whole};
  return s;
}

/// What the threads of a block know of a view, beside its records.
struct ViewOfBlock {
  Window window;
  int reach;       ///< cells on either side of the nearest one
  unsigned cells;  ///< where the window lies in shared memory, as `window_at` says
  int shift;       ///< shift of sums, in bits
};

/// What the threads of a block know of some views, and room for windows of up to width x height cells.
template <int views_, int width_, int height_>
struct alignas(16) Stage {
  static constexpr int views = views_, width = width_, height = height_;
  float cells[views][height * width];
  Record records[views][parts];
  ViewOfBlock known[views];
};

/// Makes the window and the records of one of the views of a block, by a warp; all its lanes get the window.
/// `align` may widen the window. The whole warp calls `scale_of(shadow of a part, its nearest depth)`, also
/// its lanes without a part (their masses are 0). It returns the factor of weights.
template <class Align, class ScaleOf>
__device__ ViewOfBlock prepare_view(const BrickOfBlock& brick, const FlexiblePlace& view, int bins, int rows,
                                    Record* records, const Align& align, const ScaleOf& scale_of) {
  const int lane = threadIdx.x % 32;
  const BrickShadow all = shadow_of(brick, view);
  const bool has_part = lane < parts && is_there(brick, lane);
  BrickShadow part{};
  float nearest = 1;
  int reach = 1;
  if (has_part) {
    part = shadow_of_part(brick, all, lane);
    nearest = nearest_of_part(brick, part, lane);
    reach = max(reach_of(part.along_bins, nearest), reach_of(part.along_rows, nearest));
  }
  reach = __reduce_max_sync(~0u, reach);
  Window window = window_of(brick, all, reach, bins, rows);
  if (window.bins == 0) return {};
  align(window);
  const float scale = scale_of(part, nearest);
  if (has_part) records[lane] = record_of(part, window, scale);
  return {window, reach, 0, 0};
}

/// A thread's place in the brick: its run lies at (across[0], across[1]) from the first voxel. Runs beyond
/// the volume are computed where its last one is, and not kept.
struct Run {
  int across[2];
  bool there;
  int part;              ///< its first part; the other one is 4 behind
  float from_middle[2];  ///< distance from the middle of its parts
  __device__ Run(const BrickOfBlock& brick, int a, int b) {
    const int wanted[2]{a, b};
    there = true, part = 0;
    for (int k = 0; k < 2; ++k) {
      across[k] = min(wanted[k], brick.span[k].size - 1);
      there = there && across[k] == wanted[k];
      part |= across[k] / brick_edge << k;
      from_middle[k] = across[k] - brick.span[k].middle_of(across[k] / brick_edge);
    }
  }
};

constexpr float whole = 12582912;            // 1.5 * 2^23, as in nearest_cell
constexpr unsigned whole_bits = 0x4B400000;  // its bits

/// Where a window begins in shared memory, for the numbers of cells as `for_voxels` has them. Kernels read it
/// from shared memory, so that the compiler leaves a sum together.
template <int width>
__device__ unsigned window_at(const float* cells, int reach) {
  return shared_address(cells) - 4 * (whole_bits + reach) * (width + 1U);
}

/// Calls use(place in the run, shares of bins, of rows, weight, address of the first cell) for the voxels of
/// half a run, if no shadow reaches farther than `reach`. `full`: there are eight voxels.
template <int reach, int width, bool full, class Use>
__device__ void for_voxels(const Record& record, unsigned cells, const Run& run, int size, int half,
                           const Use& use) {
  const BrickShadow s = shadow_in_window(record);
  const float first = full ? -0.5f * (brick_edge - 1) : -0.5f * (size - 1);
#pragma unroll
  for (int k = 0; k < brick_edge; ++k) {
    if (!full && k >= size) break;
    const VoxelShadow voxel = shadow_in(s, run.from_middle[0], run.from_middle[1], first + k);
    const float bin_sum = voxel.bin + whole, row_sum = voxel.row + whole;
    float of_bins[2 * reach + 1], of_rows[2 * reach + 1];
    share_out(s.along_bins, voxel.bin - (bin_sum - whole), voxel.stretch, reach,
              [&](int i, float share) { of_bins[i] = share; });
    share_out(s.along_rows, voxel.row - (row_sum - whole), voxel.stretch, reach,
              [&](int j, float share) { of_rows[j] = share; });
    use(half * brick_edge + k, of_bins, of_rows,
        product(record.weight, product(voxel.inverse, voxel.inverse)),
        cells + 4 * (__float_as_uint(row_sum) * width + __float_as_uint(bin_sum)));
  }
}

/// The same for both halves of a run in a view. use(reach, ...) has the reach as a constant, 1 or 2.
template <int reach, int width, class Use>
__device__ void for_run(const Record* records, unsigned cells, const Run& run, const Span& along,
                        const Use& use) {
  const auto own = [&](const auto&... values) { use(std::integral_constant<int, reach>{}, values...); };
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int size = min(brick_edge, along.size - half * brick_edge);
    if (size == brick_edge)
      for_voxels<reach, width, true>(records[run.part + 4 * half], cells, run, size, half, own);
    else if (size > 0)
      for_voxels<reach, width, false>(records[run.part + 4 * half], cells, run, size, half, own);
  }
}

/// The same for all views that a stage knows.
template <class Stage, class Use>
__device__ void for_views(const Stage& stage, const Run& run, const Span& along, const Use& use) {
#pragma unroll 1
  for (int v = 0; v < Stage::views; ++v) {
    const ViewOfBlock known = stage.known[v];
    if (known.reach == 1)
      for_run<1, Stage::width>(stage.records[v], known.cells, run, along, use);
    else if (known.reach == 2)
      for_run<2, Stage::width>(stage.records[v], known.cells, run, along, use);
  }
}

/// One voxel of a run.
__device__ inline VoxelShadow voxel_of(const BrickShadow& s, const Run& run, const Span& along, int k) {
  return shadow_in(s, run.from_middle[0], run.from_middle[1], k - along.middle_of(k / brick_edge));
}

__device__ inline float weight_in(const Record& record, const Run& run, const Span& along, int k) {
  const VoxelShadow voxel = voxel_of(shadow_in_window(record), run, along, k);
  return product(record.weight, product(voxel.inverse, voxel.inverse));
}

/// use(row, bin, share) for the cells of a voxel, counted from the first cell of the window.
template <class Use>
__device__ void for_wide_voxel(const Record& record, const Run& run, const Span& along, int k, int reach,
                               const Use& use) {
  const BrickShadow s = shadow_in_window(record);
  const VoxelShadow voxel = voxel_of(s, run, along, k);
  const NearestCell bin = nearest_cell(voxel.bin), row = nearest_cell(voxel.row);
  share_out(s.along_rows, row.beside, voxel.stretch, reach, [&](int j, float of_row) {
    share_out(s.along_bins, bin.beside, voxel.stretch, reach, [&](int i, float of_bin) {
      use(row.number - reach + j, bin.number - reach + i, of_row * of_bin);
    });
  });
}

}  // namespace tandem::kernels::cuda
