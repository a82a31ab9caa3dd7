// Projection as small dense products on Hopper's tensor cores, the transpose of parallel_tensor.cu: for 16
// bins of each of four views, and N slices, D[64 x N] += W[64 x 16] P[16 x N], where P is two lines of 8
// pixels and W holds the hats that the back-projection makes (docs/kernels.md).
//
// "Lines" are those that a view crosses most steeply: rows of the volume, or its columns. A block walks along
// the rays of eight views of nearly the same slope, through one segment of the lines, with three strips of 8
// pixels side by side. Sums stay in registers; each strip's go to memory, where `collect` adds them in order.

#include <cuda.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tandem/kernels/cuda/batch.cuh"
#include "tandem/kernels/cuda/half_rows.cuh"
#include "tandem/kernels/cuda/hopper.cuh"
#include "tandem/kernels/cuda/parallel.hpp"
#include "tandem/kernels/cuda/products.cuh"

namespace tandem::kernels::cuda {

namespace {

constexpr int strips = 3, strip = 8, width = strips * strip;  // pixels of a line that a block has at once
constexpr int window = 16;                                    // bins of a view that a strip can meet
constexpr int warpgroups = 2, views_a_group = 4 * warpgroups;
constexpr int consumers = warpgroups * 128;  // threads; each of their warps has a view
constexpr int fetchers = 4;                  // warps
constexpr int threads = consumers + fetchers * 32;
constexpr int pairs_a_stage = 4, lines_a_stage = 2 * pairs_a_stage;  // lines come in pairs
constexpr int tiles_a_stage = 4;  // its pixels lie in three; with four, a warp has a lane for each and view
constexpr int slab_bytes = 2 * width * 128;  // a pair of lines, 64 slices
constexpr int most_shared = 227 * 1024;
constexpr int nowhere = -(1 << 30);  // first bin of a window that is not there
constexpr double margin = 5e-3;      // bins, more than rounding moves a strip or a position

/// Views that walk together: strips move by `drift` pixels a line.
struct Group {
  int views[views_a_group];  ///< -1: none
  float drift;
  int left;  ///< pixel where the first strip begins in the first line of a segment; even
};

struct Layout {
  Index bins, pixels, lines;  ///< pixels of a line
  int segment;                ///< lines of a segment; whole tiles
  int segments, columns;      ///< columns: of strips, three each
  int groups, stages;
  /// Where the window of a strip and of a view's place in its group stands in memory.
  __device__ int window_at(int group, int line_segment, int strip_of_all, int place) const {
    const int block = (line_segment * columns + strip_of_all / strips) * groups + group;
    return (block * strips + strip_of_all % strips) * views_a_group + place;
  }
};

/// How far strips have moved, in whole pairs of pixels so that a pair never lies in two tiles.
__device__ inline int moved(float drift, int line) {
  return 2 * __float2int_rd(0.5f * drift * static_cast<float>(line));
}

/// Lowest bin that the strip from pixel `left` on can meet within the segment from `line0` on.
__device__ inline int first_bin(const DeviceView& view, bool turned, const Group& g, const Layout& n,
                                int left, int line0) {
  const double along = turned ? view.step_y : view.step_x, across = turned ? view.step_x : view.step_y;
  const double drift = g.drift, bend = (along * drift + across) * (n.segment - 2);  // off the ray
  const double lowest = view.origin + along * left + across * line0 + fmin(bend, 0.0) +
                        fmin(-2 * along, 0.0) + fmin((strip - 1) * along, 0.0) + fmin(across, 0.0) -
                        view.height / view.slope;
  return static_cast<int>(floor(fmin(fmax(lowest - margin, -1e8), 1e8))) + 1;
}

/// What a block knows of itself.
struct Walk {
  int left, line0;              ///< of the first strip; the segment's first line
  int first_stage, last_stage;  ///< of the segment, that meet the volume
  bool met;                     ///< whether any window lies on the detector
  int starts[views_a_group][strips];
};

/// The anchor of a tile, counted from the first window of the view.
struct Corner {
  float offset, bin;  ///< offset: from `ahead` bins before the anchor's
};

// ---- fetching

template <int slices, int planes>
__device__ void fetch(const CUtensorMap& map, const Layout& n, const DeviceView* views, const Group& g,
                      const Walk& walk, bool turned, unsigned stages_at, Corner* corners, int* lefts,
                      unsigned full, unsigned empty) {
  constexpr int chunks = slices / 64, slabs = pairs_a_stage * chunks * planes;
  const int lane = threadIdx.x % 32, place = lane / tiles_a_stage;
  const DeviceView view = g.views[place] >= 0 ? views[g.views[place]] : DeviceView{};
  const int base = walk.starts[place][0];
  const int steps = walk.last_stage - walk.first_stage + 2;  // the last is made ready and not used
  for (int step = (threadIdx.x - consumers) / 32; step < steps; step += fetchers) {
    const int stage = step % n.stages, round = step / n.stages;
    if (round > 0) wait(empty + 8 * stage, (round - 1) & 1);
    const int in_segment = (walk.first_stage + step) * lines_a_stage, line = walk.line0 + in_segment;
    const int left = walk.left + moved(g.drift, in_segment + lane % pairs_a_stage * 2);
    const int tile0 = min(__shfl_sync(~0u, left, 0), __shfl_sync(~0u, left, pairs_a_stage - 1)) >> 4;
    const int at = tile0 + lane % tiles_a_stage;
    const Anchor anchor = turned ? anchor_at(view, line / tile, at) : anchor_at(view, at, line / tile);
    corners[stage * 32 + lane] = {anchor.offset + ahead, static_cast<float>(anchor.bin - base)};
    if (lane < pairs_a_stage) lefts[stage * pairs_a_stage + lane] = left - tile0 * tile;
    if (lane == 0) arrive_expecting(full + 8 * stage, static_cast<unsigned>(slabs * slab_bytes));
    __syncwarp();
    const unsigned to = stages_at + stage * slabs * slab_bytes;
    // lane p + 4 k: pair p, k the chunk and the plane
    for (int k = lane / pairs_a_stage; k < chunks * planes; k += 32 / pairs_a_stage) {
      const int pair = lane % pairs_a_stage;
      fetch_box(to + (pair * chunks * planes + k) * slab_bytes, map, left, line + 2 * pair, k % chunks,
                k / chunks, full + 8 * stage);
    }
    __syncwarp();
    if (lane != 0) arrive(full + 8 * stage);
  }
}

// ---- multiplying

template <int planes>
struct Factors {
  unsigned weights[4], rest[planes == 2 ? 4 : 1];
};

/// Numbers of the thread's view and of its row of the product.
struct Own {
  ViewNumbers view;
  float bin[strips];  ///< as corners have it, plus `ahead`
  int pixel;          ///< first of the two of its columns
};

/// Tensor cores cut sums of products where others round: for the float32 grade they run over a few stages
/// alone, and the cores add them to the total.
constexpr int stages_a_part = 2;

/// `left` counts from the first tile of the view's corners; `line` from the tile's first.
template <int planes, bool unit, bool turned>
__device__ inline void make_factors(const Own& own, const Corner* corners, int left, float line,
                                    Factors<planes> (&f)[strips]) {
  const int x = left + own.pixel, in = x & (tile - 1);
  const float dx = static_cast<float>(in);
#pragma unroll
  for (int i = 0; i < strips; ++i) {
    const bool next = i == 1 && in >= tile - strip;
    const Corner corner = corners[(x >> 4) + (i == 2 || next)];
    const float d = i == 1 ? (next ? dx - strip : dx + strip) : dx;
    const float start = own.bin[i] - corner.bin;
    float e[2][2];  // line, pixel
#pragma unroll
    for (int l = 0; l < 2; ++l)
#pragma unroll
      for (int p = 0; p < 2; ++p) {
        const float along = d + static_cast<float>(p), across = line + static_cast<float>(l);
        e[l][p] = fmaf(own.view.step_x, turned ? across : along,
                       fmaf(own.view.step_y, turned ? along : across, corner.offset)) -
                  start;
      }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float below = k % 2 ? 8.0f : 0.0f, e0 = e[k / 2][0] - below, e1 = e[k / 2][1] - below;
      if constexpr (planes == 1)
        f[i].weights[k] = hats<unit>(e0, e1, own.view);
      else
        split_hats<unit>(e0, e1, own.view, f[i].weights[k], f[i].rest[k]);
    }
  }
}

template <int slices>
__device__ inline void move_part(float (&part)[strips][slices / 2], float (&sum)[strips][slices / 2]) {
#pragma unroll
  for (int i = 0; i < strips; ++i)
#pragma unroll
    for (int j = 0; j < slices / 2; ++j) {
      sum[i][j] += part[i][j];
      part[i][j] = 0;
    }
}

/// Leaves the sums of the block's windows in memory: (window, bin, slice).
template <int slices>
__device__ inline void leave(const float (&sum)[strips][slices / 2], float* partial) {
  const int place = threadIdx.x / 32, row = threadIdx.x % 32 / 4, slice = threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < strips; ++i) {
    const Index at = (static_cast<Index>(blockIdx.x) * strips + i) * views_a_group + place;
    float* to = partial + (at * window + row) * slices + slice;
#pragma unroll
    for (int j = 0; j < slices / 2; j += 2)
      *reinterpret_cast<float2*>(to + j % 4 / 2 * 8 * slices + j / 4 * 8) = {sum[i][j], sum[i][j + 1]};
  }
}

