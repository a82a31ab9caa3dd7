#pragma once

#include <cmath>
#include <vector>

#include "../core/array.hpp"
#include "../core/parallel.hpp"
#include "../geometry/views.hpp"

// Errors of separable footprints against their formula in double, as relative L2 over some of the numbers.
// Volume x and projections q lie in host memory.

namespace tandem::bench {

/// Relative L2 error of `count` numbers. `pair` gives each of them and its true value.
template <class Pair>
double sampled_error(Index count, const Pair& pair) {
  std::vector<double> difference(count), size(difference);
  parallel_for(count, [&](Index k) {
    const auto [got, truth] = pair(k);
    difference[k] = std::pow(got - truth, 2);
    size[k] = truth * truth;
  });
  double over = 0, under = 0;
  for (double d : difference) over += d;
  for (double s : size) under += s;
  return std::sqrt(over / under);
}

/// The error of x = At q, at random voxels and at the corners.
double footprint_backward_error(const ConeViews& n, ConstVectorView q, ConstVectorView x);

/// The error of q = A x, at random cells.
double footprint_forward_error(const ConeViews& n, ConstVectorView x, ConstVectorView q);

}  // namespace tandem::bench
