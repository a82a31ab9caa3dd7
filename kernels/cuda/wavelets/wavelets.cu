// A level of the wavelet transform along lines of planes, and back. A thread makes one element.

#include "../../wavelets.hpp"

#include "../../columns.hpp"
#include "../../launches.hpp"
#include "../common/elements.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 128;

/// Element k of the line through (plane, row, column).
template <Lines lines>
__device__ float in_line(const Image<const float>& planes, Index plane, Index row, Index column, Index k) {
  return lines == Lines::rows ? element(planes, plane, row, k) : element(planes, plane, k, column);
}

template <Lines lines>
__global__ void __launch_bounds__(threads)
    split_lines(const __grid_constant__ WaveletFilters filters, Image<const float> planes, Image<float> low,
                Image<float> high) {
  const Index n = lines == Lines::rows ? planes.n2 : planes.n1;
  for_own_elements(low, [&](Index plane, Index row, Index column) {
    const Index first = 2 * (lines == Lines::rows ? column : row) + 2 - filters.taps;
    const HalfElements own = split_at(
        filters, [&](int m) { return in_line<lines>(planes, plane, row, column, reflected(first + m, n)); });
    element(low, plane, row, column) = static_cast<float>(own.low);
    element(high, plane, row, column) = static_cast<float>(own.high);
  });
}

template <Lines lines>
__global__ void __launch_bounds__(threads)
    join_lines(const __grid_constant__ WaveletFilters filters, Image<const float> low,
               Image<const float> high, Image<float> planes) {
  for_own_elements(planes, [&](Index plane, Index row, Index column) {
    const auto of_low = [&](Index k) { return in_line<lines>(low, plane, row, column, k); };
    const auto of_high = [&](Index k) { return in_line<lines>(high, plane, row, column, k); };
    const Index n = lines == Lines::rows ? column : row;
    element(planes, plane, row, column) = static_cast<float>(joined_at(filters, n, of_low, of_high));
  });
}

__global__ void __launch_bounds__(threads)
    move_rows_of(Image<const float> from, Index offset, Image<float> to) {
  for_own_elements(to, [&](Index plane, Index row, Index column) {
    const Index r = row + offset;
    element(to, plane, row, column) = 0 <= r && r < from.n1 ? element(from, plane, r, column) : 0.0f;
  });
}

void split_planes(const WaveletFilters& filters, Lines lines, Image<const float> planes, Image<float> low,
                  Image<float> high, Stream& stream) {
  note_launch("split lines");
  const auto kernel = lines == Lines::rows ? split_lines<Lines::rows> : split_lines<Lines::columns>;
  kernel<<<blocks_of_elements(low, threads), threads, 0, queue(stream)>>>(filters, planes, low, high);
  after_launch();
}

void join_planes(const WaveletFilters& filters, Lines lines, Image<const float> low, Image<const float> high,
                 Image<float> planes, Stream& stream) {
  note_launch("join lines");
  const auto kernel = lines == Lines::rows ? join_lines<Lines::rows> : join_lines<Lines::columns>;
  kernel<<<blocks_of_elements(planes, threads), threads, 0, queue(stream)>>>(filters, low, high, planes);
  after_launch();
}

void move_rows(Image<const float> from, Index offset, Image<float> to, Stream& stream) {
  note_launch("move rows of planes");
  move_rows_of<<<blocks_of_elements(to, threads), threads, 0, queue(stream)>>>(from, offset, to);
  after_launch();
}

}  // namespace

const WaveletKernels wavelet_kernels{split_planes, join_planes, move_rows};

}  // namespace tandem::kernels::cuda
