// Projection by separable footprints, the transpose of footprint_backward.cu (docs/kernels.md). A warp has 64
// bins and 32 rows of one view. It walks over the tiles of 4 x 4 columns that meet its bins, integrates each
// column's voxels over each row, and adds the columns up as a product on tensor cores, D[32 rows x 8 bins] +=
// P[32 rows x 16 columns] W[16 columns x 8 bins].

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "tandem/kernels/cuda/boxes.cuh"
#include "tandem/kernels/cuda/footprint_data.cuh"
#include "tandem/kernels/cuda/separable_footprint.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int warps = 8;     // of a block: groups of rows times views, and as many tiles a stage
constexpr int granules = 8;  // of a warp's bins
constexpr int warp_bins = granules * granule, warp_rows = 32;

/// Tiles of a row of tiles that meet the bins of a warp in one view.
struct Span {
  int first, last;
};

struct Shape {
  float x0, y0, pitch, sod;
  float row_of_0, voxel_of_0;  ///< the midplane, counted from the lower edges of both
  float voxels;                ///< that a row takes, a mm of distance from the source
  Tiles tiles;
  int nz;
  int views, rows, bins;
  int bin_blocks;
  int window;  ///< voxels of a column that a block keeps; its stride
  /// Whether any of the voxels from `first` on are there.
  __device__ bool holds(int first) const { return first < nz && first + window > 0; }
  __device__ float2 direction(const ConeView* list, int view) const {
    const ConeView v = list[min(view, views - 1)];
    return {static_cast<float>(v.cos), static_cast<float>(v.sin)};
  }
};

/// Where a column stands for the rows of one warp: the voxel of the window where its middle row begins, and
/// voxels a row; in fixed point.
struct Rung {
  int middle, step;
};
template <int row_groups>
constexpr int bits = row_groups == warps ? 22 : 23;  // of a voxel: windows of 511, or of 255

/// For each view, block of bins and row of tiles.
__global__ void find_spans(Shape n, const int* __restrict__ bins, Span* spans) {
  const int view = blockIdx.y, line = blockIdx.x;
  for (int b = threadIdx.x; b < n.bin_blocks; b += blockDim.x) {
    Span span{1 << 30, 0};
    for (int x = 0; x < n.tiles.across; ++x) {
      const int code = bins[static_cast<Index>(view) * n.tiles.count() + line * n.tiles.across + x];
      const int first = code & ~(granule - 1), last = first + (code & (granule - 1)) * granule;
      if (first >= (b + 1) * warp_bins || last <= b * warp_bins) continue;
      span.first = min(span.first, x), span.last = x + 1;
    }
    spans[(static_cast<Index>(view) * n.bin_blocks + b) * n.tiles.down + line] = span;
  }
}

