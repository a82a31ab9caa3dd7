// The places that passes of the hierarchical pair read along u and t. Positions come from double, a vector of
// them at a time: compilers make SIMD of these loops.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/hierarchical_places.cpp"
#include <hwy/foreach_target.h>  // must come before the next

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../core/rounding.hpp"
#include "column_tile.hpp"
#include "dispatch.hpp"
#include "hierarchical_passes.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The number of a plane's columns fits an int.
HWY_FLATTEN void AcrossPositions(const HierarchicalViews& n, const FrameTurn& turn,
                                 const DisparityPlane& plane, double* positions) {
  const int first = int_of(plane.columns.first), count = int_of(plane.columns.size());
  const Line u = plane.u;
  const double t = plane.t, axis = n.axis_column, step = n.step_u;
  for (int i = 0; i < count; ++i) positions[i] = axis + turn.u_of_child(u.at(first + i), t) / step;
}

HWY_FLATTEN void Factors(const HierarchicalViews& n, const FrameTurn& turn, const DisparityPlane& plane,
                         float* factors) {
  const int first = int_of(plane.columns.first), count = int_of(plane.columns.size());
  const Line u = plane.u;
  const double t = plane.t;
  const ViewWeight weight = n.view_weight();
  for (int i = 0; i < count; ++i)
    factors[i] = static_cast<float>(weight.at(turn.magnification(u.at(first + i), t)));
}

HWY_FLATTEN void AlongPositions(const FrameTurn& turn, Line u, Line planes, double last, double t, int first,
                                int count, double* positions) {
  for (int i = 0; i < count; ++i) {
    const double position = (turn.t_of_child(u.at(first + i), t) - planes.first) / planes.step;
    positions[i] = std::min(std::max(position, 0.0), last);
  }
}

/// `middle_distance` and `factors` fill whole vectors, as the places do.
HWY_FLATTEN void FindTaps(const Taps& taps, const double* positions, const float* factors, Index origin,
                          float* middle_distance, TapsAt& at) {
  const hn::CappedTag<float, rows_a_vector> d;
  const Index lanes = hn::Lanes(d);
  const int from = taps.first() - int_of(origin), count = int_of(at.count);
  std::int32_t* first = at.first.data();
  for (int i = 0; i < count; ++i) {
    const double whole = std::floor(positions[i]);
    first[i] = static_cast<std::int32_t>(whole) + from;
    middle_distance[i] = static_cast<float>(positions[i] - whole - 0.5);
  }
  for (Index begin = 0; begin < at.stride; begin += lanes) {
    const auto x = hn::LoadU(d, middle_distance + begin);
    const auto factor = factors ? hn::LoadU(d, factors + begin) : hn::Set(d, 1.0f);
    for (int k = 0; k < taps.count; ++k) {
      auto sum = hn::Set(d, taps.powers[powers_of_taps - 1][k]);
      for (int p = powers_of_taps - 2; p >= 0; --p) sum = hn::MulAdd(sum, x, hn::Set(d, taps.powers[p][k]));
      hn::StoreU(hn::Mul(sum, factor), d, at.weights.data() + k * at.stride + begin);
    }
  }
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::kernels::cpu {

HWY_EXPORT(AcrossPositions);
HWY_EXPORT(Factors);
HWY_EXPORT(AlongPositions);
HWY_EXPORT(FindTaps);

namespace {

thread_local std::vector<double> positions;
thread_local std::vector<float> factors, middle_distance;

void find_taps(const Taps& taps, Index count, Index origin, bool weighed, TapsAt& at) {
  at.count = count, at.stride = whole_vectors(count);
  at.first.resize(count);
  middle_distance.resize(at.stride);
  at.weights.resize(at.stride * taps.count);
  TANDEM_DISPATCH(FindTaps)
  (taps, positions.data(), weighed ? factors.data() : nullptr, origin, middle_distance.data(), at);
}

}  // namespace

void find_across(const HierarchicalViews& n, const FrameTurn& turn, bool is_view, const DisparityPlane& plane,
                 Index origin, TapsAt& at) {
  const std::size_t count = plane.columns.size();
  positions.resize(count), factors.resize(whole_vectors(plane.columns.size()));
  TANDEM_DISPATCH(AcrossPositions)(n, turn, plane, positions.data());
  if (is_view) TANDEM_DISPATCH(Factors)(n, turn, plane, factors.data());
  find_taps(is_view ? n.of_views : n.across, plane.columns.size(), origin, is_view, at);
}

void find_along(const HierarchicalViews& n, const FrameTurn& turn, const ViewGroup& child, double t,
                Range columns, TapsAt& at) {
  positions.resize(columns.size());
  // linear weights reach one plane beyond
  const double last = child.turned.size() - 1 - (child.is_view() ? 1e-9 : 0);
  TANDEM_DISPATCH(AlongPositions)
  (turn, n.columns(), child.t, last, t, int_of(columns.first), int_of(columns.size()), positions.data());
  find_taps(n.along_t(child), columns.size(), 0, false, at);
}

}  // namespace tandem::kernels::cpu
#endif  // HWY_ONCE
