// Pocketfft, with a vector of lanes in the place of a number. Its sources are read once for each set of
// instructions, as ours are, in a namespace of their own.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/fourier_transform.cpp"
#include <hwy/foreach_target.h>  // must come before the next

#include <hwy/highway.h>

// All that pocketfft includes: before the namespaces, and for the instructions that every machine has.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "dispatch.hpp"
#include "fourier_transform.hpp"
#include "scratch.hpp"

#define POCKETFFT_NO_MULTITHREADING
#undef POCKETFFT_HDRONLY_H

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// pocketfft takes memory for each transform. It finds these in the place of the C library's functions.
inline void* malloc(std::size_t bytes) { return take_scratch(bytes); }
inline void free(void* data) { give_scratch(data); }

#include <pocketfft_hdronly.h>

using Tag = hn::CappedTag<float, lanes>;

/// One number of each of so many lanes: halves, down to one register. Compilers take arrays of registers for
/// memory, and need a third longer for them.
template <Index of>
struct Lanes {
  Lanes<of / 2> low, high;

  friend HWY_INLINE Lanes operator+(const Lanes& a, const Lanes& b) {
    return {a.low + b.low, a.high + b.high};
  }
  friend HWY_INLINE Lanes operator-(const Lanes& a, const Lanes& b) {
    return {a.low - b.low, a.high - b.high};
  }
  friend HWY_INLINE Lanes operator*(const Lanes& a, float b) { return {a.low * b, a.high * b}; }
  Lanes operator+(float) const;  // pocketfft asks for its type, and never calls it
  friend HWY_INLINE Lanes operator*(float a, const Lanes& b) { return b * a; }
  HWY_INLINE Lanes operator-() const { return {-low, -high}; }
  HWY_INLINE Lanes& operator+=(const Lanes& b) { return *this = *this + b; }
  HWY_INLINE Lanes& operator-=(const Lanes& b) { return *this = *this - b; }
  HWY_INLINE Lanes& operator*=(float b) { return *this = *this * b; }
};

template <>
struct Lanes<hn::MaxLanes(Tag())> {
  hn::Vec<Tag> all;

  friend HWY_INLINE Lanes operator+(const Lanes& a, const Lanes& b) { return {hn::Add(a.all, b.all)}; }
  friend HWY_INLINE Lanes operator-(const Lanes& a, const Lanes& b) { return {hn::Sub(a.all, b.all)}; }
  friend HWY_INLINE Lanes operator*(const Lanes& a, float b) { return {hn::Mul(a.all, hn::Set(Tag(), b))}; }
  Lanes operator+(float) const;
  friend HWY_INLINE Lanes operator*(float a, const Lanes& b) { return b * a; }
  HWY_INLINE Lanes operator-() const { return {hn::Neg(all)}; }
  HWY_INLINE Lanes& operator+=(const Lanes& b) { return *this = *this + b; }
  HWY_INLINE Lanes& operator-=(const Lanes& b) { return *this = *this - b; }
  HWY_INLINE Lanes& operator*=(float b) { return *this = *this * b; }
};

using Numbers = Lanes<lanes>;

/// Plans live as long as the program, and longer than what its threads keep.
template <class Plan>
const Plan& plan_for(Index length) {
  static std::mutex mutex;
  static auto& made = *new std::map<Index, Plan>;
  const std::lock_guard lock(mutex);
  return made.try_emplace(length, length).first->second;
}

void Transform(float* lines, Index length, bool forward) {
  auto* numbers = reinterpret_cast<pocketfft::detail::cmplx<Numbers>*>(lines);
  plan_for<pocketfft::detail::pocketfft_c<float>>(length).exec(numbers, 1.0f, forward);
}

void TransformReal(float* lines, Index length, bool forward) {
  auto* numbers = reinterpret_cast<Numbers*>(lines);
  plan_for<pocketfft::detail::pocketfft_r<float>>(length).exec(numbers, 1.0f, forward);
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::kernels::cpu {

HWY_EXPORT(Transform);
HWY_EXPORT(TransformReal);

void transform(float* lines, Index length, Direction direction) {
  TANDEM_DISPATCH(Transform)(lines, length, direction == Direction::forward);
}

void transform_real(float* lines, Index length, Direction direction) {
  TANDEM_DISPATCH(TransformReal)(lines, length, direction == Direction::forward);
}

}  // namespace tandem::kernels::cpu
#endif  // HWY_ONCE
