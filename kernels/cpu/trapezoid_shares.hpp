#pragma once

// The shares of cells under a trapezoid of area 1, in double, with their derivatives.

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../core/rounding.hpp"
#include "../../core/space.hpp"

namespace tandem::kernels::cpu {

/// A share, or its derivatives by the place of the trapezoid, by its longer side and by the width of its
/// flanks.
struct Share {
  double value = 0, by_place = 0, by_side = 0, by_flank = 0;
  friend Share operator-(const Share& a, const Share& b) {
    return {a.value - b.value, a.by_place - b.by_place, a.by_side - b.by_side, a.by_flank - b.by_flank};
  }
};

/// The area of a trapezoid below the distance u from its middle.
inline Share area_below(double u, double side, double flank) {
  const double end = 0.5 * (side + flank), level = 0.5 * (side - flank);
  if (u <= -end) return {};
  if (u >= end) return {1, 0, 0, 0};
  if (std::abs(u) <= level) return {0.5 + u / side, -1 / side, -u / (side * side), 0};
  const double within = end - std::abs(u), height = within / (side * flank), area = 0.5 * within * height,
               by_side = 0.5 * height - area / side, by_flank = 0.5 * height - area / flank;
  if (u < 0) return {area, -height, by_side, by_flank};
  return {1 - area, -height, -by_side, -by_flank};
}

/// All cells that a trapezoid meets.
class TrapezoidShares {
 public:
  /// Cells outside of 0 ... count - 1 are left out.
  void cast(double place, double side, double flank, Index count) {
    const double reach = 0.5 * (side + flank) + 0.5;
    first_ = ceil_index(std::max(0.0, place - reach));
    const auto last = floor_index(std::min(count - 1.0, place + reach));
    cells_.clear();
    if (last < first_) return;
    const auto below = [&](Index cell) { return area_below(cell - 0.5 - place, side, flank); };
    Share before = below(first_);
    for (Index cell = first_; cell <= last; ++cell) {
      const Share next = below(cell + 1);
      cells_.push_back(next - before);
      before = next;
    }
  }
  Index first() const { return first_; }
  const std::vector<Share>& cells() const { return cells_; }

 private:
  Index first_ = 0;
  std::vector<Share> cells_;
};

}  // namespace tandem::kernels::cpu
