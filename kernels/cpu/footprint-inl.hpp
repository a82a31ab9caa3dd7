// Separable footprints in vector form, once for every SIMD target (no include guard but Highway's own).
#if defined(TANDEM_KERNELS_CPU_FOOTPRINT_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_KERNELS_CPU_FOOTPRINT_INL_HPP_
#undef TANDEM_KERNELS_CPU_FOOTPRINT_INL_HPP_
#else
#define TANDEM_KERNELS_CPU_FOOTPRINT_INL_HPP_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <vector>

#include "../footprint.hpp"
#include "column_tile.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int edge = column_tile;  // columns that are seen together

/// Neighbouring columns of a line of voxels in a view. The arithmetic is footprint.hpp's: compilers make SIMD
/// of these loops, a column a lane.
class Shadows {
 public:
  HWY_FLATTEN void cast(const ConeView& view, Range x, Index iy, Index all_bins) {
    const double first = x.first, last = x.last - 1, y = iy;
    for (int k = 0; k < edge; ++k) {
      const Trapezoid<double> t = trapezoid_of(view, std::min(first + k, last), y);
      for (int c = 0; c < 4; ++c) corners_[c][k] = t.corners[c];
      height_[k] = t.height, rise_[k] = t.rise, fall_[k] = t.fall;
      const Column along = column_at(view, t.distance);
      first_[k] = along.first, step_[k] = along.step, inverse_[k] = 1 / along.step;
    }
    most_ = 0;
    for (int k = 0; k < edge; ++k) {
      bins_[k] = cells_between(corners_[0][k], corners_[3][k], all_bins);
      most_ = std::max(most_, bins_[k].size());
      bin_[k] = bins_[k].first;
    }
    if (std::ssize(weights_) < most_ * edge) weights_.resize(most_ * edge);
    for (Index b = 0; b < most_; ++b) weigh(b, weights_.data() + b * edge);
  }

  Range bins(int k) const { return bins_[k]; }
  Index most_bins() const { return most_; }  ///< the most bins that a column meets
  /// Weights of column k: of bin bins(k).first, then of each next bin `edge` numbers further on.
  const float* weights(int k) const { return weights_.data() + k; }
  Column along(int k) const { return {first_[k], step_[k]}; }
  double inverse_step(int k) const { return inverse_[k]; }

 private:
  HWY_FLATTEN void weigh(double bin, float* weights) const {
    for (int k = 0; k < edge; ++k) {
      const Trapezoid<double> t{{corners_[0][k], corners_[1][k], corners_[2][k], corners_[3][k]},
                                height_[k],
                                rise_[k],
                                fall_[k],
                                0};
      weights[k] = static_cast<float>(mean_around(t, bin_[k] + bin));
    }
  }

  double corners_[4][edge], height_[edge], rise_[edge], fall_[edge], bin_[edge];
  double first_[edge], step_[edge], inverse_[edge];
  Range bins_[edge];
  std::vector<float> weights_;
  Index most_ = 0;
};

/// Intervals side by side, each `width` wide, the first from `first` on: voxels on the cells of a column of
/// rows, or rows on the cells of a column of voxels. F2 is the part of a cell that an interval has.
struct Intervals {
  double first, width;
};

constexpr int widest_interval = 4;  // cells; wider ones are summed interval by interval

/// Positions within a vector of intervals are fixed-point numbers, of so many bits after the point; before it
/// there is room for all cells of intervals up to `wide` cells wide. Differences are exact.
constexpr int fraction_bits(int wide) { return wide <= 2 ? 26 : 25; }

/// The multiples of step from first step on, rounded each.
template <class DI>
HWY_INLINE hn::Vec<DI> multiples(DI d, Index first, double step) {
  constexpr int more = 16;
  const double whole = std::floor(step), rest = (step - whole) * (1 << more);
  const auto lane = hn::Iota(d, static_cast<int32_t>(first));
  const auto parts = hn::Mul(lane, hn::Set(d, static_cast<int32_t>(rest)));
  return hn::Add(hn::Mul(lane, hn::Set(d, static_cast<int32_t>(whole))),
                 hn::ShiftRight<more>(hn::Add(parts, hn::Set(d, 1 << (more - 1)))));
}

