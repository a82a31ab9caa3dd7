// From counts to line integrals. A thread has one cell and goes through some views, so that dark, span and
// floor stay in registers where all views have the same flats.

#include "../../counts.hpp"
#include "../../launches.hpp"

#include "../common/pixels.cuh"
#include "../tables.hpp"
#include "cells.cuh"
#include "logarithms.hpp"

namespace tandem::kernels::cuda {

namespace {

/// The mean of the pixels of a cell, summed as the CPU does it.
template <class Pixel>
__device__ float cell_of(const Cells& cells, const Pixel* pixels, Index pixels_a_row,
                         unsigned long long& saturated) {
  const auto read = [&](const Pixel* at) {
    const auto value = static_cast<float>(*at);
    saturated += value >= cells.full;
    return value;
  };
  if (cells.bins_together == 1) return read(pixels);
  float sum = 0;
  for (int r = 0; r < cells.rows_together; ++r, pixels += pixels_a_row) {
    float line = 0;
    for (int b = 0; b < cells.bins_together; ++b) line += read(pixels + b);
    sum += line;
  }
  return sum * cells.share;
}

/// Grid: (bins, rows, views).
template <class Pixel>
__global__ void __launch_bounds__(threads)
    line_integrals(const __grid_constant__ Cells cells, const Pixel* __restrict__ counts, Index pixels_a_row,
                   Index pixels_a_view, Image<float> y, DeviceTally* tally) {
  const Index bin = static_cast<Index>(blockIdx.x) * threads + threadIdx.x, row = blockIdx.y;
  const Index first = static_cast<Index>(blockIdx.z) * views_a_thread,
              last = min(y.n0, first + views_a_thread);
  DeviceTally met = nothing_met;
  if (bin < cells.bins) {
    const Index cell = row * cells.bins + bin;
    const float dark = cells.dark[cell];
    const bool in_counts = cells.in_counts[row];
    const Pixel* pixels =
        counts + row * cells.rows_together * pixels_a_row + bin * cells.bins_together + first * pixels_a_view;
    Divisor by = divisor_of(cells, first, cell, in_counts);
    for (Index view = first; view < last; ++view, pixels += pixels_a_view) {
      if (cells.mixes) by = divisor_of(cells, view, cell, in_counts);
      const float count = cell_of(cells, pixels, pixels_a_row, met.saturated);
      float value = transmission(count, dark, by.span);
      if (cells.minus_log && by.span != 0) value = line_integral(value, by.floor, met);
      met.not_finite += !isfinite(count) || !isfinite(value);
      element(y, view, row, bin) = value;
    }
  }
  add(tally, heeded(cells, row, met));
}

/// Grid: (cells, views).
__global__ void __launch_bounds__(threads)
    fill_cells(const FilledCell* __restrict__ cells, Index count, Image<float> y) {
  const Index i = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
  if (i >= count) return;
  const FilledCell at = cells[i];
  for (Index view = blockIdx.y; view < y.n0; view += gridDim.y)
    element(y, view, at.row, at.bin) =
        between(element(y, view, at.row, at.before), element(y, view, at.row, at.after), at.share);
}

void fill(std::span<const FilledCell> cells, Image<float> y, Stream& stream) {
  if (cells.empty()) return;
  note_launch("fill cells");
  const Sent<FilledCell> filled(cells, stream);
  fill_cells<<<blocks_of(cells, y), threads, 0, queue(stream)>>>(filled.data(),
                                                                 static_cast<Index>(cells.size()), y);
  after_launch();
}

CountsTally line_integrals_of(const CountsToLines& how, const std::byte* counts, Image<float> y,
                              Stream& stream) {
  note_launch("line integrals");
  const CellTables tables(how, y, stream);
  Tally tally(stream);
  with_pixels(how.type, counts, [&](const auto* pixels) {
    line_integrals<<<blocks_of(y), threads, 0, queue(stream)>>>(
        tables.cells, pixels, how.counts[2], how.counts[1] * how.counts[2], y, tally.data());
  });
  after_launch();
  fill(how.filled, y, stream);
  CountsTally met = tally.brought();
  met.filled = y.n0 * std::ranges::count_if(how.filled, [&](const FilledCell& cell) {
                 return how.heeded.first <= cell.row && cell.row < how.heeded.last;
               });
  return met;
}

}  // namespace

const CountsKernels counts_kernels{line_integrals_of, fill,  divide_by_air, logarithms_of,
                                   variances_of,      weigh, polynomial_of};

}  // namespace tandem::kernels::cuda
