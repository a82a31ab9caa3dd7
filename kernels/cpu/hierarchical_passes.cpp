// The passes of the hierarchical pair. Along t and u, rows are SIMD lanes and all of them have the same
// weights. Along v, lanes are neighbouring rows of the result, and weights are polynomials. If there is one
// row, lanes are neighbouring columns.
//
// Rows are taken 16 at a time, from a position in double, so that numbers do not depend on the width of
// vectors.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/hierarchical_passes.cpp"
#include <hwy/foreach_target.h>  // must come before the next

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "dispatch.hpp"
#include "hierarchical_passes.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, rows_a_vector>;
using One = hn::CappedTag<float, 1>;  // for one row
using DI = hn::RebindToSigned<D>;

// ---- along u and t: rows are lanes

template <int taps, class Lanes, class At>
HWY_INLINE void mix_rows(Lanes d, const float* const* from, const At& weight, Index rows, bool add,
                         float* to) {
  const Index lanes = hn::Lanes(d);
  hn::Vec<Lanes> w[taps];
  for (int k = 0; k < taps; ++k) w[k] = hn::Set(d, weight(k));
  for (Index row = 0; row < rows; row += lanes) {
    auto sum = add ? hn::LoadU(d, to + row) : hn::Zero(d);
    for (int k = 0; k < taps; ++k) sum = hn::MulAdd(w[k], hn::LoadU(d, from[k] + row), sum);
    hn::StoreU(sum, d, to + row);
  }
}

template <int taps, class Lanes, class At>
HWY_INLINE void spread_rows(Lanes d, float* const* to, const At& weight, Index rows, const float* from) {
  const Index lanes = hn::Lanes(d);
  hn::Vec<Lanes> w[taps];
  for (int k = 0; k < taps; ++k) w[k] = hn::Set(d, weight(k));
  for (Index row = 0; row < rows; row += lanes) {
    const auto value = hn::LoadU(d, from + row);
    for (int k = 0; k < taps; ++k)
      hn::StoreU(hn::MulAdd(w[k], value, hn::LoadU(d, to[k] + row)), d, to[k] + row);
  }
}

template <int taps, class Lanes>
HWY_INLINE void mix_columns_of(Lanes d, const TapsAt& at, Index rows, ConstColumns from, Columns to) {
  for (Index i = 0; i < at.count; ++i) {
    const float* column[taps];
    for (int k = 0; k < taps; ++k) column[k] = from.data + (at.first[i] + k) * from.stride;
    mix_rows<taps>(
        d, column, [&](int k) { return at.weight(k, i); }, rows, true, to.data + i * to.stride);
  }
}

template <int taps, class Lanes>
HWY_INLINE void spread_columns_of(Lanes d, const TapsAt& at, Index rows, ConstColumns to, Columns from) {
  for (Index i = 0; i < at.count; ++i) {
    float* column[taps];
    for (int k = 0; k < taps; ++k) column[k] = from.data + (at.first[i] + k) * from.stride;
    spread_rows<taps>(
        d, column, [&](int k) { return at.weight(k, i); }, rows, to.data + i * to.stride);
  }
}

template <int taps, class Lanes>
HWY_INLINE void mix_planes_of(Lanes d, const TapsAt& at, Index rows, const ConstColumns* planes, Columns to) {
  for (Index i = 0; i < at.count; ++i) {
    const float* column[taps];
    for (int k = 0; k < taps; ++k) {
      const ConstColumns& plane = planes[at.first[i] + k];
      column[k] = plane.data + i * plane.stride;
    }
    mix_rows<taps>(
        d, column, [&](int k) { return at.weight(k, i); }, rows, false, to.data + i * to.stride);
  }
}

template <int taps, class Lanes>
HWY_INLINE void spread_planes_of(Lanes d, const TapsAt& at, Index rows, ConstColumns to,
                                 const Columns* planes) {
  for (Index i = 0; i < at.count; ++i) {
    float* column[taps];
    for (int k = 0; k < taps; ++k) {
      const Columns& plane = planes[at.first[i] + k];
      column[k] = plane.data + i * plane.stride;
    }
    spread_rows<taps>(
        d, column, [&](int k) { return at.weight(k, i); }, rows, to.data + i * to.stride);
  }
}

