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
  const Index i = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
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

/// A bin of a view takes its values from `shift` rows below each row. The rows are gone through against the
/// shift: what is read is still as it came.
__device__ void take_from_below(double shift, const Image<float>& y, Index view, Index bin) {
  const Index rows = y.n1;
  for (Index k = 0; k < rows; ++k) {
    const Index row = shift > 0 ? rows - 1 - k : k;
    const double at = fmin(fmax(static_cast<double>(row) - shift, 0.0), static_cast<double>(rows - 1));
    const auto low = static_cast<Index>(at), high = min(low + 1, rows - 1);
    const auto part = static_cast<float>(at - static_cast<double>(low));
    element(y, view, row, bin) = __fadd_rn(__fmul_rn(1 - part, element(y, view, low, bin)),
                                           __fmul_rn(part, element(y, view, high, bin)));
  }
}

/// A thread has a bin of a view. Grid: (bins, views).
__global__ void __launch_bounds__(threads) level_bins(RolledRows rolled, Image<float> y) {
  const Index bin = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
  if (bin >= y.n2) return;
  const double shift = __dadd_rn(__dmul_rn(static_cast<double>(bin), rolled.slope), -rolled.rise);
  for (Index view = blockIdx.y; view < y.n0; view += gridDim.y) take_from_below(shift, y, view, bin);
}

/// Likewise.
__global__ void __launch_bounds__(threads) move_bins(const double* __restrict__ shifts, Image<float> y) {
  const Index bin = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
  if (bin >= y.n2) return;
  for (Index view = blockIdx.y; view < y.n0; view += gridDim.y)
    if (shifts[view] != 0) take_from_below(-shifts[view], y, view, bin);
}

dim3 blocks_of(Index elements, const Image<float>& y) {
  return {static_cast<unsigned>(ceil_div<Index>(elements, threads)),
          static_cast<unsigned>(std::min<Index>(y.n0, 65535))};
}

void fill_medians(std::span<const MendedCell> mended, std::span<const int> good, Image<float> y,
                  Stream& stream) {
  if (mended.empty()) return;
  note_launch("medians of cells");
  const Sent<MendedCell> cells(mended, stream);
  const Sent<int> places(good, stream);
  const auto count = static_cast<Index>(mended.size());
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

}  // namespace

const FrameKernels frame_kernels{fill_medians, level, move};

}  // namespace tandem::kernels::cuda
