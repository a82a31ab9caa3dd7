// From samples along rays to cells of the grid of frequencies (fourier.cu has the loop). A sample and a cell
// are the complex numbers of all slices. Sums have the order of the list.

#include "gridding.hpp"
#include "products.cuh"
#include "window.cuh"

namespace tandem::kernels::cuda {

namespace {

constexpr int block_warps = 4;
constexpr int block_cells = block_x * block_y, columns = block_cells / 8;
static_assert(block_x == 4 && block_y == 4, "place g of column c is cell (g % 4, 2 (g / 4) + c)");

struct GatherCells {
  DevicePlan plan;
  const BlockSamples* blocks;
  int count;
  const ListedSample* list;
  int lanes;  ///< slices
  const float2* samples;
  float2 *grid, *parts;
  FirstBits first_bits{};  ///< keeps the first bits of a float
};

/// What 32 lanes found out about 32 samples.
struct SampleNotes {
  float4 across[32], down[32];  ///< weights of the columns of the block, and of its rows
  unsigned place[32];           ///< place of the sample
  unsigned conjugates;          ///< a bit for each sample
};

/// The distance from the first cell of a block to the nearest image of a sample.
__device__ inline float distance(float k, float step, float rest, int first, int cells) {
  const float near = fmaf(k, rest, fmaf(k, step, -first));
  return near - cells * rintf(near / cells);
}

/// All slices of cell (x, y), y counted from -cells_y / 2; null if the grid has no such cell.
__device__ inline float4* cell_at(const DevicePlan& plan, int x, int y, float2* grid, int lanes) {
  if (x > plan.cells_x / 2 || y >= plan.cells_y / 2) return nullptr;
  const Index place = Index{x} * plan.cells_y + (y < 0 ? y + plan.cells_y : y);
  return reinterpret_cast<float4*>(grid) + place * (lanes / 2);
}

/// The samples of a list, 32 of which are looked at together, and the 32 before.
template <int taps>
struct ListedItems {
  const GatherCells& task;
  const Window<taps>& window;
  const BlockSamples& block;
  int lane;
  SampleNotes (&notes)[2];
  FirstBits first_bits = task.first_bits;
  unsigned next = listed(lane);

