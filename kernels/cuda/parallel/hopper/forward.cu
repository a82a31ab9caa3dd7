// Projection as small dense products on Hopper's tensor cores, the transpose of backward.cu: for 16 bins of
// each of four views, and N slices, D[64 x N] += W[64 x 16] P[16 x N], where P is two lines of 8 pixels and W
// holds the hats that the back-projection makes (docs/kernels.md).
//
// "Lines" are rows of the volume, or its columns, whichever a view crosses more steeply. A block walks along
// the rays of eight views of nearly the same slope, through one segment of the lines, with three strips of 8
// pixels side by side. Sums stay in registers; those of each strip go to memory, where `collect` adds them in
// order.

#include <cuda.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <vector>

#include "../../common/batch.cuh"
#include "../../common/ring.cuh"
#include "../half_rows.cuh"
#include "../products.cuh"
#include "../view_groups.hpp"
#include "collect.cuh"

namespace tandem::kernels::cuda {

namespace {

static_assert(views_a_group == 4 * warpgroups, "each warp of consumers has a view");
static_assert(tile_lines == tile, "segments are of whole tiles");
constexpr int pairs_a_stage = 4, lines_a_stage = 2 * pairs_a_stage;  // lines come in pairs
constexpr int tiles_a_stage = 4;  // its pixels lie in three; with four, a warp has a lane for each and view
constexpr int slab_bytes = 2 * width * 128;  // a pair of lines, 64 slices
constexpr int nowhere = -(1 << 30);          // first bin of a window that is not there

/// What a block knows of itself.
struct Walk {
  int left, line0;              ///< pixel where the first strip begins; the segment's first line
  int first_stage, last_stage;  ///< stages of the segment that meet the volume
  bool met;                     ///< whether any window lies on the detector
  int starts[views_a_group][strips];
};

/// The anchor of a tile, counted from the first window of the view.
struct Corner {
  float offset, bin;  ///< offset: from `ahead` bins before the anchor's bin
};

struct Notes {
  Corner corners[views_a_group][tiles_a_stage];
  int lefts[pairs_a_stage];  ///< pixel where the first strip begins, from its first tile
};

template <int slices, int planes>
__host__ __device__ constexpr int box_bytes() {
  return pairs_a_stage * planes * (slices / 64) * slab_bytes;
}

// ---- fetching

template <int slices, int planes, bool turned>
__device__ void fetch(const CUtensorMap& map, const ParallelView* views, const Group& g, const Walk& walk,
                      const Ring<Notes>& ring) {
  constexpr int chunks = slices / 64, all = box_bytes<slices, planes>();
  const int lane = threadIdx.x % 32, place = lane / tiles_a_stage, pair = lane % pairs_a_stage;
  const ParallelView view = g.views[place] >= 0 ? views[g.views[place]] : ParallelView{};
  const int base = walk.starts[place][0];
  const int steps = walk.last_stage - walk.first_stage + 2;  // the last is made ready and not used
#pragma unroll 1
  for (int step = ring.fetcher(); step < steps; step += fetchers) {
    const int stage = ring.await_empty(step);
    const int in_segment = (walk.first_stage + step) * lines_a_stage, line = walk.line0 + in_segment;
    const int left = walk.left + moved(g.drift, in_segment + pair * 2);
    const int tile0 = min(__shfl_sync(~0u, left, 0), __shfl_sync(~0u, left, pairs_a_stage - 1)) >> 4;
    const int at = tile0 + lane % tiles_a_stage;
    const Anchor anchor = turned ? anchor_at(view, line / tile, at) : anchor_at(view, at, line / tile);
    Notes& notes = ring.notes[stage];
    notes.corners[place][lane % tiles_a_stage] = {anchor.offset + ahead,
                                                  static_cast<float>(anchor.bin - base)};
    if (lane < pairs_a_stage) notes.lefts[lane] = left - tile0 * tile;
    ring.begin_fetch(stage, all);
    const unsigned to = ring.boxes + stage * all;
    // lane p + 4 k: pair p, k the chunk and the plane
    for (int k = lane / pairs_a_stage; k < chunks * planes; k += 32 / pairs_a_stage)
      fetch_box(to + (pair * chunks * planes + k) * slab_bytes, map, left, line + 2 * pair, k % chunks,
                k / chunks, ring.full_at(stage));
    ring.end_fetch(stage);
  }
}

// ---- multiplying

/// Factors of the products of a pair of lines.
template <int planes>
struct Factors {
  unsigned weights[strips][4], rest[planes == 2 ? strips : 1][4];
};

/// Numbers of the thread's view and of its row of the product.
struct Own {
  ViewNumbers view;
  float bin[strips];  ///< as corners have it, plus `ahead`
  int place, pixel;   ///< place of its view in the group; first pixel of the two of its columns
};

__device__ inline Own own_of(const ParallelView* views, const Group& g, const Walk& walk) {
  const int place = threadIdx.x / 32, row = threadIdx.x % 32 / 4;
  const ParallelView view = g.views[place] >= 0 ? views[g.views[place]] : ParallelView{};
  Own own{{static_cast<float>(view.step_x), static_cast<float>(view.step_y), view.height, view.slope},
          {},
          place,
          static_cast<int>(threadIdx.x % 4 * 2)};
#pragma unroll
  for (int i = 0; i < strips; ++i) own.bin[i] = walk.starts[place][i] - walk.starts[place][0] + row + ahead;
  return own;
}

/// Tensor cores cut sums of products, and do not round them. So for the float32 grade they run over a few
/// stages alone, and the cores add these sums to the total.
constexpr int stages_a_part = 2;

/// Makes the factors of a pair of lines. `line` counts from the first line of its tile.
template <int planes, bool unit, bool turned>
__device__ inline void make_factors(const Own& own, const Notes& notes, int pair, float line,
                                    Factors<planes>& f) {
  const int x = notes.lefts[pair] + own.pixel, in = x & (tile - 1);
  const float dx = in;
#pragma unroll
  for (int i = 0; i < strips; ++i) {
    const bool next = i == 1 && in >= tile - strip;
    const Corner corner = notes.corners[own.place][(x >> 4) + (i == 2 || next)];
    const float d = i == 1 ? (next ? dx - strip : dx + strip) : dx;
    const float start = own.bin[i] - corner.bin;
    float e[2][2];  // line, pixel
#pragma unroll
    for (int l = 0; l < 2; ++l)
#pragma unroll
      for (int p = 0; p < 2; ++p) {
        const float along = d + p, across = line + l;
        e[l][p] = fmaf(own.view.step_x, turned ? across : along,
                       fmaf(own.view.step_y, turned ? along : across, corner.offset)) -
                  start;
      }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float below = k % 2 ? 8.0f : 0.0f, e0 = e[k / 2][0] - below, e1 = e[k / 2][1] - below;
      if constexpr (planes == 1)
        f.weights[i][k] = hats<unit>(e0, e1, own.view);
      else
        split_hats<unit>(e0, e1, own.view, f.weights[i][k], f.rest[i][k]);
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
    const Index at = (Index{blockIdx.x} * strips + i) * views_a_group + place;
    float* to = partial + (at * window + row) * slices + slice;
#pragma unroll
    for (int j = 0; j < slices / 2; j += 2)
      *reinterpret_cast<float2*>(to + j % 4 / 2 * 8 * slices + j / 4 * 8) = {sum[i][j], sum[i][j + 1]};
  }
}

/// Multiplies one pair of lines: high by high, high by low, low by high.
template <int slices, int planes>
__device__ inline void multiply_pair(float (&sum)[strips][slices / 2], unsigned boxes,
                                     const Factors<planes>& f) {
  constexpr unsigned plane = slices / 64 * slab_bytes >> 4, between_chunks = (slab_bytes >> 4) << 16;
#pragma unroll
  for (int k = 0; k < (planes == 1 ? 1 : 3); ++k)
#pragma unroll
    for (int i = 0; i < strips; ++i) {
      const unsigned b = ((boxes >> 4) + i * (strip * 128 >> 4) + (k == 1 ? plane : 0)) | between_chunks;
      multiply<slices>(sum[i], k == 2 ? f.rest[i] : f.weights[i], descriptor<width * 128>(b));
    }
}

template <int slices, int planes, bool unit, bool turned>
__device__ void multiply_and_add(const ParallelView* views, const Group& g, const Walk& walk,
                                 const Ring<Notes>& ring, float* partial) {
  constexpr unsigned all = box_bytes<slices, planes>();
  const Own own = own_of(views, g, walk);
  const int steps = walk.last_stage - walk.first_stage + 1;
  bool odd = !(walk.first_stage & 1);  // whether the stage whose factors are made is the second of its tiles
  float sum[strips][slices / 2] = {};
  float part[strips][slices / 2] = {};  // planes == 2
  ring.consume<Factors<planes>, pairs_a_stage>(
      steps,
      [&](const Step& at, int pair, Factors<planes>& f) {
        if (pair == 0) odd = !odd;
        const float line = (odd ? 8.0f : 0.0f) + 2 * pair;
        make_factors<planes, unit, turned>(own, ring.notes[at.stage], pair, line, f);
      },
      [&](const Step& at, int pair, const Factors<planes>& f) {
        multiply_pair<slices>(planes == 1 ? sum : part,
                              ring.boxes + at.stage * all + pair * (all / pairs_a_stage), f);
      },
      [&](const Step& at) {
        if (planes == 2 && (at.number % stages_a_part == stages_a_part - 1 || at.number == steps - 1))
          move_part<slices>(part, sum);
      });
  leave<slices>(sum, partial);
}

/// Finds the walk of a block, by all its threads, and writes where its windows begin. False if the block has
/// nothing to do.
__device__ inline bool find_walk(const Layout& n, const ParallelView* views, const Group& g, bool turned,
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
  const int first =
      real ? first_bin(views[g.views[place]], turned, g.drift, n.segment, left + i * strip, line0) : 0;
  if (mine) walk.starts[place][i] = first;
  if (real && first < n.bins && first + window > 0) walk.met = true;
  __syncthreads();
  const bool any = walk.met && walk.first_stage <= walk.last_stage;
  if (mine) firsts[(Index{blockIdx.x} * strips + i) * views_a_group + place] = any ? first : nowhere;
  return any;
}

template <int slices, int planes, bool unit, bool turned>
__global__ void __launch_bounds__(threads, 1)
    forward(const __grid_constant__ CUtensorMap map, Layout n, const ParallelView* __restrict__ views,
            const Group* __restrict__ groups, float* partial, int* firsts) {
  __shared__ Walk walk;
  const Group& g = groups[blockIdx.x % n.groups];
  if (!find_walk(n, views, g, turned, walk, firsts)) return;
  const Ring<Notes> ring(n.stages, box_bytes<slices, planes>());
  divide_block([&] { fetch<slices, planes, turned>(map, views, g, walk, ring); },
               [&] { multiply_and_add<slices, planes, unit, turned>(views, g, walk, ring, partial); });
}

// ---- batches

template <int slices, int planes>
auto kernel_for(bool turned, bool unit) {
  if (turned) return unit ? forward<slices, planes, true, true> : forward<slices, planes, false, true>;
  return unit ? forward<slices, planes, true, false> : forward<slices, planes, false, false>;
}

/// The views that cross one kind of line, and their groups on the device.
struct KeptPlan {
  Plan plan;
  DeviceTable<Group> groups;
  KeptPlan(Plan made, const KeptOnDevices::Streams& streams)
      : plan(std::move(made)), groups(plan.groups, streams) {}
};

struct KeptPlans {
  KeptPlan straight, turned;
};

KeptOnDevices::Use<KeptPlans> plans_of(const ParallelViews& packed, Index nx, Index ny,
                                       const Stream& stream) {
  return packed.kept.use<KeptPlans>(stream, {nx, ny}, [&](const KeptOnDevices::Streams& streams) {
    return KeptPlans{{plan(packed, false, nx, ny), streams}, {plan(packed, true, ny, nx), streams}};
  });
}

template <int slices, int planes>
void project(const ParallelViews& packed, const KeptPlan& kept, bool turned, const ParallelView* views,
             __half* image, Index nx, Index ny, Index bins, const Result& out, cudaStream_t s) {
  const auto& [plan, groups] = kept;
  if (plan.groups.empty()) return;
  const Index pixels = turned ? ny : nx, lines = turned ? nx : ny;
  const Index all = plan.groups.size();
  Layout n{};
  n.bins = bins, n.pixels = pixels, n.lines = lines;
  n.segment = plan.segment;
  n.segments = parts_of(lines, plan.segment);
  n.columns = columns_of(pixels, plan.segment);
  n.stages = Ring<Notes>::stages_that_fit(box_bytes<slices, planes>());
  const Index bytes = bytes_of_group(n.segments, n.columns, slices),
              at_once = std::clamp<Index>(tensor_forward_sums / bytes, 1, all);
  const Scratch<float> partial(bytes / 4 * at_once, s);
  const Scratch<int> firsts(bytes / 4 * at_once / (window * slices), s);

  const int shared = Ring<Notes>::bytes(n.stages, box_bytes<slices, planes>());
  const bool unit = hats_are_units(packed);
  const auto kernel = kernel_for<slices, planes>(turned, unit);
  note_launch(product_name("wgmma forward", slices, planes, unit));
  allow_all_shared_memory(kernel);
  const Index pixel = 2 * slices, row = pixel * nx;  // bytes
  const CUtensorMap map = boxes_of({image,
                                    {64, pixels, lines, slices / 64, planes},
                                    {turned ? row : pixel, turned ? pixel : row, 128, row * ny}},
                                   width, 2);
  for (Index first = 0; first < all; first += at_once) {
    n.groups = int_of(std::min(at_once, all - first));
    kernel<<<grid_of(n.groups * n.segments * n.columns), threads, shared, s>>>(
        map, n, views, groups.data() + first, partial.data(), firsts.data());
    after_launch();
    const dim3 cells = grid_of(n.groups * views_a_group, ceil_div<Index>(bins, bins_a_block));
    collect<slices><<<cells, 256, 0, s>>>(n, groups.data() + first, partial.data(), firsts.data(), out);
    after_launch();
  }
}

template <int lanes, int planes>
void batch_forward(const ParallelViews& packed, const KeptPlans& plans, const ParallelView* views,
                   float alpha, Image<const float> volume, float beta, Image<float> projections, Index first,
                   int slices, cudaStream_t s) {
  const HalfRows<lanes, planes> rows(
      {volume.data + first * volume.s0, volume.n1, slices, volume.n2, volume.s1, volume.s0}, s);
  const Result out{
      &projections(0, first, 0), projections.s0, projections.s1, slices, alpha, beta, rows.units()};
  for (const bool turned : {false, true})
    project<lanes, planes>(packed, turned ? plans.turned : plans.straight, turned, views, rows.data(),
                           volume.n2, volume.n1, projections.n2, out, s);
}

}  // namespace

bool tensor_forward_fits(const ParallelViews& packed) {
  return std::all_of(packed.views.begin(), packed.views.end(),
                     [&](const ParallelView& v) { return straight(v) <= window; });
}

void tensor_forward(const ParallelViews& packed, Precision precision, float alpha, Image<const float> volume,
                    float beta, Image<float> projections, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const auto views = views_on_device(packed, stream);
  const auto plans = plans_of(packed, volume.n2, volume.n1, stream);
  const Index most = precision == Precision::float16 ? 128 : 64;
  for (Index first = 0; first < volume.n0; first += most) {
    const int slices = int_of(std::min(most, volume.n0 - first));
    const auto batch = precision != Precision::float16 ? batch_forward<64, 2>
                       : slices > 64                   ? batch_forward<128, 1>
                                                       : batch_forward<64, 1>;
    batch(packed, *plans, views->data(), alpha, volume, beta, projections, first, slices, s);
  }
}

}  // namespace tandem::kernels::cuda
