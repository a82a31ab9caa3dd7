#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "../plane.hpp"

namespace tandem::pipeline::stripes {

/// A stripe of several columns, and what it adds to each of them in all views.
struct WideStripe {
  Range bins;
  std::vector<double> constants;
  double spread = 0;  ///< over the views, around the constants: how well they are known

  double mean() const;
};

/// Some columns as line integrals, (bin, view).
using ColumnsAt = std::function<Plane(Range bins)>;

/// Wide stripes beyond doubt: columns between a jump and the opposite jump, both the same in all views and
/// far above what is usual between columns. `jumps`: medians of the differences between neighbours. A vessel
/// around the axis has such jumps too. But either a search from the other end finds other pairs, or there is
/// the same pair on the other side: such pairs are left alone. So is what lies around the axis, if it is
/// known.
std::vector<WideStripe> wide_stripes(std::span<const float> jumps, const ColumnsAt& columns,
                                     std::optional<double> axis);

}  // namespace tandem::pipeline::stripes
