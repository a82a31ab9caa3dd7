#pragma once

// Used only within operators/.

#include <array>

#include "../../core/comm.hpp"
#include "../linear_operator.hpp"

namespace tandem {

/// The gradient of a volume that ranks cut along y. Portions follow one another in the order of ranks, and
/// only the last ranks may have none. The difference between two strips needs the first line of the next
/// strip, which its rank sends. The adjoint needs the last difference of the strip before. All ranks apply it
/// together.
LinearOperator rank_gradient(const Comm& ranks, const Space& strip, std::array<float, 3> scales, float shear);

}  // namespace tandem
