// Views as columns of rows, every ray times its slant; and samples of larger voxels from cells.

#include <algorithm>

#include "../../cone_hats.hpp"
#include "passes.cuh"

namespace tandem::kernels::cuda {

namespace {

constexpr int edge = 32, warps = 8, threads = 32 * warps;

__global__ void __launch_bounds__(threads)
    turn_view(ConeFrame n, Image<const float> projections, Index view, float* bins) {
  __shared__ float tile[edge][edge + 1];
  const Index bin0 = Index{blockIdx.x} * edge, row0 = Index{blockIdx.y} * edge;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int k = warp; k < edge; k += warps)
    if (const Index row = row0 + k, bin = bin0 + lane; row < projections.n1 && bin < projections.n2)
      tile[k][lane] =
          static_cast<float>(ray_length(n, row, bin) / n.sdd) * element(projections, view, row, bin);
  __syncthreads();
  for (int k = warp; k < edge; k += warps)
    if (const Index bin = bin0 + k, row = row0 + lane; row < projections.n1 && bin < projections.n2)
      bins[bin * projections.n1 + row] = tile[lane][k];
}

__global__ void __launch_bounds__(threads)
    store(ConeFrame n, const float* bins, Index view, Update update, Image<float> projections) {
  __shared__ float tile[edge][edge + 1];
  const Index bin0 = Index{blockIdx.x} * edge, row0 = Index{blockIdx.y} * edge;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int k = warp; k < edge; k += warps)
    if (const Index bin = bin0 + k, row = row0 + lane; row < projections.n1 && bin < projections.n2)
      tile[lane][k] = bins[bin * projections.n1 + row];
  __syncthreads();
  for (int k = warp; k < edge; k += warps)
    if (const Index row = row0 + k, bin = bin0 + lane; row < projections.n1 && bin < projections.n2)
      update(element(projections, view, row, bin),
             static_cast<float>(ray_length(n, row, bin) / n.sdd) * tile[k][lane]);
}

dim3 squares(Index across, Index down) {
  return grid_of(ceil_div<Index>(across, edge), ceil_div<Index>(down, edge));
}

/// An element of `outer` times `count` times `inner` numbers.
struct Element {
  Index outer, which, inner;
  __device__ Element(Index i, const ThinPass& pass, Index count)
      : outer(i / pass.inner / count), which(i / pass.inner % count), inner(i % pass.inner) {}
};

__global__ void __launch_bounds__(threads) average(ThinPass n, const float* cells, float* samples) {
  const Index i = Index{blockIdx.x} * threads + threadIdx.x;
  if (i >= n.outer * n.samples * n.inner) return;
  const Element at(i, n, n.samples);
  float sum = 0;
  for (int k = 0; k < n.count; ++k)
    if (const float weight = n.weights[at.which * n.count + k]; weight != 0)
      sum = fmaf(weight, cells[(at.outer * n.cells + n.first[at.which] + k) * n.inner + at.inner], sum);
  samples[i] = sum;
}

__global__ void __launch_bounds__(threads) average_back(ThinPass n, const float* samples, float* cells) {
  const Index i = Index{blockIdx.x} * threads + threadIdx.x;
  if (i >= n.outer * n.cells * n.inner) return;
  const Element at(i, n, n.cells);
  Index low = 0, high = n.samples;  // the first sample that reaches this cell
  while (low < high) {
    const Index middle = (low + high) / 2;
    n.first[middle] + n.count > at.which ? high = middle : low = middle + 1;
  }
  float sum = 0;
  for (Index s = low; s < n.samples && n.first[s] <= at.which; ++s)
    sum = fmaf(n.weights[s * n.count + at.which - n.first[s]],
               samples[(at.outer * n.samples + s) * n.inner + at.inner], sum);
  cells[i] = sum;
}

dim3 blocks_of(Index count) { return grid_of(ceil_div<Index>(count, threads)); }

}  // namespace

void bins_of_view(const ConeFrame& n, Image<const float> projections, Index view, float* bins,
                  cudaStream_t s) {
  turn_view<<<squares(projections.n2, projections.n1), threads, 0, s>>>(n, projections, view, bins);
  after_launch();
}

void store_view(const ConeFrame& n, const float* bins, Index view, Update update, Image<float> projections,
                cudaStream_t s) {
  store<<<squares(projections.n2, projections.n1), threads, 0, s>>>(n, bins, view, update, projections);
  after_launch();
}

void thin(const ThinPass& n, const float* cells, float* samples, cudaStream_t s) {
  average<<<blocks_of(n.outer * n.samples * n.inner), threads, 0, s>>>(n, cells, samples);
  after_launch();
}

void thin_back(const ThinPass& n, const float* samples, float* cells, cudaStream_t s) {
  average_back<<<blocks_of(n.outer * n.cells * n.inner), threads, 0, s>>>(n, samples, cells);
  after_launch();
}

}  // namespace tandem::kernels::cuda