// ---- one row: columns are lanes, as far as they fill vectors

template <int taps>
HWY_INLINE void mix_flat(const TapsAt& at, const float* from, float* to) {
  const D d;
  const DI di;
  const Index lanes = hn::Lanes(d), whole = at.count / lanes * lanes;
  for (Index i = 0; i < whole; i += lanes) {
    const auto first = hn::LoadU(di, at.first.data() + i);
    auto sum = hn::LoadU(d, to + i);
    for (int k = 0; k < taps; ++k)
      sum = hn::MulAdd(hn::LoadU(d, at.weights.data() + k * at.stride + i),
                       hn::GatherIndex(d, from + k, first), sum);
    hn::StoreU(sum, d, to + i);
  }
  const One one;
  for (Index i = whole; i < at.count; ++i) {
    auto sum = hn::LoadU(one, to + i);
    for (int k = 0; k < taps; ++k)
      sum = hn::MulAdd(hn::Set(one, at.weight(k, i)), hn::LoadU(one, from + at.first[i] + k), sum);
    hn::StoreU(sum, one, to + i);
  }
}

// ---- along v: neighbouring rows are lanes

/// 16 rows of the result.
struct Segment {
  Index first;  ///< whole number before the position of its first row
  float rest, step;
  Segment(Line rows, Index segment) {
    const double position = rows.at(segment * rows_a_vector), whole = std::floor(position);
    first = static_cast<Index>(whole);
    rest = static_cast<float>(position - whole), step = static_cast<float>(rows.step);
  }
  /// Whether it reads anything of `count` numbers.
  bool meets(Index count) const {
    const auto reach = static_cast<Index>(step * rows_a_vector) + 1;
    return first + reach + most_taps > 0 && first - most_taps < count;
  }
};

/// The largest step for which the lanes of a vector begin in two vectors.
constexpr float widest_step = 1.9f;

/// Lanes of a segment from `lane` on: whole and fractional parts of their positions.
struct SegmentLanes {
  hn::Vec<DI> index;
  hn::Vec<D> middle_distance;
  HWY_INLINE SegmentLanes(const Segment& segment, Index lane) {
    const D d;
    const auto place = hn::Add(hn::Set(d, segment.rest),
                               hn::Mul(hn::Set(d, segment.step), hn::Iota(d, static_cast<float>(lane))));
    index = hn::ConvertTo(DI(), place);
    middle_distance = hn::Sub(hn::Sub(place, hn::ConvertTo(d, index)), hn::Set(d, 0.5f));
  }
  template <int taps>
  HWY_INLINE void weigh(const Taps& of, hn::Vec<D>* weights) const {
    const D d;
    for (int k = 0; k < taps; ++k) {
      auto sum = hn::Set(d, of.powers[powers_of_taps - 1][k]);
      for (int p = powers_of_taps - 2; p >= 0; --p)
        sum = hn::MulAdd(sum, middle_distance, hn::Set(d, of.powers[p][k]));
      weights[k] = sum;
    }
  }
};

/// Looks numbers up, lane by lane, in the two vectors from a place on.
template <bool gathered>
struct LookUp {
  hn::Vec<DI> index;
  const float* from;
  decltype(hn::IndicesFromVec(D(), hn::Zero(DI()))) in_vector = hn::IndicesFromVec(D(), hn::Zero(DI()));
  hn::Mask<D> before = hn::Eq(hn::Zero(D()), hn::Zero(D()));

