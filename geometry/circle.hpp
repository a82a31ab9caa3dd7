#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tandem {

/// Angles modulo an arc, sorted: order[k] is the view that comes k-th, folded[k] its angle in [0, arc).
struct Circle {
  double arc;
  std::vector<double> folded;
  std::vector<std::size_t> order;

  Circle(std::span<const double> angles, double whole);
  /// From the k-th view to the next one, around the circle.
  double gap(std::size_t k) const;
};

}  // namespace tandem
