#pragma once

// The divisors of counts, cell by cell. A thread has one cell and goes through some views, so that dark, span
// and floor stay in registers if all views have the same flats.

#include <algorithm>

#include "../../counts.hpp"
#include "../common/batch.cuh"
#include "../common/sent.cuh"

namespace tandem::kernels::cuda {

constexpr int threads = 256, views_a_thread = 16;

struct Cells {
  Index rows, bins;
  int rows_together, bins_together;
  float share;                            ///< share of one pixel in its cell
  const float *dark, *spans, *variances;  ///< the last two: (set, row, bin)
  const FlatMix* mixes;                   ///< mix of each view; null: all take the only set
  const char* in_counts;
  double photons_a_count;
  float photons;  ///< in air, if data are line integrals; else 0
  bool flats, minus_log;
  float full;  ///< counts from which on a pixel is saturated; NaN: none is
  Range heeded;
  __device__ bool heeds(Index row) const { return heeded.first <= row && row < heeded.last; }
};

/// Floors as the bits of positive numbers, which are in the same order.
struct DeviceTally {
  unsigned long long repaired, saturated, floored, not_finite;
  unsigned lowest_floor, highest_floor;
};
constexpr DeviceTally nothing_met{0, 0, 0, 0, 0x7f800000u /* infinity */, 0};

struct Divisor {
  float span, floor;
};

__device__ inline Divisor divisor_of(const Cells& cells, Index view, Index cell, bool in_counts) {
  const FlatMix mix = cells.mixes ? cells.mixes[view] : FlatMix{};
  const Index set = cells.rows * cells.bins;
  const float first = cells.spans[mix.first * set + cell];
  const bool one = mix.is_one();
  const float span = one ? first : mix.span(first, cells.spans[mix.second * set + cell]);
  const bool good = one ? span != 0 : span > 0;
  return {span, good ? transmission_floor(span, 1, in_counts) : -INFINITY};
}

/// The same in a row that was divided by its air; `air`: null if it was not.
__device__ inline Divisor divisor_beside_air(const Cells& cells, const Air* air, Index view, Index row,
                                             Index bin) {
  Divisor by = divisor_of(cells, view, row * cells.bins + bin, cells.in_counts[row]);
  if (!air || by.span == 0) return by;
  const double mean = air[view * cells.rows + row].mean;
  by.floor = transmission_floor(by.span, mean, cells.flats ? cells.in_counts[row] : mean > counts_begin);
  return by;
}

/// Adds what a warp has met to the tally of all. Few warps meet anything new.
__device__ inline void add(DeviceTally* tally, const DeviceTally& met) {
  const auto sum = [](unsigned long long number, unsigned long long* all) {
    const unsigned warp = __reduce_add_sync(~0u, static_cast<unsigned>(number));
    if (warp > 0 && threadIdx.x % 32 == 0) atomicAdd(all, warp);
  };
  sum(met.repaired, &tally->repaired);
  sum(met.saturated, &tally->saturated);
  sum(met.floored, &tally->floored);
  sum(met.not_finite, &tally->not_finite);
  const unsigned lowest = __reduce_min_sync(~0u, met.lowest_floor),
                 highest = __reduce_max_sync(~0u, met.highest_floor);
  if (threadIdx.x % 32 != 0) return;
  if (lowest < tally->lowest_floor) atomicMin(&tally->lowest_floor, lowest);
  if (highest > tally->highest_floor) atomicMax(&tally->highest_floor, highest);
}

/// The logarithm of a transmission, and what is met on the way.
__device__ inline float line_integral(float transmission, float floor, DeviceTally& met) {
  met.floored += transmission < floor;
  met.lowest_floor = min(met.lowest_floor, __float_as_uint(floor));
  met.highest_floor = max(met.highest_floor, __float_as_uint(floor));
  return -logf(fmaxf(transmission, floor));
}

/// What counts of a tally: in a row that is not heeded, only what is not finite.
__device__ inline DeviceTally heeded(const Cells& cells, Index row, const DeviceTally& met) {
  if (cells.heeds(row)) return met;
  DeviceTally all = nothing_met;
  all.not_finite = met.not_finite;
  return all;
}

/// Numbers of sets of flats, one after the other.
class OfSets : public Scratch<float> {
 public:
  OfSets(const std::vector<std::span<const float>>& sets, const Stream& stream)
      : Scratch(sets.empty() ? 1 : sets.size() * sets.front().size(), queue(stream)) {
    float* to = data();
    for (const std::span<const float> set : sets) {
      tandem::cuda::send(stream.device().ordinal(), to, set.data(), set.size_bytes(), stream.native());
      to += set.size();
    }
  }
};

/// The tables of cells that a kernel needs, on the device.
class CellTables {
 public:
  CellTables(const CountsToLines& how, const Image<float>& y, const Stream& stream)
      : dark_(how.dark, stream),
        spans_(how.spans, stream),
        variances_(how.variances, stream),
        mixes_(how.mixes, stream),
        in_counts_(how.in_counts, stream) {
    const bool same = how.spans.size() == 1 && std::ranges::all_of(how.mixes, &FlatMix::is_one);
    cells = {y.n1,
             y.n2,
             int_of(how.rows_together),
             int_of(how.bins_together),
             1.0f / (how.rows_together * how.bins_together),
             dark_.data(),
             spans_.data(),
             variances_.data(),
             same ? nullptr : mixes_.data(),
             in_counts_.data(),
             how.photons_a_count,
             how.photons,
             how.flats,
             how.minus_log,
             how.full.value_or(NAN),
             how.heeded};
  }
  Cells cells;

 private:
  Sent<float> dark_;
  OfSets spans_, variances_;
  Sent<FlatMix> mixes_;
  Sent<char> in_counts_;
};

inline dim3 blocks_of(const Image<float>& y) {
  return grid_of(ceil_div<Index>(y.n2, threads), y.n1, ceil_div<Index>(y.n0, views_a_thread));
}

/// Blocks for filled cells and views.
inline dim3 blocks_of(std::span<const FilledCell> cells, const Image<float>& y) {
  return grid_of(ceil_div<Index>(std::ssize(cells), threads), std::min<Index>(y.n0, 65535));
}

class Tally {
 public:
  explicit Tally(const Stream& stream)
      : stream_(stream), there_(std::span<const DeviceTally>(&met_, 1), stream) {}
  DeviceTally* data() const { return there_.data(); }
  /// Brings the tally to the host. Waits.
  CountsTally brought() {
    bring(std::span(&met_, 1), there_, stream_);
    const auto number = [](unsigned bits) { return __builtin_bit_cast(float, bits); };
    CountsTally all{.lowest_floor = number(met_.lowest_floor), .highest_floor = number(met_.highest_floor)};
    all.repaired = met_.repaired, all.saturated = met_.saturated;
    all.floored = met_.floored, all.not_finite = met_.not_finite;
    return all;
  }

 private:
  const Stream& stream_;
  DeviceTally met_ = nothing_met;
  Sent<DeviceTally> there_;
};

}  // namespace tandem::kernels::cuda
