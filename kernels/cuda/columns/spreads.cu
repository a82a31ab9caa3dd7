// How columns are spread over their views. A block has a column, or a sum of some: each thread holds some
// of its values in registers, and the block counts through the bits of the value that it looks for.

#include "../../column_spreads.hpp"

#include "../../launches.hpp"
#include "../../ordered.hpp"
#include "../common/batch.cuh"
#include "../common/sent.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr std::uint32_t above_all = 0xffffffffu;

/// The key of rank `rank`, from 0, among all keys of a block in ascending order. One barrier for each bit is
/// enough, because counts of two bits that follow each other have memory of their own.
template <int threads, int values_a_thread>
__device__ std::uint32_t ranked_key(const std::uint32_t (&keys)[values_a_thread], int rank) {
  constexpr int warps = threads / 32;
  __shared__ int counts[2][warps];
  std::uint32_t found = 0;
#pragma unroll 1
  for (int bit = 31; bit >= 0; --bit) {
    const std::uint32_t tried = found | (std::uint32_t{1} << bit);
    int below = 0;
#pragma unroll
    for (int i = 0; i < values_a_thread; ++i) below += keys[i] < tried;
    below = __reduce_add_sync(~0u, below);
    if (threadIdx.x % 32 == 0) counts[bit & 1][threadIdx.x / 32] = below;
    __syncthreads();
    int all = 0;
#pragma unroll
    for (int w = 0; w < warps; ++w) all += counts[bit & 1][w];
    if (all <= rank) found = tried;
  }
  return found;
}

/// Grid: sums of columns, (row, bin). Beyond the views in question a column has the largest keys, which are
/// not found. `distances` may be null.
template <int threads, int values_a_thread>
__global__ void __launch_bounds__(threads)
    find_spreads(const float* __restrict__ columns, ColumnShape n, const __grid_constant__ ColumnSum sum,
                 Index bins, Range of_views, int rank, float* __restrict__ medians,
                 float* __restrict__ distances) {
  const Index row = blockIdx.x / bins, bin = blockIdx.x % bins;
  const float* own = columns + (row * n.bins + bin) * n.views + of_views.first;
  const int views = static_cast<int>(of_views.last - of_views.first);
  std::uint32_t keys[values_a_thread];
#pragma unroll
  for (int i = 0; i < values_a_thread; ++i) {
    const int view = i * threads + own_thread();
    keys[i] = above_all;
    if (view < views) keys[i] = key_of(sum([&](int k) { return own[k * sum.step * n.views + view]; }));
  }
  const float median = value_of_key(ranked_key<threads>(keys, views / 2));
  if (threadIdx.x == 0) medians[blockIdx.x] = median;
  if (!distances) return;
#pragma unroll
  for (int i = 0; i < values_a_thread; ++i)
    if (i * threads + own_thread() < views) keys[i] = key_of(fabsf(value_of_key(keys[i]) - median));
  const float distance = value_of_key(ranked_key<threads>(keys, rank));
  if (threadIdx.x == 0) distances[blockIdx.x] = distance;
}

/// Data on the device, and the places of results.
struct SpreadTask {
  const float* columns;
  ColumnShape shape;
  ColumnSum sum;
  Range views;
  Index bins, rank;
  float *medians, *distances;
};

template <int threads, int values_a_thread>
bool find_if_fits(const SpreadTask& task, Stream& stream) {
  if (task.views.size() > threads * values_a_thread) return false;
  note_launch("spreads of " + std::to_string(threads * values_a_thread));
  find_spreads<threads, values_a_thread><<<grid_of(task.shape.rows * task.bins), threads, 0, queue(stream)>>>(
      task.columns, task.shape, task.sum, task.bins, task.views, int_of(task.rank), task.medians,
      task.distances);
  after_launch();
  return true;
}

void find(const SpreadTask& task, Stream& stream) {
  const bool done = find_if_fits<32, 4>(task, stream) || find_if_fits<128, 8>(task, stream) ||
                    find_if_fits<256, 8>(task, stream) || find_if_fits<256, 16>(task, stream) ||
                    find_if_fits<512, 16>(task, stream);
  require<GeometryError>(done, "columns: ", task.views.size(), " views are more than 8192");
}

