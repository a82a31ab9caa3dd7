#pragma once

#include <span>
#include <vector>

#include "../geometry/scan.hpp"

namespace tandem::pipeline {

/// How far opposite views of a row differ. Both are mean squares.
struct OppositeViews {
  std::vector<double> squares;  ///< sums over each of four quarters of the bins that both views see
  std::vector<double> counts;   ///< how many bins these are
  bool any() const { return !counts.empty(); }
};

/// Compares each view of a parallel beam with the one half a turn later, mirrored about the axis, linearly
/// between bins. `sinogram`: (view, bin). A view counts as opposite if it is no farther off than views lie
/// apart; there is none if views cover less than half a turn.
OppositeViews opposite_views_of(std::span<const float> sinogram, const Scan& scan);

}  // namespace tandem::pipeline