/// What a block does, and of that this warp.
template <int row_groups>
struct Block {
  static constexpr int views = warps / row_groups, tiles = views, rows = row_groups * warp_rows;
  int view, bin, row;  ///< of the warp; view: the last one again where there are no more
  int first_view, first_row;
  bool real;
  __device__ Block(const Shape& n) {
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
__device__ inline Step next(const Shape& n, const Span* spans, Step step) {
  step.x += tiles_a_stage;
  while (step.x >= step.end && ++step.line < n.tiles.down)
    step.x = spans[step.line].first, step.end = spans[step.line].last;
  return step;
}

/// The lowest voxel of a column that the block's rows can meet, over all its views and the columns of a tile;
/// a whole piece of a box.
template <int row_groups>
__device__ inline int first_voxel(const Shape& n, const ConeView* views, const Block<row_groups>& block,
                                  int line, int x) {
  constexpr float rounding = 0.05f, half = 0.5f * (edge - 1);
  const float2 v = n.direction(views, block.first_view + static_cast<int>(threadIdx.x) % block.views);
  const float cx = n.x0 + n.pitch * (static_cast<float>(x * edge) + half),
              cy = n.y0 + n.pitch * (static_cast<float>((line + n.tiles.first) * edge) + half);
  const float distance = n.sod - cx * v.y + cy * v.x, more = half * n.pitch * (fabsf(v.x) + fabsf(v.y));
  const float low = (static_cast<float>(block.first_row) - n.row_of_0) * n.voxels;
  const float first = fminf(low * (distance - more), low * (distance + more)) + n.voxel_of_0;
  return __reduce_min_sync(~0u, __float2int_rd(first - rounding)) & ~3;
}

/// Warp t begins to copy the voxels of a stage's tile t.
template <int row_groups>
__device__ inline void fetch(const Shape& n, const ConeView* views, const Block<row_groups>& block,
                             const Boxes& volume, const Step& step, unsigned to, int* first_voxels,
                             unsigned arrived) {
  const int t = threadIdx.x / 32, x = step.x + t;
  if (t >= block.tiles) return;
  const bool there = step.line < n.tiles.down && x < step.end;
  const int first = there ? first_voxel(n, views, block, step.line, x) : n.nz;
  if (threadIdx.x % 32 == 0) first_voxels[t] = first;
  begin_box(to + static_cast<unsigned>(t * volume.bytes()), volume,
            {first / 2, (step.line * n.tiles.across + x) * columns, 0, 0}, n.holds(first), arrived);
}

/// A product's first factor: the profiles of a tile's columns in 16 rows.
struct Factor {
  unsigned high[4], low[4];
};

template <Wide wide, int bits>
__device__ inline void make_factors(const Shape& n, const Rung* rungs, const float* voxels, Factor (&f)[2]) {
  const int lane = threadIdx.x % 32, g = lane / 4 - warp_rows / 2, q = lane % 4 * 2;
#pragma unroll
  for (int p = 0; p < 2; ++p) {
    const int column = q + 8 * p;
    const int4 both = reinterpret_cast<const int4*>(rungs)[column / 2];
    const float* first = voxels + column * n.window;
    const float width[2] = {static_cast<float>(both.y) * (1 / one_cell<bits>),
                            static_cast<float>(both.w) * (1 / one_cell<bits>)};
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = g + 16 * m + 8 * r;
        split_pair(add_integral<wide, bits>(first, both.x + both.y * row, width[0], 0),
                   add_integral<wide, bits>(first + n.window, both.z + both.w * row, width[1], 0),
                   f[m].high[2 * p + r], f[m].low[2 * p + r]);
      }
  }
}

using Sums = float[2][granules][4];

/// Granules k, k + 1, ... of the warp's bins, from the tile's j-th on.
template <int first>
__device__ inline void add(const Factor (&f)[2], const uint4 (&w)[most_granules], int count, Sums& sum) {
#pragma unroll
  for (int j = 0; j < most_granules; ++j) {
    if (first + j < 0 || first + j >= granules || j >= count) continue;
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      float d[4] = {};
      multiply(d, f[m].high, w[j].x, w[j].y);
      multiply(d, f[m].low, w[j].x, w[j].y);
      multiply(d, f[m].high, w[j].z, w[j].w);
#pragma unroll
      for (int k = 0; k < 4; ++k) sum[m][first + j < 0 || first + j >= granules ? 0 : first + j][k] += d[k];
    }
  }
}

__device__ inline void add_from(int first, const Factor (&f)[2], const uint4 (&w)[most_granules], int count,
                                Sums& sum) {
  switch (first) {
    case -2:
      return add<-2>(f, w, count, sum);
    case -1:
      return add<-1>(f, w, count, sum);
    case 0:
      return add<0>(f, w, count, sum);
    case 1:
      return add<1>(f, w, count, sum);
    case 2:
      return add<2>(f, w, count, sum);
    case 3:
      return add<3>(f, w, count, sum);
    case 4:
      return add<4>(f, w, count, sum);
    case 5:
      return add<5>(f, w, count, sum);
    case 6:
      return add<6>(f, w, count, sum);
    case 7:
      return add<7>(f, w, count, sum);
  }
}

struct Target {
  Image<float> projections;
  const int* order;     ///< of the views
  const float* slants;  ///< (row, bin)
  float alpha, beta;
  const float* unit;
};

template <int row_groups>
__device__ inline void write(const Shape& n, const Block<row_groups>& block, const Target& out,
                             const Sums& sum) {
  if (!block.real) return;
  const int lane = threadIdx.x % 32;
  const float alpha = out.alpha * *out.unit;
#pragma unroll
  for (int m = 0; m < 2; ++m)
#pragma unroll
    for (int j = 0; j < granules; ++j)
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int row = block.row + 16 * m + lane / 4 + k / 2 * 8,
                  bin = block.bin + 8 * j + lane % 4 * 2 + k % 2;
        if (row >= n.rows || bin >= n.bins) continue;
        float& o = element(out.projections, out.order[block.view], row, bin);
        const float value = alpha * out.slants[static_cast<Index>(row) * n.bins + bin] * sum[m][j][k];
        o = out.beta == 0 ? value : value + out.beta * o;
      }
}

/// What a warp keeps of the shadows of a stage's tiles in its view, and of those of the next one.
template <int row_groups>
struct Kept {
  static constexpr int count = Block<row_groups>::tiles * columns;
  Ladder ladders[2][count];
  alignas(16) Rung rungs[count];
};