  __device__ int count() const { return block.count; }
  __device__ unsigned listed(int i) const {
    return i < block.count ? __ldcs(&task.list[block.first + i].bits) : 0u;
  }
  __device__ const SampleNotes& of(int i) const { return notes[i / 32 % 2]; }
  __device__ void prepare(int i) {
    if (i % 32 != 0) return;
    const unsigned now = next;
    next = listed(i + 32 + lane);
    __syncwarp();  // notes that lay there have been read
    note(now, i + lane < block.count, notes[i / 32 % 2]);
    __syncwarp();
  }
  __device__ void note(unsigned listed, bool listed_at_all, SampleNotes& to) const {
    const DevicePlan& plan = task.plan;
    const bool conjugate = listed & ListedSample::conjugate;
    const unsigned bits = listed & ~ListedSample::conjugate, k_mask = (1u << plan.view_bit) - 1;
    const int view = bits >> plan.view_bit, k = bits & k_mask;
    const float4 step = __ldg(reinterpret_cast<const float4*>(plan.steps) + view);
    const float signed_k = conjugate ? -k : k;
    const float dx = distance(signed_k, step.x, step.y, block.x, plan.cells_x),
                dy = listed_at_all ? distance(signed_k, step.z, step.w, block.y, plan.cells_y) : 1e6f;
    const auto four = [&](float d) {
      return float4{window(d, conjugate), window(d - 1, conjugate), window(d - 2, conjugate),
                    window(d - 3, conjugate)};
    };
    to.across[lane] = four(dx), to.down[lane] = four(dy);
    to.place[lane] = view * plan.samples + k;
    const unsigned conjugates = __ballot_sync(~0u, conjugate);
    if (lane == 0) to.conjugates = conjugates;
  }
  __device__ unsigned place(int i) const { return of(i).place[i % 32]; }
  __device__ unsigned conjugates(int i) const { return of(i).conjugates >> i % 32 & 0xff; }
  __device__ Weights<columns> weights(int first, const ProductLane& at) const {
    Weights<columns> weights;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int sample = (first + at.t + 4 * i) % 32;
      const float x = reinterpret_cast<const float*>(&of(first).across[sample])[at.g % 4];
      const float2 y = reinterpret_cast<const float2*>(&of(first).down[sample])[at.g / 4];
      weights.set(0, i, x * y.x), weights.set(1, i, x * y.y);
    }
    return weights;
  }
};

template <int taps, int sixteens>
__global__ void __launch_bounds__(32 * block_warps, 4)
    gather_cells(const __grid_constant__ GatherCells task, const __grid_constant__ Window<taps> window) {
  __shared__ SampleNotes notes[block_warps][2];
  __shared__ Staged<sixteens> staged[block_warps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int number = own_block_x() * block_warps + warp;
  if (number >= task.count) return;
  const BlockSamples block = task.blocks[number];
  const WarpSlices<sixteens> slices(task.lanes);
  Sums<columns> sums[sixteens] = {};
  ListedItems<taps> items{task, window, block, lane, notes[warp]};
  add_items(items, reinterpret_cast<const float4*>(task.samples), slices, staged[warp], sums);
  const ProductLane at(lane);
  if (!slices.has(at.g)) return;
#pragma unroll
  for (int column = 0; column < columns; ++column)
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const int place = 2 * at.t + odd, x = place % 4, y = 2 * (place / 4) + column;
      float4* to = block.part >= 0 ? reinterpret_cast<float4*>(task.parts) +
                                         (Index{block.part} * block_cells + y * block_x + x) * slices.stride()
                                   : cell_at(task.plan, block.x + x, block.y + y, task.grid, task.lanes);
      if (!to) continue;
#pragma unroll
      for (int q = 0; q < sixteens; ++q) __stcs(to + slices.first + 8 * q + at.g, sums[q].at(column, odd));
    }
}

/// The sums of split blocks, in a fixed order: the same bits in every run.
__global__ void __launch_bounds__(32 * block_cells)
    add_parts(const __grid_constant__ GatherCells task, const SplitBlock* splits) {
  const SplitBlock split = splits[blockIdx.x];
  const int lane = threadIdx.x % 32, cell = threadIdx.x / 32;
  if (2 * lane >= task.lanes) return;
  float4 sum{};
  for (int p = 0; p < split.parts; ++p) {
    const Index at = Index{split.first_part + p} * block_cells + cell;
    const float4 part = reinterpret_cast<const float4*>(task.parts)[at * (task.lanes / 2) + lane];
    sum.x += part.x, sum.y += part.y, sum.z += part.z, sum.w += part.w;
  }
  float4* to = cell_at(task.plan, split.x + cell % block_x, split.y + cell / block_x, task.grid, task.lanes);
  if (to) to[lane] = sum;
}

}  // namespace

void samples_to_cells(const FourierPlan& plan, const FourierTables& tables, int lanes, const float2* samples,
                      float2* grid, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const Scratch<float2> parts(Index{std::max(tables.parts, 1)} * block_cells * lanes, s);
  const GatherCells task{
      tables.plan, tables.blocks.data(), int_of(tables.blocks.count()), tables.samples.data(), lanes, samples,
      grid,        parts.data()};
  with_taps(plan.taps, [&](auto taps) {
    with_sixteens(lanes, [&](auto sixteens) {
      const dim3 blocks = grid_of(ceil_div(task.count, block_warps), blocks_of_slices(lanes, sixteens));
      gather_cells<taps, sixteens><<<blocks, 32 * block_warps, 0, s>>>(task, Window<taps>(plan.window));
    });
  });
  after_launch();
  if (tables.splits.count() == 0) return;
  add_parts<<<grid_of(tables.splits.count()), 32 * block_cells, 0, s>>>(task, tables.splits.data());
  after_launch();
}

}  // namespace tandem::kernels::cuda