template <int slices, int planes, bool unit, bool turned>
__device__ void multiply_and_add(const Layout& n, const DeviceView* views, const Group& g, const Walk& walk,
                                 unsigned stages_at, const Corner* corners, const int* lefts, unsigned full,
                                 unsigned empty, float* partial) {
  constexpr int chunks = slices / 64;
  constexpr unsigned plane = chunks * slab_bytes >> 4, pair_bytes = planes * chunks * slab_bytes;
  const int place = threadIdx.x / 32, row = threadIdx.x % 32 / 4;
  const DeviceView view = g.views[place] >= 0 ? views[g.views[place]] : DeviceView{};
  Own own{{static_cast<float>(view.step_x), static_cast<float>(view.step_y), view.height, view.slope},
          {},
          static_cast<int>(threadIdx.x % 4 * 2)};
#pragma unroll
  for (int i = 0; i < strips; ++i)
    own.bin[i] = static_cast<float>(walk.starts[place][i] - walk.starts[place][0] + row) + ahead;
  corners += place * tiles_a_stage;
  const int steps = walk.last_stage - walk.first_stage + 1;
  float sum[strips][slices / 2] = {};
  float part[strips][slices / 2] = {};  // planes == 2
  Factors<planes> f[pairs_a_stage + 1][strips];
  const auto factors = [&](int stage, int pair, bool odd, Factors<planes>(&of)[strips]) {
    make_factors<planes, unit, turned>(own, corners + stage * 32, lefts[stage * pairs_a_stage + pair],
                                       (odd ? 8.0f : 0.0f) + static_cast<float>(2 * pair), of);
  };
  bool odd = walk.first_stage & 1;
  wait(full, 0);
  factors(0, 0, odd, f[0]);
#pragma unroll 1
  for (int step = 0, stage = 0, round = 0; step < steps; ++step, odd = !odd) {
    int next = stage + 1;
    if (next == n.stages) next = 0, ++round;
#pragma unroll
    for (int p = 0; p < pairs_a_stage; ++p) {
      const unsigned at = (stages_at + (stage * pairs_a_stage + p) * pair_bytes) >> 4;
      begin_products();
#pragma unroll
      for (int k = 0; k < (planes == 1 ? 1 : 3); ++k)  // high by high, high by low, low by high
#pragma unroll
        for (int i = 0; i < strips; ++i) {
          constexpr unsigned between_chunks = (slab_bytes >> 4) << 16, apart = width * 128;
          const unsigned b = (at + i * (strip * 128 >> 4) + (k == 1 ? plane : 0)) | between_chunks;
          if constexpr (planes == 1)
            multiply<slices>(sum[i], f[p][i].weights, descriptor<apart>(b));
          else
            multiply<slices>(part[i], k == 2 ? f[p][i].rest : f[p][i].weights, descriptor<apart>(b));
        }
      end_products();
      if (p + 1 < pairs_a_stage) {
        factors(stage, p + 1, odd, f[p + 1]);
      } else {
        wait(full + 8 * next, round & 1);
        factors(next, 0, !odd, f[p + 1]);
      }
      wait_products<0>();
    }
#pragma unroll
    for (int i = 0; i < strips; ++i) f[0][i] = f[pairs_a_stage][i];
    arrive(empty + 8 * stage);
    if (planes == 2 && (step % stages_a_part == stages_a_part - 1 || step == steps - 1))
      move_part<slices>(part, sum);
    stage = next;
  }
  leave<slices>(sum, partial);
}

