#pragma once

#include "../core/array.hpp"
#include "../geometry/views.hpp"

// Errors of separable footprints against their formula in double, as relative L2 over some of the numbers.
// Volume x and projections q lie in host memory.

namespace tandem::bench {

/// The error of x = At q, at random voxels and at the corners.
double footprint_backward_error(const ConeViews& n, ConstVectorView q, ConstVectorView x);

/// The error of q = A x, at random cells.
double footprint_forward_error(const ConeViews& n, ConstVectorView x, ConstVectorView q);

}  // namespace tandem::bench
