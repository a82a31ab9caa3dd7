#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../../../core/host_device.hpp"
#include "../../parallel.hpp"
#include "launch.cuh"

namespace tandem::kernels::cuda {

/// Pixels that share one anchor position, as on the CPU: within a tile positions are float, between tiles
/// double, and every kernel computes a coefficient from the same numbers.
constexpr int tile = 16;

/// Image's own operator is the host's.
template <class T>
__device__ T& element(const Image<T>& image, Index i0, Index i1, Index i2) {
  return image.data[i0 * image.s0 + i1 * image.s1 + i2];
}

/// Whether lines begin at multiples of so many elements, and are multiples of it.
template <class T>
bool in_groups(const Image<T>& image, Index count) {
  const auto at = reinterpret_cast<std::uintptr_t>(image.data) / sizeof(float);
  return (at | image.n2 | image.s0 | image.s1) % count == 0;
}

/// `count0` entries from `first0` on along the first axis, `count1` from `first1` on along the second, as far
/// as there are any.
template <class T>
Image<T> part_of(Image<T> whole, Index first0, Index count0, Index first1, Index count1) {
  Image<T> part = whole;
  part.data = &whole(first0, first1, 0);
  part.n0 = std::min(count0, whole.n0 - first0);
  part.n1 = std::min(count1, whole.n1 - first1);
  return part;
}

/// out <- alpha value + beta out; beta = 0 never reads out.
struct Update {
  float alpha, beta;
  __device__ void operator()(float& out, float value) const {
    out = beta == 0 ? alpha * value : alpha * value + beta * out;
  }
  /// Neighbours in one transaction: out lies at a multiple of their size.
  __device__ void operator()(float2& out, float2 value) const {
    float2 now = beta == 0 ? float2{} : out;
    (*this)(now.x, value.x), (*this)(now.y, value.y);
    out = now;
  }
  __device__ void operator()(float4& out, float4 value) const {
    float4 now = beta == 0 ? float4{} : out;
    (*this)(now.x, value.x), (*this)(now.y, value.y), (*this)(now.z, value.z), (*this)(now.w, value.w);
    out = now;
  }
};

/// The place where a tile meets a view: pixel (dx, dy) of the tile lies at bin + offset + step_x dx + step_y
/// dy.
struct Anchor {
  int bin;
  float offset;
};

TANDEM_HOST_DEVICE inline Anchor anchor_at(const ParallelView& view, Index tile_x, Index tile_y) {
  const double anywhere = view.origin + view.step_x * (tile_x * tile) + view.step_y * (tile_y * tile);
  // far outside, all that matters is that it stays outside and an int
  const double position = fmin(fmax(anywhere, -1e9), 1e9), whole = floor(position);
  return {static_cast<int>(whole), static_cast<float>(position - whole)};
}

/// Position of a pixel in bins from the anchor's: the one formula of both directions.
__device__ inline float position_in(const Anchor& anchor, float step_x, float step_y, int dx, int dy) {
  return fmaf(step_x, dx, fmaf(step_y, dy, anchor.offset));
}

/// A position as a whole number of bins below it and the fraction above that: [0, 1], 1 where rounding to
/// even would have it so. Adding 1.5 * 2^23 rounds to whole numbers on the FMA pipe; floor and conversion
/// would take the slow one.
struct Split {
  int below;
  float fraction;
};

__device__ inline Split split(float position) {
  constexpr float shift = 12582912.0f;
  const float shifted = (position - 0.5f) + shift;
  return {__float_as_int(shifted) - __float_as_int(shift), position - (shifted - shift)};
}

/// The coefficient of tap t, which lies t bins above the one below.
__device__ inline float hat(float height, float slope, float fraction, float t) {
  return fmaxf(fmaf(-slope, fabsf(fraction - t), height), 0.0f);
}

}  // namespace tandem::kernels::cuda
