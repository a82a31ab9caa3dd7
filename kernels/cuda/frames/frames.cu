// Steps on frames, in place.

#include "../../frames.hpp"

#include "../../launches.hpp"
#include "../../ordered.hpp"
#include "../common/batch.cuh"
#include "../common/sent.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 256;

/// Grid: (cells, views).
__global__ void __launch_bounds__(threads)
    fill_cells_by_medians(const MendedCell* __restrict__ cells, Index count, const int* __restrict__ good,
                          Image<float> y) {
  const Index i = Index{blockIdx.x} * threads + threadIdx.x;
  if (i >= count) return;
  const MendedCell cell = cells[i];
  for (Index view = blockIdx.y; view < y.n0; view += gridDim.y) {
    const auto for_all = [&](const auto& use) {
      for (int k = cell.first; k < cell.first + cell.count; ++k)
        use(element(y, view, good[k] / y.n2, good[k] % y.n2));
    };
    float value = ranked_value(cell.count / 2, for_all);
    if (cell.count % 2 == 0)
      value = __fmul_rn(0.5f, __fadd_rn(value, ranked_value(cell.count / 2 - 1, for_all)));
    element(y, view, cell.row, cell.bin) = value;
  }
}

/// Takes the values of a bin of a view from `shift` rows below each row. It goes through the rows against the
/// shift, so that what it reads is still as it came.
__device__ void take_from_below(double shift, const Image<float>& y, Index view, Index bin) {
  const Index rows = y.n1;
  for (Index k = 0; k < rows; ++k) {
    const Index row = shift > 0 ? rows - 1 - k : k;
    const double at = fmin(fmax(row - shift, 0.0), rows - 1);
    const auto low = static_cast<Index>(at), high = min(low + 1, rows - 1);
    const auto part = static_cast<float>(at - low);
    element(y, view, row, bin) = __fadd_rn(__fmul_rn(1 - part, element(y, view, low, bin)),
                                           __fmul_rn(part, element(y, view, high, bin)));
  }
}

/// A thread has a bin of a view. Grid: (bins, views).
__global__ void __launch_bounds__(threads) level_bins(RolledRows rolled, Image<float> y) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x;
  if (bin >= y.n2) return;
  const double shift = __dadd_rn(__dmul_rn(bin, rolled.slope), -rolled.rise);
  for (Index view = blockIdx.y; view < y.n0; view += gridDim.y) take_from_below(shift, y, view, bin);
}

/// Moves the bins of views, by the same threads and grid.
__global__ void __launch_bounds__(threads) move_bins(const double* __restrict__ shifts, Image<float> y) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x;
  if (bin >= y.n2) return;
  for (Index view = blockIdx.y; view < y.n0; view += gridDim.y)
    if (shifts[view] != 0) take_from_below(-shifts[view], y, view, bin);
}

constexpr int views_a_thread = 16;

/// A thread has a bin of some views, which takes its values from the same place in all of them. Grid: (bins,
/// rows, views).
__global__ void __launch_bounds__(threads) take_from_crooked(const __grid_constant__ UprightRays real,
                                                             const float* __restrict__ came, Image<float> y) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.y;
  const Index first = Index{blockIdx.z} * views_a_thread, last = min(y.n0, first + views_a_thread);
  if (bin >= y.n2) return;
  const DetectorPlace at = real(row, bin);
  const CubicTaps rows(at.row, y.n1), bins(at.bin, y.n2);
  for (Index view = first; view < last; ++view) {
    const float* frame = came + view * y.n1 * y.n2;
    element(y, view, row, bin) = bicubic(rows, bins, [&](Index r, Index b) { return frame[r * y.n2 + b]; });
  }
}

dim3 blocks_of(Index elements, const Image<float>& y) {
  return grid_of(ceil_div<Index>(elements, threads), std::min<Index>(y.n0, 65535));
}

void fill_medians(std::span<const MendedCell> mended, std::span<const int> good, Image<float> y,
                  Stream& stream) {
  if (mended.empty()) return;
  note_launch("medians of cells");
  const Sent<MendedCell> cells(mended, stream);
  const Sent<int> places(good, stream);
  const Index count = mended.size();
  fill_cells_by_medians<<<blocks_of(count, y), threads, 0, queue(stream)>>>(cells.data(), count,
                                                                            places.data(), y);
  after_launch();
}

void level(RolledRows rolled, Image<float> y, Stream& stream) {
  note_launch("level rows");
  level_bins<<<blocks_of(y.n2, y), threads, 0, queue(stream)>>>(rolled, y);
  after_launch();
}

void move(std::span<const double> shifts, Image<float> y, Stream& stream) {
  note_launch("move rows");
  const Sent<double> there(shifts, stream);
  move_bins<<<blocks_of(y.n2, y), threads, 0, queue(stream)>>>(there.data(), y);
  after_launch();
}

void make_upright(const UprightRays& real, Image<float> y, Stream& stream) {
  note_launch("make frames upright");
  const Index at_once = upright_at_once(y.n0, y.n1, y.n2);
  const Scratch<float> came(at_once * y.n1 * y.n2, queue(stream));
  for (Index first = 0; first < y.n0; first += at_once) {
    const Image<float> some = part_of(y, first, at_once, 0, y.n1);
    copy({some.data, some.n0, some.n1, some.n2, some.s0, some.s1},
         {came.data(), some.n0, some.n1, some.n2, some.n1 * some.n2, some.n2}, stream);
    const dim3 blocks =
        grid_of(ceil_div<Index>(y.n2, threads), y.n1, ceil_div<Index>(some.n0, views_a_thread));
    take_from_crooked<<<blocks, threads, 0, queue(stream)>>>(real, came.data(), some);
    after_launch();
  }
}

}  // namespace

const FrameKernels frame_kernels{fill_medians, level, move, make_upright};

}  // namespace tandem::kernels::cuda
