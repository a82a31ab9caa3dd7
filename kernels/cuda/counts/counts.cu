// From counts to line integrals. A thread has one cell and goes through some views, so that dark, span and
// floor stay in registers where all views have the same flats.

#include "../../counts.hpp"
#include "../../launches.hpp"

#include <algorithm>
#include <cstdint>

#include "../common/batch.cuh"
#include "../common/sent.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 256, views_a_thread = 16;

struct Cells {
  Index rows, bins;
  int rows_together, bins_together;
  float share;                         ///< of one pixel in its cell
  const float *dark, *spans, *floors;  ///< spans and floors: (set, row, bin)
  const FlatMix* mixes;                ///< of each view; null: all take the only set
  const char* in_counts;
  Range counted;
  bool minus_log;
  float full;
};

/// Floors as the bits of positive numbers, which are in the same order.
struct DeviceTally {
  unsigned long long saturated, floored, not_finite;
  unsigned lowest_floor, highest_floor;
};
constexpr DeviceTally nothing_met{0, 0, 0, 0x7f800000u /* infinity */, 0};

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

/// Not fused, as on the CPU.
__device__ inline float mixed(const FlatMix& mix, float first, float second) {
  return __fadd_rn(__fmul_rn(mix.of_first, first), __fmul_rn(mix.of_second, second));
}

struct Divisor {
  float span, floor;
};

__device__ inline Divisor divisor_of(const Cells& cells, Index view, Index cell, bool in_counts) {
  const FlatMix mix = cells.mixes ? cells.mixes[view] : FlatMix{};
  const Index set = cells.rows * cells.bins;
  const float first = cells.spans[mix.first * set + cell];
  if (mix.is_one()) return {first, cells.floors[mix.first * set + cell]};
  const float both = mixed(mix, first, cells.spans[mix.second * set + cell]);
  return {both, both > 0 ? transmission_floor(both, 1, in_counts) : -INFINITY};
}

/// What a warp has met goes to the tally of all. Few warps meet anything new.
__device__ inline void add(DeviceTally* tally, const DeviceTally& met) {
  const auto sum = [](unsigned long long number, unsigned long long* all) {
    const unsigned warp = __reduce_add_sync(~0u, static_cast<unsigned>(number));
    if (warp > 0 && threadIdx.x % 32 == 0) atomicAdd(all, warp);
  };
  sum(met.saturated, &tally->saturated);
  sum(met.floored, &tally->floored);
  sum(met.not_finite, &tally->not_finite);
  const unsigned lowest = __reduce_min_sync(~0u, met.lowest_floor),
                 highest = __reduce_max_sync(~0u, met.highest_floor);
  if (threadIdx.x % 32 != 0) return;
  if (lowest < tally->lowest_floor) atomicMin(&tally->lowest_floor, lowest);
  if (highest > tally->highest_floor) atomicMax(&tally->highest_floor, highest);
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
      if (cells.minus_log && by.span != 0) {
        met.floored += value < by.floor;
        met.lowest_floor = min(met.lowest_floor, __float_as_uint(by.floor));
        met.highest_floor = max(met.highest_floor, __float_as_uint(by.floor));
        value = -logf(fmaxf(value, by.floor));
      }
      met.not_finite += !isfinite(count) || !isfinite(value);
      element(y, view, row, bin) = value;
    }
  }
  if (row < cells.counted.first || row >= cells.counted.last)
    met = {0, 0, met.not_finite, nothing_met.lowest_floor, nothing_met.highest_floor};
  add(tally, met);
}

/// Grid: (cells, views).
__global__ void __launch_bounds__(threads)
    fill_cells(const FilledCell* __restrict__ cells, Index count, Image<float> y) {
  const Index i = static_cast<Index>(blockIdx.x) * threads + threadIdx.x, view = blockIdx.y;
  if (i >= count) return;
  const FilledCell at = cells[i];
  const float before = element(y, view, at.row, at.before), after = element(y, view, at.row, at.after);
  element(y, view, at.row, at.bin) = __fadd_rn(before, __fmul_rn(at.share, after - before));
}

template <class Use>
void with_pixels(PixelType type, const std::byte* counts, const Use& use) {
  switch (type) {
    case PixelType::uint8:
      return use(reinterpret_cast<const std::uint8_t*>(counts));
    case PixelType::uint16:
      return use(reinterpret_cast<const std::uint16_t*>(counts));
    case PixelType::uint32:
      return use(reinterpret_cast<const std::uint32_t*>(counts));
    case PixelType::float32:
      return use(reinterpret_cast<const float*>(counts));
  }
}

std::vector<float> joined(const std::vector<std::span<const float>>& sets) {
  std::vector<float> all;
  for (const auto& set : sets) all.insert(all.end(), set.begin(), set.end());
  return all;
}

CountsTally line_integrals_of(const CountsToLines& how, const std::byte* counts, Image<float> y,
                              Stream& stream) {
  note_launch("line integrals");
  const cudaStream_t s = queue(stream);
  const std::vector<float> all_spans = joined(how.spans), all_floors = joined(how.floors);
  const Sent<float> dark(how.dark, stream), spans(all_spans, stream), floors(all_floors, stream);
  const Sent<FlatMix> mixes(how.mixes, stream);
  const Sent<char> in_counts(how.in_counts, stream);
  const bool same = how.spans.size() == 1 && std::ranges::all_of(how.mixes, &FlatMix::is_one);
  const Cells cells{y.n1,
                    y.n2,
                    static_cast<int>(how.rows_together),
                    static_cast<int>(how.bins_together),
                    1.0f / static_cast<float>(how.rows_together * how.bins_together),
                    dark.data(),
                    spans.data(),
                    floors.data(),
                    same ? nullptr : mixes.data(),
                    in_counts.data(),
                    how.counted,
                    how.minus_log,
                    how.full};
  DeviceTally met = nothing_met;
  const Sent<DeviceTally> tally(std::span<const DeviceTally>(&met, 1), stream);
  const dim3 blocks(static_cast<unsigned>(ceil_div<Index>(y.n2, threads)), static_cast<unsigned>(y.n1),
                    static_cast<unsigned>(ceil_div<Index>(y.n0, views_a_thread)));
  with_pixels(how.type, counts, [&](const auto* pixels) {
    line_integrals<<<blocks, threads, 0, s>>>(cells, pixels, how.counts[2], how.counts[1] * how.counts[2], y,
                                              tally.data());
  });
  after_launch();
  if (!how.filled.empty()) {
    const Sent<FilledCell> filled(how.filled, stream);
    const auto count = static_cast<Index>(how.filled.size());
    fill_cells<<<dim3(static_cast<unsigned>(ceil_div<Index>(count, threads)), static_cast<unsigned>(y.n0)),
                 threads, 0, s>>>(filled.data(), count, y);
    after_launch();
  }
  bring(std::span(&met, 1), tally, stream);
  const auto number = [](unsigned bits) { return __builtin_bit_cast(float, bits); };
  return {static_cast<Index>(met.saturated),
          static_cast<Index>(met.floored),
          y.n0 * std::ranges::count_if(how.filled,
                                       [&](const FilledCell& cell) {
                                         return how.counted.first <= cell.row && cell.row < how.counted.last;
                                       }),
          static_cast<Index>(met.not_finite),
          number(met.lowest_floor),
          number(met.highest_floor)};
}

}  // namespace

const CountsKernels counts_kernels{line_integrals_of};

}  // namespace tandem::kernels::cuda
