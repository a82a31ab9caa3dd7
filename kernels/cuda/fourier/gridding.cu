// Between samples along rays and cells of the grid of frequencies.
//
// A sample and a cell are the complex numbers of all slices; a lane of a warp has two slices, so that weights
// and places are the same for a warp. Samples -> cells: a warp sums a block of cells over the list of samples
// that meet it, in the order of the list. Cells -> samples: a warp sums the windows of two samples at once.

#include "gridding.hpp"

#include <algorithm>

namespace tandem::kernels::cuda {

namespace {

/// Coefficients of the window, as a polynomial of v = 8 (d / taps)^2 - 1.
template <int taps>
struct Window {
  float coefficient[taps + 4];

  explicit Window(const std::vector<float>& all) { std::copy_n(all.begin(), taps + 4, coefficient); }
  /// Of a cell that lies d below the sample; `mirrored` for a conjugate one, whose window is the mirror
  /// image.
  __device__ float operator()(float d, bool mirrored = false) const {
    constexpr float shift = window_shift, half = 0.5f * taps;
    const float v = fmaf(d * d, 8.0f / (taps * taps), -1.0f), upwards = mirrored ? -d : d;
    float sum = coefficient[taps + 3];
#pragma unroll
    for (int i = taps + 2; i >= 0; --i) sum = fmaf(sum, v, coefficient[i]);
    return upwards > shift - half && upwards <= shift + half ? sum : 0.0f;
  }
};

__device__ inline float4 times(float s, float4 a) { return {s * a.x, s * a.y, s * a.z, s * a.w}; }
__device__ inline void add(float4& sum, float s, float4 a) {
  sum.x = fmaf(s, a.x, sum.x), sum.y = fmaf(s, a.y, sum.y);
  sum.z = fmaf(s, a.z, sum.z), sum.w = fmaf(s, a.w, sum.w);
}
__device__ inline float4 conjugates(float4 a) { return {a.x, -a.y, a.z, -a.w}; }

// ---- samples -> cells

constexpr int block_warps = 4;

struct GatherCells {
  DevicePlan plan;
  const BlockSamples* blocks;
  int count;
  const ListedSample* list;
  int lanes;  ///< slices
  const float2* samples;
  float2 *grid, *parts;
};

/// What 32 lanes found out about 32 samples.
struct SampleNotes {
  float4 across[block_warps][32];  ///< weights of the columns of the block
  float4 down[block_warps][32];    ///< weights of its rows, place of the sample, bits that change signs
};

/// The distance from the first cell of a block to the nearest image of a sample.
__device__ inline float distance(float k, float step, float rest, int first, int cells) {
  const float near = fmaf(k, rest, fmaf(k, step, static_cast<float>(-first)));
  return near - static_cast<float>(cells) * rintf(near / static_cast<float>(cells));
}

template <int taps>
__device__ void note_sample(const GatherCells& task, const Window<taps>& window, const BlockSamples& block,
                            ListedSample listed, bool listed_at_all, float4& across, float4& down) {
  const DevicePlan& plan = task.plan;
  const bool conjugate = listed.bits & ListedSample::conjugate;
  const unsigned bits = listed.bits & ~ListedSample::conjugate, k_mask = (1u << plan.view_bit) - 1;
  const int view = static_cast<int>(bits >> plan.view_bit), k = static_cast<int>(bits & k_mask);
  const float4 step = __ldg(reinterpret_cast<const float4*>(plan.steps) + view);
  const float signed_k = static_cast<float>(conjugate ? -k : k);
  const float dx = distance(signed_k, step.x, step.y, block.x, plan.cells_x),
              dy = listed_at_all ? distance(signed_k, step.z, step.w, block.y, plan.cells_y) : 1e6f;
  across = {window(dx, conjugate), window(dx - 1, conjugate), window(dx - 2, conjugate),
            window(dx - 3, conjugate)};
  down = {window(dy, conjugate), window(dy - 1, conjugate), __int_as_float(view * plan.samples + k),
          __int_as_float(conjugate ? static_cast<int>(0x80000000u) : 0)};
}

/// All slices of cell (x, y), y counted from -cells_y / 2; null if the grid has no such cell.
__device__ inline float4* cell_at(const DevicePlan& plan, int x, int y, float2* grid, int lanes) {
  if (x > plan.cells_x / 2 || y >= plan.cells_y / 2) return nullptr;
  const Index place = static_cast<Index>(x) * plan.cells_y + (y < 0 ? y + plan.cells_y : y);
  return reinterpret_cast<float4*>(grid) + place * (lanes / 2);
}

constexpr int at_once = 4;  // samples that are on their way together

/// Two slices of a few samples.
struct SampleValues {
  float4 of[at_once];
};

template <int taps>
__global__ void __launch_bounds__(32 * block_warps, 5)
    gather_cells(const __grid_constant__ GatherCells task, const __grid_constant__ Window<taps> window) {
  __shared__ SampleNotes notes;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int number = static_cast<int>(blockIdx.x) * block_warps + warp;
  if (number >= task.count) return;
  const BlockSamples block = task.blocks[number];
  const ListedSample* list = task.list + block.first;
  float4 *across = notes.across[warp], *down = notes.down[warp];
  // lanes without slices load what the last one with slices does
  const float4* mine = reinterpret_cast<const float4*>(task.samples) + min(lane, task.lanes / 2 - 1);
  float4 sum[block_y][block_x] = {};

  const auto listed = [&](int i) { return i < block.count ? __ldcs(&list[i].bits) : 0u; };
  const auto load = [&](int i, SampleValues& values) {
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      const float4 note = down[i + u];
      const auto place = static_cast<unsigned>(__float_as_int(note.z));
      const int sign = __float_as_int(note.w);
      float4 value = __ldg(mine + static_cast<Index>(place) * (task.lanes / 2));
      value.y = __int_as_float(__float_as_int(value.y) ^ sign);
      value.w = __int_as_float(__float_as_int(value.w) ^ sign);
      values.of[u] = value;
    }
  };
  const auto add_samples = [&](int i, const SampleValues& values) {
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      const float4 x = across[i + u];
      const float2 y = *reinterpret_cast<const float2*>(&down[i + u]);
      const float weight[block_x] = {x.x, x.y, x.z, x.w};
      const float4 part[block_y] = {times(y.x, values.of[u]), times(y.y, values.of[u])};
#pragma unroll
      for (int j = 0; j < block_y; ++j)
#pragma unroll
        for (int c = 0; c < block_x; ++c) add(sum[j][c], weight[c], part[j]);
    }
  };