/// The sum over the cells of an interval, look(0), look(1), ..., each times the part of the cell that the
/// interval has. `past`: the part of the first cell before the interval. The interval is more than wide - 1
/// cells wide, and at most `wide`. All parts are in units of which a cell has `one`; so the rest of a cell
/// keeps its digits, however little it is.
template <int wide, class D, class DI = hn::RebindToSigned<D>, class Look>
HWY_INLINE hn::Vec<D> covered(D d, int32_t width, int32_t one, hn::Vec<DI> past, const Look& look) {
  const DI di;
  const auto unit = hn::Set(di, one), zero = hn::Zero(di);
  auto left = hn::Add(past, hn::Set(di, width - one));  // behind the first cell
  const auto first = wide == 1 ? hn::Sub(hn::Set(di, width), hn::Max(left, zero)) : hn::Sub(unit, past);
  auto sum = hn::Mul(hn::ConvertTo(d, first), look(0));
  for (int o = 1; o <= wide; ++o) {
    const auto part = o < wide ? hn::Min(left, unit) : hn::Max(left, zero);
    sum = hn::MulAdd(hn::ConvertTo(d, part), look(o), sum);
    left = hn::Sub(left, unit);
  }
  return sum;
}

/// Integrals over intervals k to k + Lanes(d) of a profile that is constant in each cell. A vector of
/// intervals begins in the cells of `wide` vectors, which lanes are looked up in. Positions are those in the
/// widest vector, so that they do not depend on the instructions.
template <int wide, class D>
HWY_INLINE hn::Vec<D> integrals(D d, const Intervals& on, Index k, const float* profile) {
  const hn::RebindToSigned<D> di;
  constexpr int bits = fraction_bits(wide);
  constexpr double one = 1 << bits;
  const Index within = k % widest_vector;
  const double from = on.first + on.width * (k - within), cell = std::floor(from);
  const float* p = profile + static_cast<Index>(cell);
  // the first is cut, not rounded: none may seem to begin in a cell too far
  auto at =
      hn::Add(hn::Set(di, static_cast<int32_t>((from - cell) * one)), multiples(di, within, on.width * one));
  if constexpr (hn::MaxLanes(D()) < widest_vector) {  // counted from the cell where this vector begins
    const int32_t cells = hn::GetLane(at) >> bits;
    p += cells;
    at = hn::Sub(at, hn::Set(di, cells << bits));
  }
  const auto index = hn::ShiftRight<bits>(at);
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto in_vector = hn::IndicesFromVec(d, hn::And(index, hn::Set(di, lanes - 1)));
  const auto look = [&](int o) {
    auto value = hn::TableLookupLanes(hn::LoadU(d, p + o), in_vector);
    for (int v = 1; v < wide; ++v) {
      const auto before = hn::RebindMask(d, hn::Lt(index, hn::Set(di, v * lanes)));
      value = hn::IfThenElse(before, value, hn::TableLookupLanes(hn::LoadU(d, p + o + v * lanes), in_vector));
    }
    return value;
  };
  const auto sum = covered<wide>(d, static_cast<int32_t>(std::lround(on.width * one)), 1 << bits,
                                 hn::And(at, hn::Set(di, (1 << bits) - 1)), look);
  return hn::Mul(sum, hn::Set(d, 1.0f / (1 << bits)));
}

/// The integral over one interval, however wide, as far as it lies in these cells.
inline float integral(const Intervals& on, Index k, Range cells, const float* profile) {
  const double low = cells.first, high = cells.last;
  const auto cut = [&](double position) { return std::min(std::max(position, low), high); };
  const double from = cut(on.first + on.width * k), to = cut(on.first + on.width * (k + 1));
  const auto first = static_cast<Index>(from), last = static_cast<Index>(to);
  if (first == last) return static_cast<float>(to - from) * profile[first];
  float sum = static_cast<float>(first + 1 - from) * profile[first];
  for (Index cell = first + 1; cell < last; ++cell) sum += profile[cell];
  return last < cells.last ? sum + static_cast<float>(to - last) * profile[last] : sum;
}

/// Calls use(k, integrals) for the vectors that hold intervals [which.first, which.last), from a multiple of
/// their length on. The profile can be read, as zeros, `profile_margin` cells beyond `cells`.
template <int wide = 1, class D, class Use>
HWY_INLINE void for_integrals(D d, const Intervals& on, Range which, Range cells, const float* profile,
                              const Use& use) {
  const Index lanes = hn::Lanes(d), first = which.first / lanes * lanes;
  if constexpr (wide > widest_interval) {
    HWY_ALIGN float one_by_one[widest_vector];
    for (Index k = first; k < which.last; k += lanes) {
      for (Index l = 0; l < lanes; ++l) one_by_one[l] = integral(on, k + l, cells, profile);
      use(k, hn::Load(d, one_by_one));
    }
  } else {
    if (on.width > wide) return for_integrals<wide + 1>(d, on, which, cells, profile, use);
    for (Index k = first; k < which.last; k += lanes) use(k, integrals<wide>(d, on, k, profile));
  }
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
