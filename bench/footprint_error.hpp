#pragma once

#include "../core/array.hpp"
#include "../geometry/views.hpp"

// How far applications of separable footprints are from their formula in double, relative L2 over some of the
// numbers. Volume x and projections q lie in host memory.

namespace tandem::bench {

/// x = At q, at random voxels and at the corners.
double footprint_backward_error(const ConeViews& n, ConstVectorView q, ConstVectorView x);

/// q = A x, at random cells.
double footprint_forward_error(const ConeViews& n, ConstVectorView x, ConstVectorView q);

}  // namespace tandem::bench