/// Every thread of a block; false: the block has nothing to do. Writes where its windows begin.
__device__ inline bool find_walk(const Layout& n, const DeviceView* views, const Group& g, bool turned,
                                 Walk& walk, int* firsts) {
  const int block = blockIdx.x / n.groups, column = block % n.columns, line0 = block / n.columns * n.segment;
  const int left = g.left + column * width;
  const int stages = ceil_div(min(n.segment, static_cast<int>(n.lines) - line0), lines_a_stage);
  if (threadIdx.x == 0) {
    walk.left = left, walk.line0 = line0;
    walk.first_stage = stages, walk.last_stage = -1, walk.met = false;
  }
  __syncthreads();
  for (int s = threadIdx.x; s < stages; s += threads) {
    const int a = left + moved(g.drift, s * lines_a_stage),
              b = left + moved(g.drift, (s + 1) * lines_a_stage - 2);
    if (min(a, b) >= n.pixels || max(a, b) + width <= 0) continue;
    atomicMin(&walk.first_stage, s);
    atomicMax(&walk.last_stage, s);
  }
  const int place = threadIdx.x / strips, i = threadIdx.x % strips;
  const bool mine = place < views_a_group;
  const bool real = mine && g.views[place] >= 0;
  const int first = real ? first_bin(views[g.views[place]], turned, g, n, left + i * strip, line0) : 0;
  if (mine) walk.starts[place][i] = first;
  if (real && first < n.bins && first + window > 0) walk.met = true;
  __syncthreads();
  const bool any = walk.met && walk.first_stage <= walk.last_stage;
  if (mine)
    firsts[(static_cast<Index>(blockIdx.x) * strips + i) * views_a_group + place] = any ? first : nowhere;
  return any;
}

