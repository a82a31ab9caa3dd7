// Columns of sinograms: turned so that the views of a column follow each other, compared by their changes and
// means, and put back.

#include "../../columns.hpp"

#include "../../launches.hpp"
#include "../common/batch.cuh"
#include "../common/sent.cuh"
#include "../tables.hpp"
#include "sorted.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int tile_width = 32, tile_lines = 8, threads = 256;

/// A thread has a column and goes through the views in the order of the CPU, whose sums are in double.
/// Neighbouring threads have neighbouring bins. Grid: (bins, rows).
__global__ void __launch_bounds__(threads) add_fluctuations(Image<const float> y, float* sums) {
  using Box = FluctuationBox;
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.y, views = y.n0;
  if (bin >= y.n2) return;
  const auto value = [&](Index view) { return double{element(y, reflected(view, views), row, bin)}; };
  double box = 0, sum = 0;
  for (Index view = -Box::before; view <= Box::behind; ++view) box += value(view);
  for (Index view = 0; view < views; ++view) {
    const float own = element(y, view, row, bin);
    sum += fabsf(own - static_cast<float>(box / Box::size));
    box -= value(view - Box::before);
    box += value(view + 1 + Box::behind);
  }
  sums[row * y.n2 + bin] = static_cast<float>(sum);
}

dim3 columns_of(Index rows, Index bins, Index views = 1) {
  return grid_of(ceil_div<Index>(bins, threads), rows, std::min<Index>(views, 64));
}

std::vector<float> fluctuations(Image<const float> y, Stream& stream) {
  note_launch("fluctuations");
  std::vector<float> sums(y.n1 * y.n2);
  const Scratch<float> there(sums.size(), queue(stream));
  add_fluctuations<<<columns_of(y.n1, y.n2), threads, 0, queue(stream)>>>(y, there.data());
  after_launch();
  bring(std::span(sums), there, stream);
  return sums;
}

/// Means of columns, by the same threads and grid.
__global__ void __launch_bounds__(threads) average(Image<const float> y, double* means) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.y;
  if (bin >= y.n2) return;
  double sum = 0;
  for (Index view = 0; view < y.n0; ++view) sum += element(y, view, row, bin);
  means[row * y.n2 + bin] = sum / y.n0;
}

std::vector<double> means(Image<const float> y, Stream& stream) {
  note_launch("means of columns");
  std::vector<double> all(y.n1 * y.n2);
  const Scratch<double> there(all.size(), queue(stream));
  average<<<columns_of(y.n1, y.n2), threads, 0, queue(stream)>>>(y, there.data());
  after_launch();
  bring(std::span(all), there, stream);
  return all;
}

/// Grid: (bins, rows, views). A block takes every gridDim.z-th view.
__global__ void __launch_bounds__(threads)
    add_constants(const double* __restrict__ constants, Image<float> y) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.y;
  if (bin >= y.n2) return;
  const double constant = constants[row * y.n2 + bin];
  for (Index view = blockIdx.z; view < y.n0; view += gridDim.z) {
    float& value = element(y, view, row, bin);
    value = static_cast<float>(value + constant);
  }
}

void add(std::span<const double> constants, Image<float> y, Stream& stream) {
  note_launch("add to columns");
  const Sent<double> there(constants, stream);
  add_constants<<<columns_of(y.n1, y.n2, y.n0), threads, 0, queue(stream)>>>(there.data(), y);
  after_launch();
}

/// Calls use(view, bin, tile cell) for the cells of a tile that are there; `turned`: neighbouring threads
/// have neighbouring views. Block: (tile_width, tile_lines); grid: (bins, views, rows), in tiles.
template <bool turned, class Use>
__device__ void for_tile(Index views, Index bins, const Use& use) {
  for (int line = threadIdx.y; line < tile_width; line += tile_lines) {
    const int own = threadIdx.x;
    const int v = turned ? own : line, b = turned ? line : own;
    const Index view = Index{blockIdx.y} * tile_width + v, bin = Index{blockIdx.x} * tile_width + b;
    if (view < views && bin < bins) use(view, bin, v * (tile_width + 1) + b);
  }
}

__global__ void gather_columns(Image<const float> y, Index first_row, ColumnShape n, float* columns) {
  __shared__ float tile[tile_width * (tile_width + 1)];
  const Index row = blockIdx.z;
  for_tile<false>(n.views, n.bins,
                  [&](Index view, Index bin, int at) { tile[at] = element(y, view, first_row + row, bin); });
  __syncthreads();
  for_tile<true>(n.views, n.bins, [&](Index view, Index bin, int at) {
    columns[(row * n.bins + bin) * n.views + view] = tile[at];
  });
}

__global__ void scatter_columns(const float* __restrict__ columns, Index first_row, ColumnShape n,
                                Image<float> y) {
  __shared__ float tile[tile_width * (tile_width + 1)];
  const Index row = blockIdx.z;
  for_tile<true>(n.views, n.bins, [&](Index view, Index bin, int at) {
    tile[at] = columns[(row * n.bins + bin) * n.views + view];
  });
  __syncthreads();
  for_tile<false>(n.views, n.bins,
                  [&](Index view, Index bin, int at) { element(y, view, first_row + row, bin) = tile[at]; });
}

