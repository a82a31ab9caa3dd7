// Projection by separable footprints, the transpose of backward.cu; separable_footprint.cu has the loop. The
// product on tensor cores is D[32 rows x 8 bins] += P[32 rows x 16 columns] W[16 columns x 8 bins].

#include <algorithm>

#include "../common/boxes.cuh"
#include "data.cuh"
#include "separable_footprint.hpp"
#include "sums.cuh"

namespace tandem::kernels::cuda {

namespace {

struct Problem {
  Tiles tiles;
  int nz;
  int views, rows, bins;
  int bin_blocks;
  int window;  ///< voxels of a column that a block keeps; its stride
  /// Whether any of the voxels from `first` on are there.
  __device__ bool holds(int first) const { return first < nz && first + window > 0; }
};

template <int row_groups>
constexpr int bits = column_bits(row_groups);  // bits behind the point of a position in voxels

/// Finds the tiles of a row that meet each block of bins in each view.
__global__ void find_spans(Problem n, const int* __restrict__ bins, Span* spans) {
  const int view = blockIdx.y, line = blockIdx.x;
  for (int b = threadIdx.x; b < n.bin_blocks; b += blockDim.x) {
    Span span{1 << 30, 0};
    for (int x = 0; x < n.tiles.across; ++x) {
      const int code = bins[Index{view} * n.tiles.count() + line * n.tiles.across + x];
      const int first = code & ~(granule - 1), last = first + (code & (granule - 1)) * granule;
      if (first >= (b + 1) * warp_bins || last <= b * warp_bins) continue;
      span.first = min(span.first, x), span.last = x + 1;
    }
    spans[(Index{view} * n.bin_blocks + b) * n.tiles.down + line] = span;
  }
}

/// The work of a block, and this warp's part of it.
template <int row_groups>
struct Block {
  static constexpr int views = warps / row_groups, tiles = views, rows = row_groups * warp_rows;
  int view, bin, row;  ///< this warp's own; view: the last one again if there are no more
  int first_view, first_row;
  bool real;
  __device__ Block(const Problem& n) {
    const int warp = threadIdx.x / 32;
    first_view = blockIdx.z * views, first_row = blockIdx.y * rows;
    real = first_view + warp / row_groups < n.views;
    view = min(first_view + warp / row_groups, n.views - 1);
    bin = blockIdx.x * warp_bins;
    row = first_row + warp % row_groups * warp_rows;
  }
};

/// One step along the walk: tiles x .. x + Block::tiles - 1 of a row, as far as `end`.
struct Step {
  int line, x, end;
};

/// The next tiles, after `step`; line == tiles.down: there are none.
template <int tiles_a_stage>
__device__ inline Step next(const Problem& n, const Span* spans, Step step) {
  step.x += tiles_a_stage;
  while (step.x >= step.end && ++step.line < n.tiles.down)
    step.x = spans[step.line].first, step.end = spans[step.line].last;
  return step;
}

/// The lowest voxel of a column that the block's rows can meet, over all its views and the columns of a tile,
/// rounded down to a whole piece of a box.
template <int row_groups>
__device__ inline int first_voxel(const Problem& n, const VoxelsOfRows* views, const Block<row_groups>& block,
                                  int line, int x) {
  constexpr float rounding = 0.05f, half = 0.5f * (edge - 1);
  const VoxelsOfRows v =
      views[min(block.first_view + static_cast<int>(threadIdx.x) % block.views, n.views - 1)];
  const float depth = v.depth + v.deeper_x * (x * edge + half) +
                      v.deeper_y * ((line + n.tiles.first) * edge + half),
              more = half * (fabsf(v.deeper_x) + fabsf(v.deeper_y));
  const float low = (static_cast<float>(block.first_row) - v.row_of_0) * v.voxels;
  const float first = fminf(low * (depth - more), low * (depth + more)) + v.voxel_of_0;
  return __reduce_min_sync(~0u, __float2int_rd(first - rounding)) & ~3;
}

/// Warp t begins to copy the voxels of a stage's tile t.
template <int row_groups>
__device__ inline void fetch(const Problem& n, const VoxelsOfRows* views, const Block<row_groups>& block,
                             const Boxes& volume, const Step& step, unsigned to, int* first_voxels,
                             unsigned arrived) {
  const int t = threadIdx.x / 32, x = step.x + t;
  if (t >= block.tiles) return;
  const bool there = step.line < n.tiles.down && x < step.end;
  const int first = there ? first_voxel(n, views, block, step.line, x) : n.nz;
  if (threadIdx.x % 32 == 0) first_voxels[t] = first;
  begin_box(to + t * volume.bytes(), volume, {first / 2, (step.line * n.tiles.across + x) * columns, 0, 0},
            n.holds(first), arrived);
}

struct Target {
  Image<float> projections;
  bool by_pairs;          ///< whether bins are written in pairs
  const int* order;       ///< order of the views
  const ConeView* views;  ///< in that order
  Update update;          ///< alpha: times the unit
  const float* unit;
};

template <int row_groups>
__device__ inline void write(const Problem& n, const Block<row_groups>& block, const Target& out,
                             const Sums& sum) {
  if (!block.real) return;
  const int lane = threadIdx.x % 32;
  const Update update{out.update.alpha * *out.unit, out.update.beta};
  const ConeView& view = out.views[block.view];
#pragma unroll
  for (int m = 0; m < 2; ++m)
#pragma unroll
    for (int j = 0; j < granules; ++j)
#pragma unroll
      for (int k = 0; k < 4; k += 2) {
        const int row = block.row + 16 * m + lane / 4 + k * 4, bin = block.bin + 8 * j + lane % 4 * 2;
        if (row >= n.rows || bin >= n.bins) continue;
        float* cell = &element(out.projections, out.order[block.view], row, bin);
        const float2 value{slant_of<float>(view, row, bin) * sum[m][j][k],
                           slant_of<float>(view, row, bin + 1) * sum[m][j][k + 1]};
        if (out.by_pairs) {
          update(*reinterpret_cast<float2*>(cell), value);
        } else {
          update(cell[0], value.x);
          if (bin + 1 < n.bins) update(cell[1], value.y);
        }
      }
}

/// What a warp keeps: the shadows of a stage's tiles in its view, and the ladders of the next stage.
template <int row_groups>
struct Kept {
  static constexpr int count = Block<row_groups>::tiles * columns;
  Ladder ladders[2][count];
  alignas(16) Rung rungs[count];
};

/// Begins to copy the ladders of a stage to where this lane alone reads them.
template <int row_groups>
__device__ inline void fetch_ladders(const Problem& n, const Ladder* first, const Step& step, Ladder* to) {
  const int lane = threadIdx.x % 32;
  if (step.line >= n.tiles.down) return;
  const Ladder* from = first + (Index{step.line} * n.tiles.across + step.x) * columns;
#pragma unroll
  for (int i = 0; i < Kept<row_groups>::count; i += 32)
    if (i + lane < min(Kept<row_groups>::count, (step.end - step.x) * columns))
      begin_copy(shared_address(to + i + lane), from + i + lane, true);
}

/// Makes the rungs of a stage; returns the width of its intervals.
template <int row_groups>
__device__ inline Wide make_rungs(const Block<row_groups>& block, const Step& step, const Ladder* ladders,
                                  const int* first_voxels, Rung* rungs) {
  bool one = true, two = true;
#pragma unroll
  for (int i = 0; i < Kept<row_groups>::count; i += 32) {
    const int k = i + static_cast<int>(threadIdx.x) % 32;
    if (k >= min(Kept<row_groups>::count, (step.end - step.x) * columns)) break;
    const Ladder l = ladders[k];
    const float width = static_cast<float>(l.step);
    rungs[k] = {
        fixed<bits<row_groups>>(l.first + l.step * (block.row + warp_rows / 2) - first_voxels[k / columns]),
        fixed<bits<row_groups>>(l.step)};
    one &= width <= 1, two &= width >= 1 && width <= 2;
  }
  __syncwarp();
  return wide_of(one, two);
}

/// Adds the columns of a tile to the bins of the warp.
template <int bits>
__device__ inline void add_tile(const Problem& n, int first, int count, const uint4* weights,
                                const Rung* rungs, const float* voxels, Wide wide, Sums& sum) {
  uint4 w[most_granules];
#pragma unroll
  for (int j = 0; j < most_granules; ++j) w[j] = weights[j * 32];
  Factor f[2];
  for_width(wide, [&](auto each) { make_factors<each(), bits>(n.window, rungs, voxels, f); });
  add_from(first, f, w, count, sum);
}

template <int row_groups>
__global__ void __launch_bounds__(warps * 32, 2)
    forward(Problem n, TileShadows shadows, const VoxelsOfRows* __restrict__ views,
            const Span* __restrict__ spans, const __grid_constant__ Boxes volume, Target out) {
  extern __shared__ __align__(128) unsigned char shared[];
  constexpr int tiles = Block<row_groups>::tiles;
  __shared__ __align__(16) Kept<row_groups> all[warps];
  __shared__ int first_voxels[2][tiles];
  const Block<row_groups> block(n);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float* stages = reinterpret_cast<float*>(shared);
  const int stage_size = tiles * columns * n.window;
  Span* line_spans = reinterpret_cast<Span*>(stages + 2 * stage_size + 4);
  const auto stages_at = shared_address(stages);
  const unsigned arrived = stages_at + 2 * stage_size * 4;  // two barriers
  if (threadIdx.x == 0) make_box_barriers(arrived, 2, tiles);
  for (int line = threadIdx.x; line < n.tiles.down; line += warps * 32) {
    Span all{1 << 30, 0};
    for (int v = 0; v < Block<row_groups>::views; ++v) {
      const int view = min(block.first_view + v, n.views - 1);
      const Span s = spans[(Index{view} * n.bin_blocks + blockIdx.x) * n.tiles.down + line];
      all = {min(all.first, s.first), max(all.last, s.last)};
    }
    line_spans[line] = all;
  }
  __syncthreads();

  Kept<row_groups>& kept = all[warp];
  const Index view = Index{block.view} * n.tiles.count();
  const auto begin = [&](const Step& at, int stage) {
    fetch(n, views, block, volume, at, stages_at + stage * stage_size * 4, first_voxels[stage],
          arrived + 8 * stage);
    fetch_ladders<row_groups>(n, shadows.ladders + view * columns, at, kept.ladders[stage]);
  };
  Step step = next<tiles>(n, line_spans, {-1, 0, 0});
  begin(step, 0);
  Sums sum = {};
#pragma unroll 1
  for (int done = 0; step.line < n.tiles.down; ++done) {
    const int stage = done % 2;
    await_boxes(arrived + 8 * stage, done / 2);
    wait_copies();
    __syncthreads();
    const Step then = next<tiles>(n, line_spans, step);
    begin(then, stage ^ 1);
    const Wide wide = make_rungs(block, step, kept.ladders[stage], first_voxels[stage], kept.rungs);
    const Index tile = view + step.line * n.tiles.across + step.x;
    const int code = shadows.bins[tile + min(lane % tiles, step.end - step.x - 1)];
    const uint4* weights = shadows.weights + tile * (most_granules * 32) + lane;
    for (int t = 0; t < min(tiles, step.end - step.x); ++t, weights += most_granules * 32) {
      const int met = __shfl_sync(~0u, code, t), first = (met - block.bin) >> 3, count = met & (granule - 1);
      if (first < granules && first + count > 0 && n.holds(first_voxels[stage][t]))
        add_tile<bits<row_groups>>(n, first, count, weights, kept.rungs + t * columns,
                                   stages + stage * stage_size + t * columns * n.window, wide, sum);
    }
    __syncwarp();
    step = then;
  }
  write(n, block, out, sum);
}

// ---- batches

template <int row_groups>
void launch(const Problem& n, const TileShadows& shadows, const VoxelsOfRows* views, const Span* spans,
            const Boxes& volume, const Target& out, cudaStream_t s) {
  const int shared = ForwardLayout{row_groups, n.window}.shared_bytes(n.tiles.down);
  allow_all_shared_memory(forward<row_groups>);
  const dim3 blocks = grid_of(n.bin_blocks, ceil_div(n.rows, Block<row_groups>::rows),
                              ceil_div(n.views, Block<row_groups>::views));
  forward<row_groups><<<blocks, warps * 32, shared, s>>>(n, shadows, views, spans, volume, out);
  after_launch();
}

Problem shape_of(Image<const float> volume, Image<float> projections, int window) {
  return {.tiles = {int_of(ceil_div<Index>(volume.n2, edge)), 0, 0, volume.n2, volume.n1},
          .nz = int_of(volume.n0),
          .views = 0,
          .rows = int_of(projections.n1),
          .bins = int_of(projections.n2),
          .bin_blocks = int_of(ceil_div<Index>(projections.n2, warp_bins)),
          .window = window};
}

/// Views in the order in which blocks take them, on the host and on the device.
struct KeptOrder : OrderedViews {
  DeviceTable<ConeView> views_there;
  DeviceTable<VoxelsOfRows> rows_there;
  DeviceTable<int> order_there;
  KeptOrder(const ConeViews& packed, const Reach& reach, const KeptOnDevices::Streams& streams)
      : OrderedViews(packed, reach),
        views_there(list, streams),
        rows_there(std::vector<VoxelsOfRows>(list.begin(), list.end()), streams),
        order_there(order, streams) {}
};

/// What one application works with.
struct Work {
  ForwardLayout layout;
  ForwardBatches batches;
  int all_views, views_at_once;
  const ConeView* views;
  const VoxelsOfRows* rows;
  const int* order;
  Scratch<float> units, turned;
  Scratch<Span> spans;
  ShadowStore<Direction::forward> store;
  Work(const KeptOrder& kept, const ForwardLayout& made, const ForwardBatches& cut, const Problem& n,
       cudaStream_t s)
      : layout(made),
        batches(cut),
        all_views(int_of(kept.list.size())),
        views_at_once(cut.views(all_views, made.views_a_block())),
        views(kept.views_there.data()),
        rows(kept.rows_there.data()),
        order(kept.order_there.data()),
        units(2, s),
        turned(cut.lines * cut.line_bytes / 4, s),
        spans(Index{views_at_once} * n.bin_blocks * cut.lines, s),
        store(views_at_once * cut.lines * cut.across, s) {}
};

/// The tiles of n, as blocks read them.
Boxes turn(const Problem& n, Image<const float> volume, const Work& work, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const int slices = work.batches.slices;
  const Index line = Index{n.tiles.first} * edge, bytes = work.batches.line_bytes;
  const Image<const float> strip = part_of(volume, 0, volume.n0, line, Index{n.tiles.down} * edge);
  over_squares(n.tiles.down * edge, n.tiles.across * edge, slices, [&](dim3 squares) {
    turn_volume<<<squares, 256, 0, s>>>(strip, work.units.data(), n.tiles.across, slices, work.turned.data());
  });
  const auto* pairs = reinterpret_cast<const double*>(work.turned.data());  // so that a box has 512 slices
  return boxes_of(pairs, {slices / 2, n.tiles.count() * columns, 1, 1}, {4 * slices, bytes, bytes},
                  {n.window / 2, columns, 1, 1}, stream.device());
}

/// Projects the tiles of n to all views.
void project(const ConeViews& frame, Problem n, const Boxes& windows, const Work& work, Target out,
             cudaStream_t s) {
  const int groups = work.layout.row_groups;
  const auto run = groups == 2 ? launch<2> : groups == 4 ? launch<4> : launch<8>;
  for (int first = 0; first < work.all_views; first += work.views_at_once) {
    n.views = std::min(work.views_at_once, work.all_views - first);
    out.views = work.views + first;
    const TileShadows shadows = work.store.of(frame, out.views, n.views, n.tiles);
    find_spans<<<grid_of(n.tiles.down, n.views), 32, 0, s>>>(n, shadows.bins, work.spans.data());
    after_launch();
    out.order = work.order + first;
    run(n, shadows, work.rows + first, work.spans.data(), windows, out, s);
  }
}

}  // namespace

bool footprint_forward(const ConeViews& views, FootprintTuning tuning, float alpha, Image<const float> volume,
                       float beta, Image<float> projections, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const Reach reach(views, {volume.n0, volume.n1, volume.n2}, projections.n1);
  if (!reach.fits_window()) return false;
  const auto order = views.kept.use<KeptOrder>(
      stream, [&](const KeptOnDevices::Streams& streams) { return KeptOrder(views, reach, streams); });
  const ForwardLayout layout =
      forward_layout(reach, *order, tuning.rows_a_block / warp_rows, most_shared_memory(stream.device()));
  if (layout.row_groups == 0) return false;

  const ForwardBatches batches({volume.n0, volume.n1, volume.n2},
                               {projections.n0, projections.n1, projections.n2});
  Problem n = shape_of(volume, projections, layout.window);
  const Work work(*order, layout, batches, n, s);
  note_launch("footprint products forward, " + std::to_string(layout.row_groups * warp_rows));
  measure_unit(volume, work.units.data(), s);
  const double on_axis = views.sdd * views.pitch_z / (views.sod * views.row_pitch);
  const float unit = alpha * static_cast<float>(views.pitch * on_axis) * weight_unit;
  for (int line = 0; line < batches.all_lines; line += batches.lines) {
    n.tiles.first = line, n.tiles.down = std::min(batches.lines, batches.all_lines - line);
    project(views, n, turn(n, volume, work, stream), work,
            {projections,
             in_groups(projections, 2),
             nullptr,
             nullptr,
             {unit, line == 0 ? beta : 1},
             work.units.data()},
            s);
  }
  return true;
}

}  // namespace tandem::kernels::cuda