ColumnSpreads spreads(const float* columns, ColumnShape shape, const ColumnSum& sum, Index rank,
                      Stream& stream) {
  const Index bins = std::max<Index>(0, shape.bins - sum.reach());
  const std::size_t count = shape.rows * bins;
  ColumnSpreads all{std::vector<float>(count), std::vector<float>(count)};
  if (count == 0) return all;
  const Scratch<float> medians(count, queue(stream)), distances(count, queue(stream));
  find({columns, shape, sum, {0, shape.views}, bins, rank, medians.data(), distances.data()}, stream);
  bring(std::span(all.medians), medians, stream);
  bring(std::span(all.distances), distances, stream);
  return all;
}

std::vector<float> medians(const float* columns, ColumnShape shape, const ColumnSum& sum, Range views,
                           Stream& stream) {
  const Index bins = std::max<Index>(0, shape.bins - sum.reach());
  std::vector<float> all(shape.rows * bins);
  if (all.empty()) return all;
  const Scratch<float> found(all.size(), queue(stream));
  find({columns, shape, sum, views, bins, 0, found.data(), nullptr}, stream);
  bring(std::span(all), found, stream);
  return all;
}

constexpr int threads = 256;

/// Grid: parts of columns. A block takes every gridDim.y-th column.
dim3 blocks_of(const ColumnShape& n) {
  return grid_of(ceil_div<Index>(n.views, threads), std::min<Index>(n.rows * n.bins, 65535));
}

/// Rounded from double, which is nearer to the logarithm of the CPU than that in float.
__global__ void __launch_bounds__(threads)
    take_negative_logarithms(float least, Index count, Index views, float* columns) {
  const Index view = Index{blockIdx.x} * threads + threadIdx.x;
  if (view >= views) return;
  for (Index c = blockIdx.y; c < count; c += gridDim.y) {
    float& value = columns[c * views + view];
    value = -static_cast<float>(log(double{fmaxf(value, least)}));
  }
}

__global__ void __launch_bounds__(threads)
    subtract_constants(const double* __restrict__ constants, Index count, Index views, float* columns) {
  const Index view = Index{blockIdx.x} * threads + threadIdx.x;
  if (view >= views) return;
  for (Index c = blockIdx.y; c < count; c += gridDim.y) {
    float& value = columns[c * views + view];
    value = static_cast<float>(value - constants[c]);
  }
}

/// Grid: (bins, rows, views). A block takes every gridDim.z-th view.
__global__ void __launch_bounds__(threads)
    multiply_columns(const float* __restrict__ factors, Image<float> y) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.y;
  if (bin >= y.n2) return;
  const float factor = factors[row * y.n2 + bin];
  for (Index view = blockIdx.z; view < y.n0; view += gridDim.z) element(y, view, row, bin) *= factor;
}

void logarithms(float least, ColumnShape n, float* columns, Stream& stream) {
  note_launch("logarithms of columns");
  take_negative_logarithms<<<blocks_of(n), threads, 0, queue(stream)>>>(least, n.rows * n.bins, n.views,
                                                                        columns);
  after_launch();
}

void subtract(std::span<const double> constants, ColumnShape n, float* columns, Stream& stream) {
  note_launch("subtract from columns");
  const Sent<double> there(constants, stream);
  subtract_constants<<<blocks_of(n), threads, 0, queue(stream)>>>(there.data(), n.rows * n.bins, n.views,
                                                                  columns);
  after_launch();
}

void multiply(std::span<const float> factors, Image<float> y, Stream& stream) {
  note_launch("multiply columns");
  const Sent<float> there(factors, stream);
  const dim3 blocks = grid_of(ceil_div<Index>(y.n2, threads), y.n1, std::min<Index>(y.n0, 64));
  multiply_columns<<<blocks, threads, 0, queue(stream)>>>(there.data(), y);
  after_launch();
}

}  // namespace

const SpreadKernels spread_kernels{spreads, medians, logarithms, subtract, multiply};

}  // namespace tandem::kernels::cuda