  unsigned now = listed(lane);
  for (int first = 0; first < block.count; first += 32) {
    float4 x, y;
    note_sample<taps>(task, window, block, {now}, first + lane < block.count, x, y);
    now = listed(first + 32 + lane);
    __syncwarp();
    across[lane] = x, down[lane] = y;
    __syncwarp();
    const int count = min(32, block.count - first);
    SampleValues a, b;
    load(0, a);
    for (int i = 0; i < count; i += 2 * at_once) {
      if (i + at_once < count) load(i + at_once, b);
      add_samples(i, a);
      if (i + at_once < count) {
        if (i + 2 * at_once < count) load(i + 2 * at_once, a);
        add_samples(i + at_once, b);
      }
    }
  }
  if (2 * lane >= task.lanes) return;
#pragma unroll
  for (int j = 0; j < block_y; ++j)
#pragma unroll
    for (int c = 0; c < block_x; ++c) {
      if (block.part >= 0) {
        const Index at = (static_cast<Index>(block.part) * block_y + j) * block_x + c;
        reinterpret_cast<float4*>(task.parts)[at * (task.lanes / 2) + lane] = sum[j][c];
        continue;
      }
      float4* to = cell_at(task.plan, block.x + c, block.y + j, task.grid, task.lanes);
      if (to) __stcs(to + lane, sum[j][c]);
    }
}

