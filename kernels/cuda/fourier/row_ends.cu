// What rows of the Fourier model go on with beyond their ends, and the transpose. Sums have a fixed order, so
// the bits are the same in every run and whatever slices lie beside.

#include "row_ends.hpp"

#include "lines.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 256, rows_a_block = threads / 32;

/// A warp a row.
__global__ void __launch_bounds__(threads)
    ends_of_rows(Beyond beyond, FourierSlices at, Image<const float> rows, float2* ends) {
  const Index row = static_cast<Index>(blockIdx.x) * rows_a_block + threadIdx.x / 32;
  const Index view = row / at.lanes, slice = row % at.lanes;
  if (view >= rows.n0) return;
  float2 mean{};
  if (slice < at.count) {
    const float* low = &element(rows, view, at.first + slice, 0);
    const float* high = low + rows.n2 - 1;
    mean = {mean_by_warp(beyond.bins, [&](int b) { return low[b]; }),
            mean_by_warp(beyond.bins, [&](int b) { return high[-b]; })};
  }
  if (threadIdx.x % 32 == 0) ends[row] = mean;
}

/// A block a row.
__global__ void __launch_bounds__(threads)
    bins_of_circles(Beyond beyond, FourierSlices at, Image<float> circles, Update update, Image<float> rows) {
  const Index view = blockIdx.x / at.count, slice = at.first + blockIdx.x % at.count;
  const float* circle = &element(circles, view, slice, 0);
  double sums[2] = {};
  for (Index i = threadIdx.x; i < circles.n2; i += threads) {
    sums[0] += static_cast<double>(circle[i] * beyond.before[i]);
    sums[1] += static_cast<double>(circle[i] * beyond.after[i]);
  }
  sum_over_block(sums);
  const auto low = static_cast<float>(sums[0] / beyond.bins),
             high = static_cast<float>(sums[1] / beyond.bins);
  float* row = &element(rows, view, slice, 0);
  for (Index bin = threadIdx.x; bin < rows.n2; bin += threads) {
    float value = circle[bin];
    if (bin < beyond.bins) value += low;
    if (bin >= rows.n2 - beyond.bins) value += high;
    update(row[bin], value);
  }
}

}  // namespace

void find_ends(const Beyond& beyond, const FourierSlices& at, Image<const float> rows, float2* ends,
               Stream& stream) {
  const auto blocks = static_cast<unsigned>(ceil_div<Index>(rows.n0 * at.lanes, rows_a_block));
  ends_of_rows<<<blocks, threads, 0, queue(stream)>>>(beyond, at, rows, ends);
  after_launch();
}

void come_back(const Beyond& beyond, const FourierSlices& at, Image<float> circles, Update update,
               Image<float> rows, Stream& stream) {
  const auto blocks = static_cast<unsigned>(rows.n0 * at.count);
  bins_of_circles<<<blocks, threads, 0, queue(stream)>>>(beyond, at, circles, update, rows);
  after_launch();
}

}  // namespace tandem::kernels::cuda