/// Begins to copy the ladders of a stage to where this lane alone reads them.
template <int row_groups>
__device__ inline void fetch_ladders(const Shape& n, const Ladder* first, const Step& step, Ladder* to) {
  const int lane = threadIdx.x % 32;
  if (step.line >= n.tiles.down) return;
  const Ladder* from = first + (static_cast<Index>(step.line) * n.tiles.across + step.x) * columns;
#pragma unroll
  for (int i = 0; i < Kept<row_groups>::count; i += 32)
    if (i + lane < min(Kept<row_groups>::count, (step.end - step.x) * columns))
      begin_copy(static_cast<unsigned>(__cvta_generic_to_shared(to + i + lane)), from + i + lane, true);
}

/// Rungs of a stage; returns what intervals there are.
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
  return __all_sync(~0u, one) ? Wide::one : __all_sync(~0u, two) ? Wide::two : Wide::any;
}

/// Adds the columns of a tile to the bins of the warp.
template <int bits>
__device__ inline void add_tile(const Shape& n, int first, int count, const uint4* weights, const Rung* rungs,
                                const float* voxels, Wide wide, Sums& sum) {
  uint4 w[most_granules];
#pragma unroll
  for (int j = 0; j < most_granules; ++j) w[j] = weights[j * 32];
  Factor f[2];
  if (wide == Wide::one)
    make_factors<Wide::one, bits>(n, rungs, voxels, f);
  else if (wide == Wide::two)
    make_factors<Wide::two, bits>(n, rungs, voxels, f);
  else
    make_factors<Wide::any, bits>(n, rungs, voxels, f);
  add_from(first, f, w, count, sum);
}