/// The sums of split blocks, in a fixed order: the same bits in every run.
__global__ void __launch_bounds__(32 * block_x * block_y)
    add_parts(const __grid_constant__ GatherCells task, const SplitBlock* splits) {
  const SplitBlock split = splits[blockIdx.x];
  const int lane = threadIdx.x % 32, cell = threadIdx.x / 32;
  if (2 * lane >= task.lanes) return;
  float4 sum{};
  for (int p = 0; p < split.parts; ++p) {
    const Index at = static_cast<Index>(split.first_part + p) * (block_x * block_y) + cell;
    add(sum, 1, reinterpret_cast<const float4*>(task.parts)[at * (task.lanes / 2) + lane]);
  }
  float4* to = cell_at(task.plan, split.x + cell % block_x, split.y + cell / block_x, task.grid, task.lanes);
  if (to) to[lane] = sum;
}

// ---- cells -> samples

constexpr int ray_warps = 8;
constexpr int together = 2;  // samples whose windows are summed over the same cells

/// The weights of one row or column of cells.
struct alignas(sizeof(float) * together) Weights {
  float of[together];
};

struct SampleRays {
  DevicePlan plan;
  int lanes;
  const float2* grid;
  float2* samples;
};

/// The cells (x, y), (x, y + 1), ... of the full plane as they stand in the half plane x >= 0, whose other
/// half is its conjugate mirror image.
struct CellColumn {
  const float4* cells;
  int y, step, count, stride;
  bool mirrored;

  __device__ CellColumn(const SampleRays& task, int x, int first)
      : count(task.plan.cells_y), stride(task.lanes / 2), mirrored(x < 0 || x > task.plan.cells_x / 2) {
    const int column = x < 0 ? -x : mirrored ? task.plan.cells_x - x : x;
    cells = reinterpret_cast<const float4*>(task.grid) + static_cast<Index>(column) * count * stride;
    step = mirrored ? -1 : 1;
    y = step * first;
  }
  __device__ float4 at(int j) const {
    int place = y + step * j;
    place += place < 0 ? count : 0;
    place -= place >= count ? count : 0;
    return __ldg(cells + static_cast<Index>(place) * stride);
  }
};

/// Adds the windows of some samples over the same cells.
template <int width, bool plain>
__device__ void sum_windows(const SampleRays& task, int lane, int x, int y, const Weights* across,
                            const Weights* down, float4 (&sum)[together]) {
  const int stride = task.lanes / 2, cells_y = task.plan.cells_y;
  const float4* corner = reinterpret_cast<const float4*>(task.grid) + lane +
                         (static_cast<Index>(x) * cells_y + (y < 0 ? y + cells_y : y)) * stride;
#pragma unroll
  for (int i = 0; i < width; ++i) {
    float4 part[together] = {};
    CellColumn column(task, plain ? 0 : x + i, y);
    column.cells += lane;
#pragma unroll
    for (int j = 0; j < width; ++j) {
      const float4 cell =
          plain ? __ldg(corner + (static_cast<Index>(i) * cells_y + j) * stride) : column.at(j);
      const Weights weight = down[j];
#pragma unroll
      for (int s = 0; s < together; ++s) add(part[s], weight.of[s], cell);
    }
    const Weights weight = across[i];
#pragma unroll
    for (int s = 0; s < together; ++s)
      add(sum[s], weight.of[s], !plain && column.mirrored ? conjugates(part[s]) : part[s]);
  }
}

