// The values with which rows of the Fourier model go on beyond their ends, and the transpose. Sums have a
// fixed order, so the bits are the same in every run and whatever slices lie beside.

#include "row_ends.hpp"

#include "lines.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 256, rows_a_block = threads / 32;

/// A warp a row.
__global__ void __launch_bounds__(threads)
    ends_of_rows(Beyond beyond, FourierSlices at, Image<const float> rows, float2* ends) {
  const Index row = Index{blockIdx.x} * rows_a_block + threadIdx.x / 32;
  const Index view = row / at.lanes, slice = row % at.lanes;
  if (view >= rows.n0) return;
  float2 values{};
  if (slice < at.count) {
    const Index number = at.first + slice;
    const float* line = &element(rows, view, number, 0);
    const auto value = [&](Index bin) { return line[bin]; };
    values = {end_value_by_warp(beyond.ends, number, low_end, value),
              end_value_by_warp(beyond.ends, number, high_end, value)};
  }
  if (threadIdx.x % 32 == 0) ends[row] = values;
}

/// A block a row.
__global__ void __launch_bounds__(threads)
    bins_of_circles(Beyond beyond, FourierSlices at, Image<float> circles, Update update, Image<float> rows) {
  const Index view = blockIdx.x / at.count, slice = at.first + blockIdx.x % at.count;
  const float* circle = &element(circles, view, slice, 0);
  double sums[2] = {};
  for (Index i = threadIdx.x; i < circles.n2; i += threads) {
    sums[0] += circle[i] * beyond.before[i];
    sums[1] += circle[i] * beyond.after[i];
  }
  sum_over_block(sums);
  const auto low = static_cast<float>(sums[0]), high = static_cast<float>(sums[1]);
  float* row = &element(rows, view, slice, 0);
  for (Index bin = threadIdx.x; bin < rows.n2; bin += threads)
    update(row[bin], circle[bin] + given_to(beyond.ends, slice, bin, low, high));
}

}  // namespace

void find_ends(const Beyond& beyond, const FourierSlices& at, Image<const float> rows, float2* ends,
               Stream& stream) {
  const dim3 blocks = grid_of(ceil_div<Index>(rows.n0 * at.lanes, rows_a_block));
  ends_of_rows<<<blocks, threads, 0, queue(stream)>>>(beyond, at, rows, ends);
  after_launch();
}

void come_back(const Beyond& beyond, const FourierSlices& at, Image<float> circles, Update update,
               Image<float> rows, Stream& stream) {
  bins_of_circles<<<grid_of(rows.n0 * at.count), threads, 0, queue(stream)>>>(beyond, at, circles, update,
                                                                              rows);
  after_launch();
}

}  // namespace tandem::kernels::cuda
