// The noise of line integrals, and the weights of data that follow from it. A warp has a row of a view. All
// sums have one order, whoever comes first.

#include <numeric>
#include <vector>

#include "../../launches.hpp"
#include "../../ordered.hpp"
#include "cells.cuh"
#include "logarithms.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int warp = 32, warps = threads / warp;

/// The number of this warp in its grid.
__device__ inline Index own_warp() { return (Index{blockIdx.x} * threads + threadIdx.x) / warp; }

/// The sum of a warp, in its first lane.
__device__ inline double sum_of_warp(double value) {
  for (int apart = warp / 2; apart > 0; apart /= 2) value += __shfl_down_sync(~0u, value, apart);
  return value;
}

/// The variance of the flats of a view, in the logarithm.
__device__ inline float variance_of_flats(const Cells& cells, Index view, Index cell) {
  const FlatMix mix = cells.mixes ? cells.mixes[view] : FlatMix{};
  const Index set = cells.rows * cells.bins, p = mix.first * set + cell, q = mix.second * set + cell;
  if (mix.is_one()) return cells.variances[p];
  return mix.variance(cells.spans[p], cells.spans[q], cells.variances[p], cells.variances[q]);
}

/// Grid: (rows of all views), a warp each.
__global__ void __launch_bounds__(threads)
    find_variances(const __grid_constant__ Cells cells, const Air* air, const Range* __restrict__ counted,
                   Image<float> y, Image<float> variances, double* sums) {
  const Index which = own_warp(), view = which / y.n1, row = which % y.n1;
  if (view >= y.n0) return;
  const Range counts = counted[row];
  const Air beside = air ? air[which] : Air{};
  double sum = 0;
  for (Index bin = threadIdx.x % warp; bin < y.n2; bin += warp) {
    const Divisor by = divisor_beside_air(cells, air, view, row, bin);
    double variance = INFINITY;
    if (by.span != 0) {
      const float value = element(y, view, row, bin);
      variance = cells.photons > 0 ? variance_of_line(value, cells.photons, cells.photons_a_count)
                                   : variance_of_log(fmaxf(value, by.floor), by.span,
                                                     variance_of_flats(cells, view, row * cells.bins + bin),
                                                     beside, cells.photons_a_count);
      if (counts.first <= bin && bin < counts.last) sum += variance;
    }
    if (variances.data) element(variances, view, row, bin) = static_cast<float>(variance);
  }
  sum = sum_of_warp(sum);
  if (threadIdx.x % warp == 0) sums[which] = sum;
}

/// Adds sums (view, row) up over all views of each row. Grid: (rows), a warp each.
__global__ void __launch_bounds__(threads)
    add_views(const double* __restrict__ sums, Index views, Index rows, double* of_rows) {
  const Index row = own_warp();
  if (row >= rows) return;
  double sum = 0;
  for (Index view = threadIdx.x % warp; view < views; view += warp) sum += sums[view * rows + row];
  sum = sum_of_warp(sum);
  if (threadIdx.x % warp == 0) of_rows[row] = sum;
}

constexpr int digits = 256;
static_assert(digits == threads);

/// Counts how often the 8 bits above `shift` have each value, among the keys that begin with `key`.
__device__ inline void count_digits(const Image<float>& all, Range rows, int shift, unsigned key,
                                    unsigned* count) {
  const MedianSamples samples(all.n0 * rows.size() * all.n2);
  for (Index line = threadIdx.x / warp; line < all.n0 * rows.size(); line += warps) {
    const Index view = line / rows.size(), row = line % rows.size();
    const Index lane = threadIdx.x % warp;
    for (Index bin = samples.first(view, row) + lane * samples.step; bin < all.n2;
         bin += warp * samples.step) {
      const float value = element(all, view, rows.first + row, bin);
      const unsigned own = key_of(value);
      if (isfinite(value) && (shift == 24 || own >> (shift + 8) == key))
        atomicAdd(&count[own >> shift & (digits - 1)], 1u);
    }
  }
}