template <int row_groups>
__global__ void __launch_bounds__(warps * 32, 2)
    forward(Shape n, TileShadows shadows, const ConeView* __restrict__ views, const Span* __restrict__ spans,
            const __grid_constant__ Boxes volume, Target out) {
  extern __shared__ __align__(128) unsigned char shared[];
  constexpr int tiles = Block<row_groups>::tiles;
  __shared__ __align__(16) Kept<row_groups> all[warps];
  __shared__ int first_voxels[2][tiles];
  const Block<row_groups> block(n);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float* stages = reinterpret_cast<float*>(shared);
  const int stage_size = tiles * columns * n.window;
  Span* line_spans = reinterpret_cast<Span*>(stages + 2 * stage_size + 4);
  const auto stages_at = static_cast<unsigned>(__cvta_generic_to_shared(stages));
  const unsigned arrived = stages_at + static_cast<unsigned>(2 * stage_size * 4);  // two barriers
  if (threadIdx.x == 0) make_box_barriers(arrived, 2, tiles);
  for (int line = threadIdx.x; line < n.tiles.down; line += warps * 32) {
    Span all{1 << 30, 0};
    for (int v = 0; v < Block<row_groups>::views; ++v) {
      const int view = min(block.first_view + v, n.views - 1);
      const Span s = spans[(static_cast<Index>(view) * n.bin_blocks + blockIdx.x) * n.tiles.down + line];
      all = {min(all.first, s.first), max(all.last, s.last)};
    }
    line_spans[line] = all;
  }
  __syncthreads();

  Kept<row_groups>& kept = all[warp];
  const Index view = static_cast<Index>(block.view) * n.tiles.count();
  const auto begin = [&](const Step& at, int stage) {
    fetch(n, views, block, volume, at, stages_at + static_cast<unsigned>(stage * stage_size * 4),
          first_voxels[stage], arrived + 8 * static_cast<unsigned>(stage));
    fetch_ladders<row_groups>(n, shadows.ladders + view * columns, at, kept.ladders[stage]);
  };
  Step step = next<tiles>(n, line_spans, {-1, 0, 0});
  begin(step, 0);
  Sums sum = {};
#pragma unroll 1
  for (int done = 0; step.line < n.tiles.down; ++done) {
    const int stage = done % 2;
    await_boxes(arrived + 8 * static_cast<unsigned>(stage), done / 2);
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

constexpr Index most_records = Index{1} << 30, most_volume = Index{512} << 20;  // bytes of scratch
constexpr int most_lines = 512;                                                 // of tiles, at once
constexpr int kept_bytes = 21 * 1024;  // static shared memory of a block, at most
constexpr double most_drift = 16;      // voxels that the views of a block may lie apart

/// Views by their angles, from the widest gap on, so that those of a block see nearly the same tiles.
std::vector<int> order_of(const std::vector<ConeView>& views) {
  std::vector<int> order(views.size());
  std::iota(order.begin(), order.end(), 0);
  const auto angle = [&](int v) {
    const ConeView& view = views[static_cast<std::size_t>(v)];
    return std::atan2(view.sin, view.cos);
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return angle(a) < angle(b); });
  auto first = order.begin();
  double widest = angle(order.front()) + 2 * std::numbers::pi - angle(order.back());
  for (auto next = order.begin() + 1; next < order.end(); ++next)
    if (const double gap = angle(*next) - angle(*(next - 1)); gap > widest) first = next, widest = gap;
  std::rotate(order.begin(), first, order.end());
  return order;
}

std::vector<ConeView> ordered(const std::vector<ConeView>& views, const std::vector<int>& order) {
  std::vector<ConeView> list;
  for (const int v : order) list.push_back(views[static_cast<std::size_t>(v)]);
  return list;
}

/// How far apart the sources of views that share a block are at most, for a circle of radius 1.
double drift(const std::vector<ConeView>& views, std::size_t views_a_block) {
  double most = 0;
  for (std::size_t a = 0; a < views.size(); ++a)
    for (std::size_t b = a + 1; b < std::min(views.size(), (a / views_a_block + 1) * views_a_block); ++b)
      most = std::max(most, std::hypot(views[a].cos - views[b].cos, views[a].sin - views[b].sin));
  return most;
}

/// How many groups of rows a block has, and voxels of a column; no groups: nothing fits.
struct Layout {
  int row_groups, window;
};

int shared_bytes(const Layout& l, int lines) {
  return 2 * (warps / l.row_groups) * columns * l.window * 4 + 16 + lines * static_cast<int>(sizeof(Span));
}

Layout layout_of(const Reach& reach, const ConeFrame& n, const std::vector<ConeView>& views, int wanted,
                 Device device) {
  const int most_shared =
      std::min(112 * 1024, most_shared_memory(device)) - kept_bytes;  // two blocks on an SM
  for (const int row_groups : {2, 4, 8}) {
    if (wanted && row_groups != wanted) continue;
    const double apart =
        reach.radius / n.pitch * drift(views, static_cast<std::size_t>(warps / row_groups));  // pitches
    if (!wanted && row_groups < warps && apart > most_drift) continue;
    const double spread = reach.rows / reach.step[0] * reach.shift * (apart + std::sqrt(2) * (edge - 1));
    const double needed = row_groups * warp_rows / reach.step[0] + spread + 12;
    const int most =
        std::min(2 * most_of_box, row_groups == warps ? most_cells<bits<warps>> : most_cells<bits<1>>);
    if (!(needed + 12 <= most)) continue;
    const int window =
        static_cast<int>(std::ceil(needed / 8)) * 8 + 4;  // neighbouring columns in other banks
    if (shared_bytes({row_groups, window}, most_lines) <= most_shared) return {row_groups, window};
  }
  return wanted ? layout_of(reach, n, views, 0, device) : Layout{0, 0};
}

template <int row_groups>
void launch(const Shape& n, const TileShadows& shadows, const ConeView* views, const Span* spans,
            const Boxes& volume, const Target& out, cudaStream_t s) {
  const int shared = shared_bytes({row_groups, n.window}, n.tiles.down);
  allow_all_shared_memory(forward<row_groups>);
  const dim3 blocks(static_cast<unsigned>(n.bin_blocks),
                    static_cast<unsigned>(ceil_div(n.rows, Block<row_groups>::rows)),
                    static_cast<unsigned>(ceil_div(n.views, Block<row_groups>::views)));
  forward<row_groups>
      <<<blocks, warps * 32, static_cast<std::size_t>(shared), s>>>(n, shadows, views, spans, volume, out);
  after_launch();
}

}  // namespace

