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

// What pocketfft finds in the place of those of the C library: it takes memory for each transform.
inline void* malloc(std::size_t bytes) { return take_scratch(bytes); }
inline void free(void* data) { give_scratch(data); }

#include <pocketfft_hdronly.h>

/// One number of each lane.
struct Numbers {
  using Tag = hn::CappedTag<float, lanes>;
  static constexpr int count = static_cast<int>(static_cast<std::size_t>(lanes) / hn::MaxLanes(Tag()));
  hn::Vec<Tag> part[count];

  template <class Of>
  static HWY_INLINE Numbers each(const Of& of) {
    Numbers all;
    for (int k = 0; k < count; ++k) all.part[k] = of(k);
    return all;
  }
  friend HWY_INLINE Numbers operator+(const Numbers& a, const Numbers& b) {
    return each([&](int k) HWY_ATTR { return hn::Add(a.part[k], b.part[k]); });
  }
  friend HWY_INLINE Numbers operator-(const Numbers& a, const Numbers& b) {
    return each([&](int k) HWY_ATTR { return hn::Sub(a.part[k], b.part[k]); });
  }
  friend HWY_INLINE Numbers operator*(const Numbers& a, float b) {
    return each([&](int k) HWY_ATTR { return hn::Mul(a.part[k], hn::Set(Tag(), b)); });
  }
  friend Numbers operator+(const Numbers&, float);  // pocketfft asks for its type, and never calls it
  friend HWY_INLINE Numbers operator*(float a, const Numbers& b) { return b * a; }
  HWY_INLINE Numbers operator-() const {
    return each([&](int k) HWY_ATTR { return hn::Neg(part[k]); });
  }
  HWY_INLINE Numbers& operator+=(const Numbers& b) { return *this = *this + b; }
  HWY_INLINE Numbers& operator-=(const Numbers& b) { return *this = *this - b; }
  HWY_INLINE Numbers& operator*=(float b) { return *this = *this * b; }
};

/// Plans live as long as the program, and longer than what its threads keep.
template <class Plan>
const Plan& plan_for(Index length) {
  static std::mutex mutex;
  static auto& made = *new std::map<Index, Plan>;
  const std::lock_guard lock(mutex);
  return made.try_emplace(length, static_cast<std::size_t>(length)).first->second;
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