/// The median of the finite variances of each block of rows, 0 if there are none: 8 bits of its key in each
/// of four passes. Grid: (blocks of rows).
__global__ void __launch_bounds__(threads)
    find_medians(Image<float> all, Index rows_a_block, float* medians) {
  __shared__ unsigned count[digits], finite, rank, key;
  const Index first = blockIdx.x * rows_a_block;
  for (int shift = 24; shift >= 0; shift -= 8) {
    count[threadIdx.x] = 0;
    __syncthreads();
    count_digits(all, {first, first + rows_a_block}, shift, key, count);
    __syncthreads();
    if (threadIdx.x == 0) {
      if (shift == 24) {
        finite = 0, key = 0;
        for (const unsigned some : count) finite += some;
        rank = finite / 2;
      }
      unsigned digit = 0;
      while (digit < digits - 1 && count[digit] <= rank) rank -= count[digit++];
      key = key << 8 | digit;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) medians[blockIdx.x] = finite > 0 ? value_of_key(key) : 0;
}

/// Grid: (rows of all views), a warp each.
__global__ void __launch_bounds__(threads)
    take_weights(Image<float> all, Index rows_a_block, const float* __restrict__ medians, double* sums) {
  const Index which = own_warp(), view = which / all.n1, row = which % all.n1;
  if (view >= all.n0) return;
  double sum = 0;
  for (Index bin = threadIdx.x % warp; bin < all.n2; bin += warp) {
    float& value = element(all, view, row, bin);
    value = weight_of(value, medians[row / rows_a_block]);
    sum += value;
  }
  sum = sum_of_warp(sum);
  if (threadIdx.x % warp == 0) sums[which] = sum;
}

/// Grid: (bins, rows, views).
__global__ void __launch_bounds__(threads)
    scale_rows(Image<float> all, Index rows_a_block, const float* __restrict__ scales) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.y;
  const Index first = Index{blockIdx.z} * views_a_thread, last = min(all.n0, first + views_a_thread);
  if (bin >= all.n2) return;
  for (Index view = first; view < last; ++view) element(all, view, row, bin) *= scales[row / rows_a_block];
}

dim3 blocks_of_warps(Index count) { return grid_of(ceil_div<Index>(count, warps)); }

/// The sums of rows, on the host. Waits.
std::vector<double> sums_of_rows(const Scratch<double>& sums, const Image<float>& y, const Stream& stream) {
  const Scratch<double> there(y.n1, queue(stream));
  add_views<<<blocks_of_warps(y.n1), threads, 0, queue(stream)>>>(sums.data(), y.n0, y.n1, there.data());
  after_launch();
  std::vector<double> of_rows(y.n1);
  bring(std::span(of_rows), there, stream);
  return of_rows;
}

/// The factors that make the mean of each block 1; 1 for a block of zeros alone.
std::vector<float> scales_of(const std::vector<double>& of_rows, Index rows_a_block, Index data_a_row) {
  std::vector<float> scales;
  for (auto row = of_rows.begin(); row != of_rows.end(); row += rows_a_block) {
    const double sum = std::accumulate(row, row + rows_a_block, 0.0);
    scales.push_back(sum > 0 ? static_cast<float>(data_a_row * rows_a_block / sum) : 1);
  }
  return scales;
}

}  // namespace

std::vector<double> variances_of(const CountsToLines& how, const Air* air, std::span<const Range> counted,
                                 const Image<float>& y, Image<float> variances, Stream& stream) {
  note_launch("variances");
  const CellTables tables(how, y, stream);
  const Sent<Range> counts(counted, stream);
  const Scratch<double> sums(y.n0 * y.n1, queue(stream));
  find_variances<<<blocks_of_warps(y.n0 * y.n1), threads, 0, queue(stream)>>>(
      tables.cells, air, counts.data(), y, variances, sums.data());
  after_launch();
  return sums_of_rows(sums, y, stream);
}

void weigh(Image<float> variances, bool each_row, Stream& stream) {
  note_launch("weights");
  const Image<float>& all = variances;
  const Index rows_a_block = each_row ? 1 : all.n1, blocks = all.n1 / rows_a_block;
  const Scratch<float> medians(blocks, queue(stream));
  const Scratch<double> sums(all.n0 * all.n1, queue(stream));
  find_medians<<<grid_of(blocks), threads, 0, queue(stream)>>>(all, rows_a_block, medians.data());
  after_launch();
  take_weights<<<blocks_of_warps(all.n0 * all.n1), threads, 0, queue(stream)>>>(all, rows_a_block,
                                                                                medians.data(), sums.data());
  after_launch();
  const Sent<float> scales(scales_of(sums_of_rows(sums, all, stream), rows_a_block, all.n0 * all.n2), stream);
  scale_rows<<<blocks_of(all), threads, 0, queue(stream)>>>(all, rows_a_block, scales.data());
  after_launch();
}

}  // namespace tandem::kernels::cuda
