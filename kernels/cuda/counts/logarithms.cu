// Steps on transmissions that another step has changed: air, logarithms, beam hardening.

#include "logarithms.hpp"

#include "../../launches.hpp"
#include "cells.cuh"

namespace tandem::kernels::cuda {

namespace {

/// The sums over the good cells of a margin, by a warp. All of its threads add up the same values in the
/// order of the CPU.
__device__ AirSums sums_of(const Cells& cells, const Image<float>& y, Index view, Index row, Range bins) {
  const int lane = own_thread() % 32;
  AirSums sums;
  for (Index first = bins.first; first < bins.last; first += 32) {
    const Index bin = first + lane;
    float value = 0, span = 0;
    if (bin < bins.last) {
      value = element(y, view, row, bin);
      span = divisor_of(cells, view, row * cells.bins + bin, false).span;
    }
    const unsigned mask = __ballot_sync(~0u, span > 0);
    for (int k = 0; k < 32; ++k) {
      const float next = __shfl_sync(~0u, value, k), beam = __shfl_sync(~0u, span, k);
      if (mask >> k & 1u) sums.add(next, first + k, beam * cells.photons_a_count);
    }
  }
  return sums;
}

/// Grid: (rows of all views), a warp each. `second`: empty if there is one margin.
__global__ void __launch_bounds__(threads)
    average_air(const __grid_constant__ Cells cells, Range margin, Range second, Image<float> y, Air* air,
                AirLine* lines, unsigned long long* bad) {
  const Index which = (Index{blockIdx.x} * threads + threadIdx.x) / 32, view = which / y.n1,
              row = which % y.n1;
  if (view >= y.n0) return;
  const AirSums left = sums_of(cells, y, view, row, margin);
  Air own = air_of(left);
  AirLine line{own.mean, 0, 0};
  bool good = left.sum > 0;
  if (second.first < second.last) {
    const AirSums right = sums_of(cells, y, view, row, second);
    line = line_through(left, right);
    own = air_of(left, right);
    good = good && right.sum > 0 && line.at(0) > 0 && line.at(y.n2 - 1) > 0;
  }
  if (threadIdx.x % 32 != 0) return;
  air[which] = own, lines[which] = line;
  if (!good) atomicAdd(bad, 1ull);
}

/// Grid: (bins, rows, views).
__global__ void __launch_bounds__(threads) divide(const AirLine* __restrict__ lines, Image<float> y) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.y;
  const Index first = Index{blockIdx.z} * views_a_thread, last = min(y.n0, first + views_a_thread);
  if (bin >= y.n2) return;
  for (Index view = first; view < last; ++view) {
    float& value = element(y, view, row, bin);
    value = static_cast<float>(value / lines[view * y.n1 + row].at(bin));
  }
}

/// Grid: (bins, rows, views). Filled cells are left out.
__global__ void __launch_bounds__(threads)
    take_logarithms(const __grid_constant__ Cells cells, const Air* air, Image<float> y, DeviceTally* tally) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.y;
  const Index first = Index{blockIdx.z} * views_a_thread, last = min(y.n0, first + views_a_thread);
  DeviceTally met = nothing_met;
  if (bin < cells.bins) {
    Divisor by = divisor_beside_air(cells, air, first, row, bin);
    for (Index view = first; view < last; ++view) {
      if (cells.mixes || air) by = divisor_beside_air(cells, air, view, row, bin);
      float& value = element(y, view, row, bin);
      if (by.span != 0) value = line_integral(value, by.floor, met);
    }
  }
  add(tally, heeded(cells, row, met));
}

/// The logarithms of filled cells that have values. Grid: (cells, views).
__global__ void __launch_bounds__(threads)
    take_mended_logarithms(const __grid_constant__ Cells cells, const Air* air,
                           const FilledCell* __restrict__ filled, Index count, Image<float> y,
                           DeviceTally* tally) {
  const Index i = Index{blockIdx.x} * threads + threadIdx.x;
  DeviceTally met = nothing_met;
  for (Index view = blockIdx.y; view < y.n0 && i < count; view += gridDim.y) {
    const FilledCell at = filled[i];
    const auto floor_of = [&](int bin) { return divisor_beside_air(cells, air, view, at.row, bin).floor; };
    float& value = element(y, view, at.row, at.bin);
    DeviceTally own = nothing_met;
    value = line_integral(value, between(floor_of(at.before), floor_of(at.after), at.share), own);
    if (!cells.heeds(at.row)) continue;
    met.floored += own.floored;
    met.lowest_floor = min(met.lowest_floor, own.lowest_floor);
    met.highest_floor = max(met.highest_floor, own.highest_floor);
  }
  add(tally, met);
}

/// Grid: (bins, rows, views).
__global__ void __launch_bounds__(threads)
    take_polynomial(const __grid_constant__ Cells cells, const double* __restrict__ coefficients, int count,
                    double most, Image<float> y, unsigned long long* above) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.y;
  const Index first = Index{blockIdx.z} * views_a_thread, last = min(y.n0, first + views_a_thread);
  if (bin >= cells.bins) return;
  for (Index view = first; view < last; ++view) {
    float& value = element(y, view, row, bin);
    const double q = value;
    if (!(q <= most) && divisor_of(cells, view, row * cells.bins + bin, false).span != 0)
      atomicAdd(above, 1ull);
    double sum = 0;
    for (int c = count - 1; c >= 0; --c) sum = __dmul_rn(__dadd_rn(sum, coefficients[c]), q);
    value = static_cast<float>(sum);
  }
}

}  // namespace

Index divide_by_air(const CountsToLines& how, std::span<const Range> margins, Image<float> y, Air* air,
                    Stream& stream) {
  note_launch("air");
  const CellTables tables(how, y, stream);
  const Count bad(stream);
  const Scratch<AirLine> lines(y.n0 * y.n1, queue(stream));
  average_air<<<grid_of(ceil_div<Index>(32 * y.n0 * y.n1, threads)), threads, 0, queue(stream)>>>(
      tables.cells, margins.front(), margins.size() > 1 ? margins.back() : Range{}, y, air, lines.data(),
      bad.data());
  after_launch();
  divide<<<blocks_of(y), threads, 0, queue(stream)>>>(lines.data(), y);
  after_launch();
  return bad.brought(stream);
}

CountsTally logarithms_of(const CountsToLines& how, const Air* air, bool mended, Image<float> y,
                          Stream& stream) {
  note_launch("logarithms");
  const CellTables tables(how, y, stream);
  Tally tally(stream);
  take_logarithms<<<blocks_of(y), threads, 0, queue(stream)>>>(tables.cells, air, y, tally.data());
  after_launch();
  if (!mended || how.filled.empty()) return tally.brought();
  note_launch("logarithms of filled cells");
  const Sent<FilledCell> filled(how.filled, stream);
  take_mended_logarithms<<<blocks_of(how.filled, y), threads, 0, queue(stream)>>>(
      tables.cells, air, filled.data(), std::ssize(how.filled), y, tally.data());
  after_launch();
  return tally.brought();
}

Index polynomial_of(const CountsToLines& how, std::span<const double> coefficients, double most,
                    Image<float> y, Stream& stream) {
  note_launch("polynomial");
  const CellTables tables(how, y, stream);
  const Sent<double> there(coefficients, stream);
  const Count above(stream);
  take_polynomial<<<blocks_of(y), threads, 0, queue(stream)>>>(
      tables.cells, there.data(), int_of(coefficients.size()), most, y, above.data());
  after_launch();
  return above.brought(stream);
}

}  // namespace tandem::kernels::cuda