  HWY_INLINE LookUp(hn::Vec<DI> places, const float* numbers) : index(places), from(numbers) {
    if constexpr (!gathered) {
      const DI di;
      const auto lanes = static_cast<std::int32_t>(hn::Lanes(di));
      const std::int32_t least = hn::GetLane(places);
      from += least;
      index = hn::Sub(places, hn::Set(di, least));
      in_vector = hn::IndicesFromVec(D(), hn::And(index, hn::Set(di, lanes - 1)));
      before = hn::RebindMask(D(), hn::Lt(index, hn::Set(di, lanes)));
    }
  }
  HWY_INLINE hn::Vec<D> at(int k) const {
    const D d;
    if constexpr (gathered) return hn::GatherIndex(d, from + k, index);
    const auto near_by = hn::TableLookupLanes(hn::LoadU(d, from + k), in_vector),
               beyond = hn::TableLookupLanes(hn::LoadU(d, from + k + hn::Lanes(d)), in_vector);
    return hn::IfThenElse(before, near_by, beyond);
  }
};

template <int taps, bool gathered>
HWY_INLINE void resample_segment(const Taps& of, const Segment& segment, const float* from, Index many,
                                 float* to) {
  const D d;
  const Index lanes = hn::Lanes(d);
  for (Index lane = 0; lane < many; lane += lanes) {
    const SegmentLanes place(segment, lane);
    hn::Vec<D> weights[taps];
    place.weigh<taps>(of, weights);
    const LookUp<gathered> numbers(place.index, from + segment.first + of.first());
    auto sum = hn::Mul(weights[0], numbers.at(0));
    for (int k = 1; k < taps; ++k) sum = hn::MulAdd(weights[k], numbers.at(k), sum);
    if (lane + lanes <= many) {
      hn::StoreU(hn::Add(hn::LoadU(d, to + lane), sum), d, to + lane);
    } else {
      HWY_ALIGN float last[rows_a_vector];
      hn::Store(sum, d, last);
      for (Index i = lane; i < many; ++i) to[i] += last[i - lane];
    }
  }
}

template <int taps>
HWY_INLINE void spread_segment(const Taps& of, const Segment& segment, float* from, Index many,
                               const float* to) {
  const D d;
  const Index lanes = hn::Lanes(d);
  HWY_ALIGN float weights[taps][rows_a_vector];
  HWY_ALIGN std::int32_t index[rows_a_vector];
  for (Index lane = 0; lane < rows_a_vector; lane += lanes) {
    const SegmentLanes place(segment, lane);
    hn::Vec<D> w[taps];
    place.weigh<taps>(of, w);
    for (int k = 0; k < taps; ++k) hn::Store(w[k], d, weights[k] + lane);
    hn::Store(place.index, DI(), index + lane);
  }
  for (Index i = 0; i < many; ++i) {
    float* at = from + segment.first + of.first() + index[i];
    for (int k = 0; k < taps; ++k) at[k] += weights[k][i] * to[i];
  }
}

template <class Use>
HWY_INLINE void for_segments(Line rows, Index count, Index many, const Use& use) {
  for (Index segment = 0; segment * rows_a_vector < many; ++segment) {
    const Segment one(rows, segment);
    if (one.meets(count))
      use(one, segment * rows_a_vector, std::min(rows_a_vector, many - segment * rows_a_vector));
  }
}

template <int count>
HWY_INLINE void resample_with(const Taps& taps, Line rows, const float* padded, Index numbers, float* to,
                              Index many) {
  for_segments(rows, numbers, many, [&](const Segment& segment, Index first, Index some) {
    if (segment.step < widest_step)
      resample_segment<count, false>(taps, segment, padded, some, to + first);
    else
      resample_segment<count, true>(taps, segment, padded, some, to + first);
  });
}

template <int count>
HWY_INLINE void spread_with(const Taps& taps, Line rows, float* padded, Index numbers, const float* to,
                            Index many) {
  for_segments(rows, numbers, many, [&](const Segment& segment, Index first, Index some) {
    spread_segment<count>(taps, segment, padded, some, to + first);
  });
}

void Resample(const Taps& taps, Line rows, const float* padded, Index count, float* to, Index many) {
  if (taps.count == 6) resample_with<6>(taps, rows, padded, count, to, many);
  if (taps.count == 8) resample_with<8>(taps, rows, padded, count, to, many);
  if (taps.count == 12) resample_with<12>(taps, rows, padded, count, to, many);
}