/// A warp takes 32 samples of a ray, a block neighbouring rays. Samples lie at most a cell apart.
template <int taps>
__global__ void __launch_bounds__(32 * ray_warps, 2)
    sample_rays(const __grid_constant__ SampleRays task, const __grid_constant__ Window<taps> window) {
  constexpr int width = taps + together - 1, groups = 32 / together;
  constexpr float reach = 0.5f * taps + static_cast<float>(window_shift);
  __shared__ Weights across[ray_warps][groups][width], down[ray_warps][groups][width];
  const DevicePlan& plan = task.plan;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int view = static_cast<int>(blockIdx.y) * ray_warps + warp, first = static_cast<int>(blockIdx.x) * 32;
  if (view >= plan.views) return;
  const float4 step = __ldg(reinterpret_cast<const float4*>(plan.steps) + view);
  const float k = static_cast<float>(min(first + lane, plan.samples - 1));
  float x = ceilf(fmaf(k, step.y, k * step.x) - reach), y = ceilf(fmaf(k, step.w, k * step.z) - reach);
#pragma unroll
  for (int other = 1; other < together; other *= 2) {
    x = fminf(x, __shfl_xor_sync(~0u, x, other));
    y = fminf(y, __shfl_xor_sync(~0u, y, other));
  }
  const float dx = fmaf(k, step.y, fmaf(k, step.x, -x)), dy = fmaf(k, step.w, fmaf(k, step.z, -y));
#pragma unroll
  for (int i = 0; i < width; ++i) {
    across[warp][lane / together][i].of[lane % together] = window(dx - static_cast<float>(i));
    down[warp][lane / together][i].of[lane % together] = window(dy - static_cast<float>(i));
  }
  __syncwarp();
  const int slices = min(lane, task.lanes / 2 - 1);
  for (int g = 0; g < groups && first + together * g < plan.samples; ++g) {
    const int cell_x = static_cast<int>(__shfl_sync(~0u, x, together * g)),
              cell_y = static_cast<int>(__shfl_sync(~0u, y, together * g));
    const bool plain = cell_x >= 0 && cell_x + width <= plan.cells_x / 2 + 1 &&
                       (cell_y >= 0 ? cell_y + width <= plan.cells_y : cell_y + width <= 0);
    float4 sum[together] = {};
    if (plain)
      sum_windows<width, true>(task, slices, cell_x, cell_y, across[warp][g], down[warp][g], sum);
    else
      sum_windows<width, false>(task, slices, cell_x, cell_y, across[warp][g], down[warp][g], sum);
    if (2 * lane >= task.lanes) continue;
    float4* to = reinterpret_cast<float4*>(task.samples) +
                 (static_cast<Index>(view) * plan.samples + first + together * g) * (task.lanes / 2) + lane;
#pragma unroll
    for (int s = 0; s < together; ++s)
      if (first + together * g + s < plan.samples) to[s * (task.lanes / 2)] = sum[s];
  }
}

// ---- launches

template <class Body>
void with_taps(int taps, const Body& body) {
  if (taps == 5) return body(std::integral_constant<int, 5>());
  if (taps == 6) return body(std::integral_constant<int, 6>());
  body(std::integral_constant<int, widest_window>());
}

}  // namespace

void samples_to_cells(const FourierPlan& plan, const FourierTables& tables, int lanes, const float2* samples,
                      float2* grid, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const Scratch<float2> parts(static_cast<std::size_t>(std::max(tables.parts, 1)) * block_x * block_y *
                                  static_cast<std::size_t>(lanes),
                              s);
  const GatherCells task{tables.plan,
                         tables.blocks.data(),
                         static_cast<int>(tables.blocks.count()),
                         tables.samples.data(),
                         lanes,
                         samples,
                         grid,
                         parts.data()};
  const auto blocks = static_cast<unsigned>(ceil_div(task.count, block_warps));
  with_taps(plan.taps, [&](auto taps) {
    gather_cells<taps><<<blocks, 32 * block_warps, 0, s>>>(task, Window<taps>(plan.window));
  });
  after_launch();
  if (tables.splits.count() == 0) return;
  add_parts<<<static_cast<unsigned>(tables.splits.count()), 32 * block_x * block_y, 0, s>>>(
      task, tables.splits.data());
  after_launch();
}

void cells_to_samples(const FourierPlan& plan, const FourierTables& tables, int lanes, const float2* grid,
                      float2* samples, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const dim3 blocks(static_cast<unsigned>(ceil_div(tables.plan.samples, 32)),
                    static_cast<unsigned>(ceil_div(tables.plan.views, ray_warps)));
  with_taps(plan.taps, [&](auto taps) {
    sample_rays<taps><<<blocks, 32 * ray_warps, 0, s>>>(SampleRays{tables.plan, lanes, grid, samples},
                                                        Window<taps>(plan.window));
  });
  after_launch();
}

}  // namespace tandem::kernels::cuda