template <int slices, int planes, bool unit, bool turned>
__global__ void __launch_bounds__(threads, 1)
    forward(const __grid_constant__ CUtensorMap map, Layout n, const DeviceView* __restrict__ views,
            const Group* __restrict__ groups, float* partial, int* firsts) {
  extern __shared__ unsigned char shared[];
  __shared__ Walk walk;
  const Group& g = groups[blockIdx.x % n.groups];
  if (!find_walk(n, views, g, turned, walk, firsts)) return;
  const unsigned start = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const unsigned stages_at = (start + 1023) & ~1023u;
  unsigned char* after =
      shared + (stages_at - start) + n.stages * pairs_a_stage * planes * (slices / 64) * slab_bytes;
  Corner* corners = reinterpret_cast<Corner*>(after);
  int* lefts = reinterpret_cast<int*>(corners + n.stages * 32);
  const unsigned full = static_cast<unsigned>(__cvta_generic_to_shared(lefts + n.stages * pairs_a_stage)),
                 empty = full + 8 * n.stages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < n.stages; ++s) {
      make_barrier(full + 8 * s, 32);
      make_barrier(empty + 8 * s, consumers);
    }
    publish_barriers();
  }
  __syncthreads();
  if (threadIdx.x >= consumers) {
    give_registers<24>();
    fetch<slices, planes>(map, n, views, g, walk, turned, stages_at, corners, lefts, full, empty);
  } else {
    take_registers<240>();
    multiply_and_add<slices, planes, unit, turned>(n, views, g, walk, stages_at, corners, lefts, full, empty,
                                                   partial);
  }
}

