#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tandem {

/// Angles modulo an arc, sorted. order[k] is the k-th view in that order, and folded[k] is its angle in [0,
/// arc), rad.
struct Circle {
  double arc;
  std::vector<double> folded;
  std::vector<std::size_t> order;

  Circle(std::span<const double> angles, double whole);
  /// The angle from the k-th view to the next one, around the circle, rad.
  double gap(std::size_t k) const;
};

}  // namespace tandem
