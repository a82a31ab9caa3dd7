// Numbers that lie near each other in memory, for lanes that want one each (no include guard but Highway's
// own).
#if defined(TANDEM_KERNELS_CPU_NEAR_BY_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_KERNELS_CPU_NEAR_BY_INL_HPP_
#undef TANDEM_KERNELS_CPU_NEAR_BY_INL_HPP_
#else
#define TANDEM_KERNELS_CPU_NEAR_BY_INL_HPP_
#endif

#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Where the lanes of a vector find their numbers. If these lie within one or two vectors, lanes look them up
/// there, which is several times as fast as to gather them.
template <class D>
class NearBy {
 public:
  using DI = hn::RebindToSigned<D>;

  /// Places that grow or fall along the lanes.
  HWY_INLINE explicit NearBy(const int32_t* places)
      : first_(std::min(places[0], places[lanes() - 1])),
        apart_(std::max(places[0], places[lanes() - 1]) - first_),
        behind_(hn::Sub(hn::Load(DI(), places), hn::Set(DI(), first_))),
        in_vector_(hn::IndicesFromVec(D(), hn::And(behind_, hn::Set(DI(), lanes() - 1)))) {}

  /// row[place + behind] for each lane. Two vectors can be read from row + the lowest place + behind on.
  HWY_INLINE hn::Vec<D> at(const float* row, Index behind) const {
    const D d;
    const float* from = row + first_ + behind;
    if (apart_ >= 2 * lanes()) return hn::GatherIndex(d, from, behind_);
    const auto near = hn::LoadU(d, from);
    if (apart_ < lanes()) return hn::TableLookupLanes(near, in_vector_);
    const auto far = hn::LoadU(d, from + lanes());
#if HWY_TARGET <= HWY_AVX3
    static_assert(hn::MaxLanes(D()) == 16);
    return hn::Vec<D>{_mm512_permutex2var_ps(near.raw, behind_.raw, far.raw)};
#else
    return hn::IfThenElse(hn::RebindMask(d, hn::Lt(behind_, hn::Set(DI(), lanes()))),
                          hn::TableLookupLanes(near, in_vector_), hn::TableLookupLanes(far, in_vector_));
#endif
  }

 private:
  static HWY_INLINE int32_t lanes() { return static_cast<int32_t>(hn::Lanes(D())); }

  int32_t first_, apart_;
  hn::Vec<DI> behind_;
  decltype(hn::IndicesFromVec(D(), hn::Vec<DI>())) in_vector_;
};

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