// ---- adding up

struct Result {
  float* data;
  Index view_stride, slice_stride;
  int slices;
  float alpha, beta;
  const float* unit;  ///< one a slice
};

constexpr int bins_a_block = 32;

/// 32 bins of a view: adds what the strips that meet them left behind, segment by segment and strip by strip.
template <int slices>
__global__ void __launch_bounds__(256)
    collect(Layout n, const Group* __restrict__ groups, const float* __restrict__ partial,
            const int* __restrict__ firsts, Result out) {
  constexpr int threads_a_bin = slices, bins_at_once = 256 / threads_a_bin,
                sums = bins_a_block / bins_at_once;
  __shared__ int lowest, highest;
  __shared__ float cell[bins_a_block][slices + 1];
  const int group = blockIdx.x / views_a_group, place = blockIdx.x % views_a_group;
  const int view = groups[group].views[place];
  if (view < 0) return;
  const int bin0 = blockIdx.y * bins_a_block, all_strips = n.columns * strips;
  const int slice = threadIdx.x % threads_a_bin, sub = threadIdx.x / threads_a_bin;
  float sum[sums] = {};
  for (int s = 0; s < n.segments; ++s) {
    __syncthreads();
    if (threadIdx.x == 0) lowest = all_strips, highest = -1;
    __syncthreads();
    for (int k = threadIdx.x; k < all_strips; k += 256) {
      const int first = firsts[n.window_at(group, s, k, place)];
      if (first >= bin0 + bins_a_block || first + window <= bin0) continue;
      atomicMin(&lowest, k);
      atomicMax(&highest, k);
    }
    __syncthreads();
    for (int k = lowest; k <= highest; ++k) {
      const int at = n.window_at(group, s, k, place), first = firsts[at];
      const float* from = partial + static_cast<Index>(at) * window * slices + slice;
#pragma unroll
      for (int j = 0; j < sums; ++j) {
        const int in = bin0 + sub + j * bins_at_once - first;
        if (0 <= in && in < window) sum[j] += from[in * slices];
      }
    }
  }
#pragma unroll
  for (int j = 0; j < sums; ++j) cell[sub + j * bins_at_once][slice] = sum[j];
  __syncthreads();
  const int bin = threadIdx.x % bins_a_block;
  if (bin0 + bin >= n.bins) return;
  for (int k = threadIdx.x / bins_a_block; k < out.slices; k += 256 / bins_a_block) {
    float& o = out.data[view * out.view_stride + k * out.slice_stride + bin0 + bin];
    const float value = out.alpha * out.unit[k] * cell[bin][k];
    o = out.beta == 0 ? value : value + out.beta * o;
  }
}

// ---- which views walk together

/// Of views whose rays cross the same kind of line most steeply.
struct Plan {
  int segment = 0;
  std::vector<Group> groups;
};

double along(const ParallelView& v, bool turned) { return turned ? v.step_y : v.step_x; }
double slope(const ParallelView& v, bool turned) {
  return -(turned ? v.step_x : v.step_y) / along(v, turned);
}

/// Width in bins that a strip covers when it moves straight along the rays: no more bins than that, rounded
/// up, lie within. The rest of the window is for views that bend away from the path of their group.
double straight(const ParallelView& v) {
  const double a = std::abs(v.step_x), b = std::abs(v.step_y);
  return (strip + 1) * std::max(a, b) + std::min(a, b) + 2.0 * v.height / v.slope + 2 * margin;
}

