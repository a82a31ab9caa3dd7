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
#include <cstdlib>

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The numbers that the lanes of a vector find in a row. If their places lie within one or two vectors, lanes
/// look them up there, which is faster than to gather them, on many processors several times.
template <class D>
class NearBy {
 public:
  using DI = hn::RebindToSigned<D>;

  /// `places` grow or fall along the lanes. From the lowest one on, the row can be read two vectors and
  /// `most` numbers far.
  HWY_INLINE NearBy(const float* row, const int32_t* places, int32_t most)
      : first_(std::min(places[0], places[lanes() - 1])),
        apart_(std::abs(places[lanes() - 1] - places[0])),
        row_(row + first_),
        behind_(hn::Sub(hn::Load(DI(), places), hn::Set(DI(), first_))) {
#if HWY_TARGET <= HWY_AVX3
    static_assert(hn::MaxLanes(D()) == 16);
    low_ = hn::LoadU(D(), row_), high_ = hn::LoadU(D(), row_ + lanes());
    in_two_ = apart_ + most < 2 * lanes();
#else
    (void)most;
#endif
  }

  /// row[place + behind] for each lane, with behind <= most.
  HWY_INLINE hn::Vec<D> at(Index behind) const {
    const D d;
#if HWY_TARGET <= HWY_AVX3
    const auto index = hn::Add(behind_, hn::Set(DI(), static_cast<int32_t>(behind)));
    if (in_two_) return hn::Vec<D>{_mm512_permutex2var_ps(low_.raw, index.raw, high_.raw)};
    return hn::GatherIndex(d, row_, index);
#else
    const float* from = row_ + behind;
    if (apart_ >= 2 * lanes()) return hn::GatherIndex(d, from, behind_);
    const auto in_vector = hn::IndicesFromVec(d, hn::And(behind_, hn::Set(DI(), lanes() - 1)));
    const auto near = hn::TableLookupLanes(hn::LoadU(d, from), in_vector);
    if (apart_ < lanes()) return near;
    const auto far = hn::TableLookupLanes(hn::LoadU(d, from + lanes()), in_vector);
    return hn::IfThenElse(hn::RebindMask(d, hn::Lt(behind_, hn::Set(DI(), lanes()))), near, far);
#endif
  }

 private:
  static HWY_INLINE int32_t lanes() { return static_cast<int32_t>(hn::Lanes(D())); }

  int32_t first_, apart_;
  const float* row_;
  hn::Vec<DI> behind_;
#if HWY_TARGET <= HWY_AVX3
  hn::Vec<D> low_, high_;
  bool in_two_;
#endif
};

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