void footprint_forward(const ConeViews& views, float alpha, Image<const float> volume, float beta,
                       Image<float> projections, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const std::vector<int> order = order_of(views.views);
  const std::vector<ConeView> list = ordered(views.views, order);
  const Reach reach(views, volume.n2, volume.n1, volume.n0, projections.n1);
  const Layout layout = layout_of(reach, views, list, views.tuning.rows_a_block / warp_rows, stream.device());
  const auto run = layout.row_groups == 2 ? launch<2> : layout.row_groups == 4 ? launch<4> : launch<8>;

  Shape n{.x0 = static_cast<float>(views.x0),
          .y0 = static_cast<float>(views.y0),
          .pitch = static_cast<float>(views.pitch),
          .sod = static_cast<float>(views.sod),
          .row_of_0 = static_cast<float>(views.midplane_row + 0.5),
          .voxel_of_0 = static_cast<float>(0.5 - views.z0 / views.pitch_z),
          .voxels = static_cast<float>(views.row_pitch / (views.sdd * views.pitch_z)),
          .tiles = {static_cast<int>(ceil_div<Index>(volume.n2, edge)), 0, 0, volume.n2, volume.n1},
          .nz = static_cast<int>(volume.n0),
          .views = 0,
          .rows = static_cast<int>(projections.n1),
          .bins = static_cast<int>(projections.n2),
          .bin_blocks = static_cast<int>(ceil_div<Index>(projections.n2, warp_bins)),
          .window = layout.window};
  const int all_lines = static_cast<int>(ceil_div<Index>(volume.n1, edge));
  const int slices = static_cast<int>(ceil_div<Index>(volume.n0, 4)) * 4;  // in memory
  const Index line_bytes = static_cast<Index>(n.tiles.across) * columns * slices * 4;
  const Index enough_views = 64 * n.tiles.across * ShadowStore<Direction::forward>::bytes;  // a line's
  const int lines = static_cast<int>(std::clamp<Index>(
      std::min(most_volume / line_bytes, most_records / enough_views), 1, std::min(all_lines, most_lines)));
  const Index tiles = static_cast<Index>(lines) * n.tiles.across;
  const int views_a_block = warps / layout.row_groups;
  const Index fitting =
      most_records / (tiles * ShadowStore<Direction::forward>::bytes) / views_a_block * views_a_block;
  constexpr Index most_blocks = 65'532;  // along a dimension of a grid; whole blocks of views
  const auto at_once =
      static_cast<int>(std::min({std::max<Index>(fitting, views_a_block), most_blocks, projections.n0}));

  const Scratch<ConeView> view_list(list, s);
  const Scratch<int> order_list(order, s);
  const Scratch<float> units(2, s), turned(static_cast<std::size_t>(lines * line_bytes / 4), s);
  const Scratch<Span> spans(
      static_cast<std::size_t>(at_once) * static_cast<std::size_t>(n.bin_blocks * lines), s);
  const ShadowStore<Direction::forward> store(at_once * tiles, s);
  const Scratch<float> slants(static_cast<std::size_t>(projections.n1 * projections.n2), s);
  slants_of(views, projections.n1, projections.n2, slants.data(), s);
  measure_unit(volume, units.data(), s);
  const double on_axis = views.sdd * views.pitch_z / (views.sod * views.row_pitch);
  const float unit = alpha * static_cast<float>(views.pitch * on_axis) * weight_unit;
  for (int line = 0; line < all_lines; line += lines) {
    n.tiles.first = line, n.tiles.down = std::min(lines, all_lines - line);
    const Image<const float> strip{&volume(0, static_cast<Index>(line) * edge, 0),
                                   volume.n0,
                                   std::min<Index>(lines * edge, volume.n1 - line * edge),
                                   volume.n2,
                                   volume.s0,
                                   volume.s1};
    over_squares(n.tiles.down * edge, n.tiles.across * edge, slices, [&](dim3 squares) {
      turn_volume<<<squares, 256, 0, s>>>(strip, units.data(), n.tiles.across, slices, turned.data());
    });
    const auto* pairs = reinterpret_cast<const double*>(turned.data());  // so that a box has 512 slices
    const Boxes windows =
        boxes_of(pairs, {slices / 2, n.tiles.count() * columns, 1, 1}, {4 * slices, line_bytes, line_bytes},
                 {n.window / 2, columns, 1, 1}, stream.device());
    for (int first = 0; first < static_cast<int>(projections.n0); first += at_once) {
      n.views = std::min(at_once, static_cast<int>(projections.n0) - first);
      const TileShadows shadows = store.of(views, view_list.data() + first, n.views, n.tiles);
      find_spans<<<dim3(static_cast<unsigned>(n.tiles.down), static_cast<unsigned>(n.views)), 32, 0, s>>>(
          n, shadows.bins, spans.data());
      after_launch();
      run(n, shadows, view_list.data() + first, spans.data(), windows,
          {projections, order_list.data() + first, slants.data(), unit, line == 0 ? beta : 1, units.data()},
          s);
    }
  }
}

bool footprint_forward_fits(const ConeViews& views, Index slices, Index ny, Index nx, Index rows,
                            Device device) {
  const Reach reach(views, nx, ny, slices, rows);
  return reach.fits_window() &&
         layout_of(reach, views, ordered(views.views, order_of(views.views)), 0, device).row_groups > 0;
}

}  // namespace tandem::kernels::cuda