dim3 tiles_of(const ColumnShape& n) {
  return grid_of(ceil_div<Index>(n.bins, tile_width), ceil_div<Index>(n.views, tile_width), n.rows);
}
constexpr dim3 tile_threads{tile_width, tile_lines, 1};

void gather(Image<const float> y, Index first_row, ColumnShape n, float* columns, Stream& stream) {
  note_launch("gather columns");
  gather_columns<<<tiles_of(n), tile_threads, 0, queue(stream)>>>(y, first_row, n, columns);
  after_launch();
}

void scatter(const float* columns, Index first_row, ColumnShape n, Image<float> y, Stream& stream) {
  note_launch("scatter columns");
  scatter_columns<<<tiles_of(n), tile_threads, 0, queue(stream)>>>(columns, first_row, n, y);
  after_launch();
}

/// A block has tile_width columns. It fetches tiles of their ranks, and two warps add them up in the order of
/// the CPU: a thread has one column, of values or of medians.
__global__ void add_factors(const float* __restrict__ sorted, const float* __restrict__ medians,
                            Index columns, Index views, Range ranks, double* factors) {
  __shared__ float tiles[2][tile_width][tile_width + 1];
  __shared__ double means[2][tile_width];
  const Index first = Index{blockIdx.x} * tile_width;
  const int own = threadIdx.x, line = threadIdx.y;
  double sum = 0;
  for (Index begin = ranks.first; begin < ranks.last; begin += tile_width) {
    const Index rank = begin + own;
    for (int c = line; c < tile_width; c += tile_lines) {
      if (first + c >= columns || rank >= ranks.last) continue;
      const Index at = (first + c) * views + rank;
      tiles[0][c][own] = sorted[at], tiles[1][c][own] = medians[at];
    }
    __syncthreads();
    if (line < 2 && first + own < columns)
      for (Index k = 0; k < min(Index{tile_width}, ranks.last - begin); ++k) sum += tiles[line][own][k];
    __syncthreads();
  }
  if (line < 2) means[line][own] = sum / ranks.size();
  __syncthreads();
  if (line == 0 && first + own < columns)
    factors[first + own] = means[1][own] != 0 ? means[0][own] / means[1][own] : 1;
}

std::vector<double> factors(const float* sorted, const float* medians, ColumnShape n, Range ranks,
                            Stream& stream) {
  note_launch("factors of columns");
  const Index columns = n.rows * n.bins;
  std::vector<double> all(columns);
  const Scratch<double> there(all.size(), queue(stream));
  add_factors<<<grid_of(ceil_div<Index>(columns, tile_width)), tile_threads, 0, queue(stream)>>>(
      sorted, medians, columns, n.views, ranks, there.data());
  after_launch();
  bring(std::span(all), there, stream);
  return all;
}

/// Grid: (views, columns). A block takes every gridDim.y-th column.
__global__ void __launch_bounds__(threads)
    unsort_columns(const float* __restrict__ medians, const std::uint16_t* __restrict__ order, Index all,
                   Index views, float* columns) {
  const Index rank = Index{blockIdx.x} * threads + threadIdx.x;
  if (rank >= views) return;
  for (Index c = blockIdx.y; c < all; c += gridDim.y)
    columns[c * views + order[c * views + rank]] = medians[c * views + rank];
}

dim3 blocks_of(const ColumnShape& n) {
  return grid_of(ceil_div<Index>(n.views, threads), std::min<Index>(n.rows * n.bins, 65535));
}

void unsort(const float* medians, const std::uint16_t* order, ColumnShape n, float* columns, Stream& stream) {
  note_launch("unsort columns");
  unsort_columns<<<blocks_of(n), threads, 0, queue(stream)>>>(medians, order, n.rows * n.bins, n.views,
                                                              columns);
  after_launch();
}

/// Grid: as above.
__global__ void __launch_bounds__(threads)
    replace_columns(const double* __restrict__ factors, const char* __restrict__ marks, bool divide,
                    const float* __restrict__ medians, const std::uint16_t* __restrict__ order, Index all,
                    Index views, float* columns) {
  const Index own = Index{blockIdx.x} * threads + threadIdx.x;
  if (own >= views) return;
  for (Index c = blockIdx.y; c < all; c += gridDim.y) {
    const double factor = factors[c];
    float* column = columns + c * views;
    if (marks[c]) {
      const Index place = divide && factor < 0 ? views - 1 - own : own;
      column[order[c * views + place]] = medians[c * views + own];
    } else if (divide && factor != 0) {
      column[own] = static_cast<float>(column[own] / factor);
    }
  }
}

void replace(const ColumnFactors& how, const float* medians, const std::uint16_t* order, ColumnShape n,
             float* columns, Stream& stream) {
  note_launch("replace columns");
  const Sent<double> factors(how.factors, stream);
  const Sent<char> marks(how.marks, stream);
  replace_columns<<<blocks_of(n), threads, 0, queue(stream)>>>(
      factors.data(), marks.data(), how.divide, medians, order, n.rows * n.bins, n.views, columns);
  after_launch();
}

}  // namespace

const ColumnKernels column_kernels{most_sorted_views, fluctuations,       means,   add,    gather, scatter,
                                   sort_columns,      medians_of_columns, factors, unsort, replace};

}  // namespace tandem::kernels::cuda
