#pragma once

// Sums of weights times numbers of many slices, on tensor cores.
//
// A warp sums over items, 8 at a time, for some places (8 times `columns`) and for 16 slices at a time: items
// are samples and places are cells. Lane l = 4 g + t has slices 2 g and 2 g + 1 of items t and t + 4, and of
// places 2 t and 2 t + 1 of every eight. The product of two floats is that of their first 11 bits and two
// corrections, so what is left out is 2^-20 of it at most. Tensor cores round sums towards zero. So each
// product of matrices begins at zero, and is then added in float.

#include "../common/ampere.cuh"
#include "tables.hpp"

namespace tandem::kernels::cuda {

/// A lane in the order of tensor cores.
struct ProductLane {
  int g, t;
  __device__ explicit ProductLane(int lane) : g(lane / 4), t(lane % 4) {}
};

constexpr int slices_at_once = 16;

/// A float as its first 11 bits and the rest. The mask comes from outside, so that the compiler keeps the
/// masked number in the register where a product wants it. It would take the whole number and move it there.
struct FirstBits {
  unsigned mask = 0xffffe000u;
  __device__ float operator()(float value) const { return __uint_as_float(__float_as_uint(value) & mask); }
};

/// Weights of items t and t + 4 at place g of every eight.
template <int columns>
struct Weights {
  float high[columns][2], low[columns][2];
  __device__ void set(int column, int item, float weight) {
    high[column][item] = FirstBits{}(weight), low[column][item] = weight - high[column][item];
  }
};

/// A lane's part of the sums of 16 slices.
template <int columns>
struct Sums {
  float of[2][columns][4];

  /// Slices 2 g and 2 g + 1 of place 2 t + `odd` of one eight.
  __device__ float4 at(int column, int odd) const {
    return {of[0][column][odd], of[0][column][2 + odd], of[1][column][odd], of[1][column][2 + odd]};
  }
  /// Adds items t (a) and t + 4 (b).
  __device__ void add(const float4& a, const float4& b, const Weights<columns>& weights,
                      FirstBits first_bits) {
    const float value[2][4] = {{a.x, a.y, b.x, b.y}, {a.z, a.w, b.z, b.w}};
    float high[2][4], low[2][4], part[2][columns][4] = {};
#pragma unroll
    for (int s = 0; s < 2; ++s)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        high[s][i] = first_bits(value[s][i]), low[s][i] = value[s][i] - high[s][i];
      }
    const auto each = [&](const auto& body) {
#pragma unroll
      for (int s = 0; s < 2; ++s)
#pragma unroll
        for (int c = 0; c < columns; ++c) body(s, c);
    };
    each([&](int s, int c) { multiply(part[s][c], low[s], weights.high[c]); });
    each([&](int s, int c) { multiply(part[s][c], high[s], weights.low[c]); });
    each([&](int s, int c) { multiply(part[s][c], high[s], weights.high[c]); });
#pragma unroll
    for (int s = 0; s < 2; ++s)
#pragma unroll
      for (int c = 0; c < columns; ++c)
#pragma unroll
        for (int i = 0; i < 4; ++i) of[s][c][i] += part[s][c][i];
  }
};

/// Slices of this warp: `sixteens` times 16, from the first of its block of threads on.
template <int sixteens>
struct WarpSlices {
  static constexpr int pairs = 8 * sixteens;
  int all;    ///< pairs of slices of a sample or a cell
  int first;  ///< pair
  __device__ explicit WarpSlices(int lanes) : all(lanes / 2), first(own_block_y() * pairs) {}
  __device__ int stride() const { return sixteens == 4 ? pairs : all; }
  __device__ bool has(int pair) const { return sixteens == 4 || first + pair < all; }
};

/// The numbers of eight items on their way into shared memory, and of the eight before. Rows are so long that
/// the four items of a product lie in different banks.
template <int sixteens>
struct Staged {
  static constexpr int pairs = 8 * sixteens, items_at_once = 32 / pairs;
  float4 of[2][8][pairs + 2];

  /// Items first .. first + 7; place(i) is that of item i.
  template <class Place>
  __device__ void begin(int first, int lane, const float4* numbers, const WarpSlices<sixteens>& slices,
                        const Place& place) {
    const int pair = lane % pairs, there = min(slices.first + pair, slices.all - 1);
#pragma unroll
    for (int i = lane / pairs; i < 8; i += items_at_once)
      begin_cached_copy(shared_address(&of[first / 8 % 2][i][pair]),
                        numbers + Index{place(first + i)} * slices.stride() + there);
  }
  /// Bit i of `which` is for item first + i.
  __device__ void conjugate(int first, unsigned which, int lane) {
    for (int i = 0; i < 8; ++i) {
      float4& value = of[first / 8 % 2][i][lane % pairs];
      if (lane < pairs && which >> i & 1) value = {value.x, -value.y, value.z, -value.w};
    }
    __syncwarp();
  }
};

/// Adds weights times numbers of all items, in whole eights. `items` has count(), place(i) of an item, the
/// weights of eight, and bits that say which of them are conjugate; prepare(i) comes before any of these from
/// i on.
template <int columns, int sixteens, class Items>
__device__ void add_items(Items& items, const float4* numbers, const WarpSlices<sixteens>& slices,
                          Staged<sixteens>& staged, Sums<columns> (&sums)[sixteens]) {
  const int lane = items.lane, count = items.count();
  const ProductLane at(lane);
  const auto begin = [&](int first) {
    staged.begin(first, lane, numbers, slices, [&](int i) { return items.place(i); });
  };
  if (count == 0) return;
  items.prepare(0);
  begin(0);
  for (int i = 0; i < count; i += 8) {
    const bool more = i + 8 < count;
    if (more) items.prepare(i + 8);
    const Weights<columns> weights = items.weights(i, at);
    wait_copies();
    __syncwarp();
    if (more) begin(i + 8);
    if (const unsigned conjugates = items.conjugates(i)) staged.conjugate(i, conjugates, lane);
    const auto& row = staged.of[i / 8 % 2];
#pragma unroll
    for (int q = 0; q < sixteens; ++q)
      sums[q].add(row[at.t][8 * q + at.g], row[at.t + 4][8 * q + at.g], weights, items.first_bits);
  }
}

/// How many sixteens of slices a warp has: all 64, or one.
template <class Body>
void with_sixteens(int lanes, const Body& body) {
  if (lanes == 4 * slices_at_once) return body(std::integral_constant<int, 4>());
  body(std::integral_constant<int, 1>());
}
inline int blocks_of_slices(int lanes, int sixteens) { return ceil_div(lanes, sixteens * slices_at_once); }

}  // namespace tandem::kernels::cuda