void SpreadSamples(const Taps& taps, Line rows, float* padded, Index count, const float* to, Index many) {
  if (taps.count == 6) spread_with<6>(taps, rows, padded, count, to, many);
  if (taps.count == 8) spread_with<8>(taps, rows, padded, count, to, many);
  if (taps.count == 12) spread_with<12>(taps, rows, padded, count, to, many);
}

/// use(tag of the lanes, constant) with the number of taps.
template <class Use>
HWY_INLINE void with_taps(int taps, Index rows, const Use& use) {
  const auto lanes = [&](auto count) { rows == 1 ? use(One(), count) : use(D(), count); };
  if (taps == 2) lanes(std::integral_constant<int, 2>{});
  if (taps == 6) lanes(std::integral_constant<int, 6>{});
  if (taps == 8) lanes(std::integral_constant<int, 8>{});
  if (taps == 12) lanes(std::integral_constant<int, 12>{});
}

void MixColumns(const TapsAt& at, int taps, Index rows, ConstColumns from, Columns to) {
  with_taps(taps, rows, [&](auto d, auto count) {
    if (rows == 1)
      mix_flat<count()>(at, from.data, to.data);
    else
      mix_columns_of<count()>(d, at, rows, from, to);
  });
}

void SpreadColumns(const TapsAt& at, int taps, Index rows, ConstColumns to, Columns from) {
  with_taps(taps, rows, [&](auto d, auto count) { spread_columns_of<count()>(d, at, rows, to, from); });
}

void MixPlanes(const TapsAt& at, int taps, Index rows, const ConstColumns* planes, Columns to) {
  with_taps(taps, rows, [&](auto d, auto count) { mix_planes_of<count()>(d, at, rows, planes, to); });
}

void SpreadPlanes(const TapsAt& at, int taps, Index rows, ConstColumns to, const Columns* planes) {
  with_taps(taps, rows, [&](auto d, auto count) { spread_planes_of<count()>(d, at, rows, to, planes); });
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::kernels::cpu {

HWY_EXPORT(MixColumns);
HWY_EXPORT(SpreadColumns);
HWY_EXPORT(MixPlanes);
HWY_EXPORT(SpreadPlanes);
HWY_EXPORT(Resample);
HWY_EXPORT(SpreadSamples);

namespace {

constexpr Index margin = 80;  // zeros before and behind what segments read, whose steps are at most 3

/// Numbers between zeros.
std::vector<float>& padded_of(Index count) {
  thread_local std::vector<float> padded;
  padded.assign(count + 2 * margin, 0.0f);
  return padded;
}

}  // namespace

void mix_columns(const TapsAt& at, int taps, Index rows, ConstColumns from, Columns to) {
  TANDEM_DISPATCH(MixColumns)(at, taps, rows, from, to);
}
void spread_columns(const TapsAt& at, int taps, Index rows, ConstColumns to, Columns from) {
  TANDEM_DISPATCH(SpreadColumns)(at, taps, rows, to, from);
}
void mix_planes(const TapsAt& at, int taps, Index rows, const std::vector<ConstColumns>& planes, Columns to) {
  TANDEM_DISPATCH(MixPlanes)(at, taps, rows, planes.data(), to);
}
void spread_planes(const TapsAt& at, int taps, Index rows, ConstColumns to,
                   const std::vector<Columns>& planes) {
  TANDEM_DISPATCH(SpreadPlanes)(at, taps, rows, to, planes.data());
}

void resample(const Taps& taps, Line rows, const float* from, Index count, float* to, Index many) {
  std::vector<float>& padded = padded_of(count);
  std::copy_n(from, count, padded.data() + margin);
  TANDEM_DISPATCH(Resample)(taps, rows, padded.data() + margin, count, to, many);
}

void spread_samples(const Taps& taps, Line rows, float* from, Index count, const float* to, Index many) {
  std::vector<float>& padded = padded_of(count);
  TANDEM_DISPATCH(SpreadSamples)(taps, rows, padded.data() + margin, count, to, many);
  for (Index i = 0; i < count; ++i) from[i] += padded[i + margin];
}

}  // namespace tandem::kernels::cpu
#endif  // HWY_ONCE