/// `order`: views by their slopes. Each group is as large as the window allows for that segment.
std::vector<Group> groups_of(const ParallelViews& packed, const std::vector<int>& order, bool turned,
                             int segment) {
  std::vector<Group> groups;
  for (std::size_t first = 0; first < order.size();) {
    Group g{};
    std::fill_n(g.views, views_a_group, -1);
    const auto view = [&](std::size_t k) -> const ParallelView& {
      return packed.views[static_cast<std::size_t>(order[k])];
    };
    double room = INFINITY;  // pixels
    std::size_t end = first;
    for (; end < order.size() && end < first + views_a_group; ++end) {
      const ParallelView& v = view(end);
      const double left = (window - straight(v)) / std::abs(along(v, turned));
      const double bend = (slope(v, turned) - slope(view(first), turned)) / 2 * segment;
      if (end > first && bend > std::min(room, left)) break;
      room = std::min(room, left);
      g.views[end - first] = order[end];
    }
    g.drift = static_cast<float>((slope(view(first), turned) + slope(view(end - 1), turned)) / 2);
    g.left = -2 * static_cast<int>(std::ceil(std::max(0.0f, g.drift) * static_cast<float>(segment) / 2));
    groups.push_back(g);
    first = end;
  }
  return groups;
}

int columns_of(Index pixels, int segment) {
  return static_cast<int>(ceil_div<Index>(pixels + segment + 2, width));  // strips move a pixel a line
}

/// What the sums of one group take.
Index bytes_of_group(Index segments, int columns, int slices) {
  return segments * columns * strips * views_a_group * window * slices * static_cast<Index>(sizeof(float));
}

/// The segment for which blocks have least to do: long segments leave fewer sums behind, short ones let more
/// views walk together. Whatever the batch, it is that of 128 slices, so that the bits are the same.
Plan plan(const ParallelViews& packed, bool turned, Index pixels, Index lines) {
  std::vector<int> order;
  for (std::size_t v = 0; v < packed.views.size(); ++v)
    if ((std::abs(packed.views[v].step_y) > std::abs(packed.views[v].step_x)) == turned)
      order.push_back(static_cast<int>(v));
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return slope(packed.views[static_cast<std::size_t>(a)], turned) <
           slope(packed.views[static_cast<std::size_t>(b)], turned);
  });
  constexpr int lines_of_start_and_end = 48;
  Plan best;
  double least = INFINITY;
  for (Index wanted = 1;; ++wanted) {
    const int segment = static_cast<int>(ceil_div(ceil_div(lines, wanted), Index{tile})) * tile;
    if (wanted > 1 && segment == static_cast<int>(ceil_div(ceil_div(lines, wanted - 1), Index{tile})) * tile)
      continue;
    const Index segments = ceil_div<Index>(lines, segment);
    if (wanted > 1 && bytes_of_group(segments, columns_of(pixels, segment), 128) > tensor_forward_sums)
      return best;
    std::vector<Group> groups = groups_of(packed, order, turned, segment);
    const double cost = static_cast<double>(groups.size()) * static_cast<double>(segments) *
                        (segment + lines_of_start_and_end);
    if (cost < least) least = cost, best = {segment, std::move(groups)};
    if (segment == tile) return best;
  }
}

// ---- batches

template <int slices, int planes>
auto kernel_for(bool turned, bool unit) {
  if (turned) return unit ? forward<slices, planes, true, true> : forward<slices, planes, false, true>;
  return unit ? forward<slices, planes, true, false> : forward<slices, planes, false, false>;
}

