#include "half.hpp"

#include <bit>

namespace tandem::io {

namespace {

// The exponent e is stored as 127 + e in a float, and as 15 + e in a half. A float has 13 more bits of
// fraction.
constexpr int shift = 13;
constexpr std::uint32_t rebias = (127 - 15) << 23, sign_bit = 0x80000000, infinite = 0x7f800000;

/// The half nearest to a float. It selects instead of branching, so that the loops become SIMD.
std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t size = bits & ~sign_bit, sign = (bits & sign_bit) >> 16;
  const std::uint32_t odd = size >> shift & 1;
  const std::uint32_t normal = (size - rebias + 0xfff + odd) >> shift;
  // below 2^-14 halves are multiples of 2^-24; floats from 0.5 to 1 are too, so the addition of 0.5 rounds
  const std::uint32_t tiny =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - std::bit_cast<std::uint32_t>(0.5f);
  const std::uint32_t finite = size < (127 - 14) << 23 ? tiny : normal;
  const std::uint32_t beyond = size > infinite ? 0x7e00 : 0x7c00;
  return static_cast<std::uint16_t>(sign | (size >= 0x477ff000 ? beyond : finite));  // 65520
}

float float_of(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, size = half & 0x7fffu;
  const std::uint32_t normal = (size << shift) + rebias;
  const std::uint32_t beyond = (size << shift) | infinite;
  const float tiny = static_cast<int>(size) * 0x1p-24f;
  const std::uint32_t finite = size < 0x400 ? std::bit_cast<std::uint32_t>(tiny) : normal;
  return std::bit_cast<float>(sign | (size >= 0x7c00 ? beyond : finite));
}

}  // namespace

void halves_of(const float* in, Index count, std::uint16_t* out) {
  for (Index i = 0; i < count; ++i) out[i] = half_of(in[i]);
}

void floats_of(const std::uint16_t* in, Index count, float* out) {
  for (Index i = 0; i < count; ++i) out[i] = float_of(in[i]);
}

}  // namespace tandem::io
