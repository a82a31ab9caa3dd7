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

/// The value of a pixel that is not finite, between the nearest finite ones of its row; NaN if there is none.
/// `pixels`: how many of the row become cells.
__device__ float repaired(const float* line, Index pixels, Index pixel) {
  Index before = pixel - 1, after = pixel + 1;
  while (before >= 0 && !isfinite(line[before])) --before;
  while (after < pixels && !isfinite(line[after])) ++after;
  if (before < 0) return after < pixels ? line[after] : NAN;
  if (after >= pixels) return line[before];
  return between(line[before], line[after], share_between(pixel, before, after));
}

/// The mean of the pixels of a cell, summed as the CPU does it. `line`: the first of its rows of the file.
template <class Pixel>
__device__ float cell_of(const Cells& cells, const Pixel* line, Index pixels_a_row, Index bin,
                         DeviceTally& met) {
  const auto read = [&](const Pixel* row, Index pixel) {
    const auto value = static_cast<float>(row[pixel]);
    met.saturated += value >= cells.full;
    if constexpr (std::is_same_v<Pixel, float>)
      if (!isfinite(value)) {
        ++met.repaired;
        return repaired(row, cells.bins * cells.bins_together, pixel);
      }
    return value;
  };
  const Index first = bin * cells.bins_together;
  if (cells.bins_together == 1) return read(line, first);
  float sum = 0;
  for (int r = 0; r < cells.rows_together; ++r, line += pixels_a_row) {
    float of_row = 0;
    for (int b = 0; b < cells.bins_together; ++b) of_row += read(line, first + b);
    sum += of_row;
  }
  return sum * cells.share;
}

/// Grid: (bins, rows, views).
template <class Pixel>
__global__ void __launch_bounds__(threads)
    line_integrals(const __grid_constant__ Cells cells, const Pixel* __restrict__ counts, Index pixels_a_row,
                   Index pixels_a_view, Image<float> y, DeviceTally* tally) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.y;
  const Index first = Index{blockIdx.z} * views_a_thread, last = min(y.n0, first + views_a_thread);
  DeviceTally met = nothing_met;
  if (bin < cells.bins) {
    const Index cell = row * cells.bins + bin;
    const float dark = cells.dark[cell];
    const bool in_counts = cells.in_counts[row];
    const Pixel* line = counts + row * cells.rows_together * pixels_a_row + first * pixels_a_view;
    Divisor by = divisor_of(cells, first, cell, in_counts);
    for (Index view = first; view < last; ++view, line += pixels_a_view) {
      if (cells.mixes) by = divisor_of(cells, view, cell, in_counts);
      const float count = cell_of(cells, line, pixels_a_row, bin, met);
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
  const Index i = Index{blockIdx.x} * threads + threadIdx.x;
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
  fill_cells<<<blocks_of(cells, y), threads, 0, queue(stream)>>>(filled.data(), std::ssize(cells), y);
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