template <int slices, int planes>
void project(const ParallelViews& packed, const Plan& plan, bool turned, const DeviceView* views,
             __half* image, Index nx, Index ny, Index bins, const Result& out, cudaStream_t s) {
  if (plan.groups.empty()) return;
  constexpr int stage_bytes = pairs_a_stage * planes * (slices / 64) * slab_bytes + 32 * sizeof(Corner) +
                              pairs_a_stage * sizeof(int) + 16;
  const Index pixels = turned ? ny : nx, lines = turned ? nx : ny;
  const auto all = static_cast<Index>(plan.groups.size());
  Layout n{};
  n.bins = bins, n.pixels = pixels, n.lines = lines;
  n.segment = plan.segment;
  n.segments = static_cast<int>(ceil_div<Index>(lines, plan.segment));
  n.columns = columns_of(pixels, plan.segment);
  n.stages = std::min(8, (most_shared - 2048) / stage_bytes);
  const Index bytes = bytes_of_group(n.segments, n.columns, slices),
              at_once = std::clamp<Index>(tensor_forward_sums / bytes, 1, all);
  const Scratch<Group> groups(plan.groups, s);
  const Scratch<float> partial(static_cast<std::size_t>(bytes / 4 * at_once), s);
  const Scratch<int> firsts(static_cast<std::size_t>(bytes / 4 * at_once / (window * slices)), s);

  const int shared = n.stages * stage_bytes + 1024;
  const auto kernel = kernel_for<slices, planes>(turned, hats_are_units(packed));
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  const Index pixel = 2 * slices, row = pixel * nx;  // bytes
  const CUtensorMap map = boxes_of({image,
                                    {64, pixels, lines, slices / 64, planes},
                                    {turned ? row : pixel, turned ? pixel : row, 128, row * ny}},
                                   width, 2);
  for (Index first = 0; first < all; first += at_once) {
    n.groups = static_cast<int>(std::min(at_once, all - first));
    kernel<<<static_cast<unsigned>(n.groups * n.segments * n.columns), threads,
             static_cast<std::size_t>(shared), s>>>(map, n, views, groups.data() + first, partial.data(),
                                                    firsts.data());
    after_launch();
    const dim3 cells(static_cast<unsigned>(n.groups * views_a_group),
                     static_cast<unsigned>(ceil_div<Index>(bins, bins_a_block)));
    collect<slices><<<cells, 256, 0, s>>>(n, groups.data() + first, partial.data(), firsts.data(), out);
    after_launch();
  }
}

template <int lanes, int planes>
void batch_forward(const ParallelViews& packed, const Plan (&plans)[2], const DeviceView* views, float alpha,
                   Image<const float> volume, float beta, Image<float> projections, Index first, int slices,
                   cudaStream_t s) {
  const HalfRows<lanes, planes> rows(
      {volume.data + first * volume.s0, volume.n1, slices, volume.n2, volume.s1, volume.s0}, s);
  const Result out{
      &projections(0, first, 0), projections.s0, projections.s1, slices, alpha, beta, rows.units()};
  for (const bool turned : {false, true})
    project<lanes, planes>(packed, plans[turned], turned, views, rows.data(), volume.n2, volume.n1,
                           projections.n2, out, s);
}

}  // namespace

bool tensor_forward_fits(const ParallelViews& packed) {
  return std::all_of(packed.views.begin(), packed.views.end(),
                     [&](const ParallelView& v) { return straight(v) <= window; });
}

void tensor_forward(const ParallelViews& packed, Precision precision, float alpha, Image<const float> volume,
                    float beta, Image<float> projections, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const std::vector<DeviceView> host = views_of(packed);
  const Scratch<DeviceView> views(host, s);
  const Plan plans[2] = {plan(packed, false, volume.n2, volume.n1), plan(packed, true, volume.n1, volume.n2)};
  const Index most = precision == Precision::float16 ? 128 : 64;
  for (Index first = 0; first < volume.n0; first += most) {
    const int slices = static_cast<int>(std::min(most, volume.n0 - first));
    const auto batch = precision != Precision::float16 ? batch_forward<64, 2>
                       : slices > 64                   ? batch_forward<128, 1>
                                                       : batch_forward<64, 1>;
    batch(packed, plans, views.data(), alpha, volume, beta, projections, first, slices, s);
  }
}

}  // namespace tandem::kernels::cuda
