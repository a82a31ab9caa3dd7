#include "../logarithm.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/logarithm.cpp"
#include <hwy/foreach_target.h>  // must come before the next

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;

/// One vector of elements.
HWY_INLINE Index take_logarithm(float* y, const float* floor) {
  const Tag d;
  const auto value = hn::LoadU(d, y), least = hn::LoadU(d, floor);
  const auto below = hn::Lt(value, least);
  const auto raised = hn::IfThenElse(below, least, value);
  // the logarithm itself takes every pattern of bits for a finite number
  const auto finite = hn::Lt(raised, hn::Set(d, std::numeric_limits<float>::infinity()));
  hn::StoreU(hn::IfThenElse(finite, hn::Neg(hn::Log(d, raised)), raised), d, y);
  return hn::CountTrue(d, below);
}

Index TakeLogarithms(std::span<float> y, std::span<const float> floor) {
  const std::size_t lanes = hn::Lanes(Tag()), whole = y.size() / lanes * lanes, rest = y.size() - whole;
  Index below = 0;
  for (std::size_t i = 0; i < whole; i += lanes) below += take_logarithm(&y[i], &floor[i]);
  if (rest == 0) return below;
  HWY_ALIGN float last[HWY_MAX_BYTES / sizeof(float)] = {}, floors[HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy_n(&y[whole], rest, last);
  std::copy_n(&floor[whole], rest, floors);
  below += take_logarithm(last, floors);
  std::copy_n(last, rest, &y[whole]);
  return below;
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::kernels {

namespace cpu {
HWY_EXPORT(TakeLogarithms);
}

Index take_logarithms(std::span<float> y, std::span<const float> floor) {
  using namespace cpu;
  return TANDEM_DISPATCH(TakeLogarithms)(y, floor);
}

}  // namespace tandem::kernels
#endif  // HWY_ONCE
