// From cells of the grid of frequencies to samples along rays: the transpose of samples_to_cells.cu.
//
// A sample and a cell are the complex numbers of all slices; a lane of a warp has two slices, so that weights
// and places are the same for a warp. A warp sums the windows of two samples at once.

#include "gridding.hpp"
#include "window.cuh"

namespace tandem::kernels::cuda {

namespace {

__device__ inline void add(float4& sum, float s, float4 a) {
  sum.x = fmaf(s, a.x, sum.x), sum.y = fmaf(s, a.y, sum.y);
  sum.z = fmaf(s, a.z, sum.z), sum.w = fmaf(s, a.w, sum.w);
}
__device__ inline float4 conjugates(float4 a) { return {a.x, -a.y, a.z, -a.w}; }

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
    cells = reinterpret_cast<const float4*>(task.grid) + Index{column} * count * stride;
    step = mirrored ? -1 : 1;
    y = step * first;
  }
  __device__ float4 at(int j) const {
    int place = y + step * j;
    place += place < 0 ? count : 0;
    place -= place >= count ? count : 0;
    return __ldg(cells + Index{place} * stride);
  }
};

/// Adds the windows of some samples over the same cells.
template <int width, bool plain>
__device__ void sum_windows(const SampleRays& task, int lane, int x, int y, const Weights* across,
                            const Weights* down, float4 (&sum)[together]) {
  const int stride = task.lanes / 2, cells_y = task.plan.cells_y;
  const float4* corner = reinterpret_cast<const float4*>(task.grid) + lane +
                         (Index{x} * cells_y + (y < 0 ? y + cells_y : y)) * stride;
#pragma unroll
  for (int i = 0; i < width; ++i) {
    float4 part[together] = {};
    CellColumn column(task, plain ? 0 : x + i, y);
    column.cells += lane;
#pragma unroll
    for (int j = 0; j < width; ++j) {
      const float4 cell = plain ? __ldg(corner + (Index{i} * cells_y + j) * stride) : column.at(j);
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
  const int view = own_block_y() * ray_warps + warp, first = own_block_x() * 32;
  if (view >= plan.views) return;
  const float4 step = __ldg(reinterpret_cast<const float4*>(plan.steps) + view);
  const float k = min(first + lane, plan.samples - 1);
  float x = ceilf(fmaf(k, step.y, k * step.x) - reach), y = ceilf(fmaf(k, step.w, k * step.z) - reach);
#pragma unroll
  for (int other = 1; other < together; other *= 2) {
    x = fminf(x, __shfl_xor_sync(~0u, x, other));
    y = fminf(y, __shfl_xor_sync(~0u, y, other));
  }
  const float dx = fmaf(k, step.y, fmaf(k, step.x, -x)), dy = fmaf(k, step.w, fmaf(k, step.z, -y));
#pragma unroll
  for (int i = 0; i < width; ++i) {
    across[warp][lane / together][i].of[lane % together] = window(dx - i);
    down[warp][lane / together][i].of[lane % together] = window(dy - i);
  }
  __syncwarp();
  const int slices = min(lane, task.lanes / 2 - 1);
  for (int g = 0; g < groups && first + together * g < plan.samples; ++g) {
    const int cell_x = __shfl_sync(~0u, x, together * g), cell_y = __shfl_sync(~0u, y, together * g);
    const bool plain = cell_x >= 0 && cell_x + width <= plan.cells_x / 2 + 1 &&
                       (cell_y >= 0 ? cell_y + width <= plan.cells_y : cell_y + width <= 0);
    float4 sum[together] = {};
    if (plain)
      sum_windows<width, true>(task, slices, cell_x, cell_y, across[warp][g], down[warp][g], sum);
    else
      sum_windows<width, false>(task, slices, cell_x, cell_y, across[warp][g], down[warp][g], sum);
    if (2 * lane >= task.lanes) continue;
    float4* to = reinterpret_cast<float4*>(task.samples) +
                 (Index{view} * plan.samples + first + together * g) * (task.lanes / 2) + lane;
#pragma unroll
    for (int s = 0; s < together; ++s)
      if (first + together * g + s < plan.samples) to[s * (task.lanes / 2)] = sum[s];
  }
}

}  // namespace

void cells_to_samples(const FourierPlan& plan, const FourierTables& tables, int lanes, const float2* grid,
                      float2* samples, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const dim3 blocks = grid_of(ceil_div(tables.plan.samples, 32), ceil_div(tables.plan.views, ray_warps));
  with_taps(plan.taps, [&](auto taps) {
    sample_rays<taps><<<blocks, 32 * ray_warps, 0, s>>>(SampleRays{tables.plan, lanes, grid, samples},
                                                        Window<taps>(plan.window));
  });
  after_launch();
}

}  // namespace tandem::kernels::cuda
