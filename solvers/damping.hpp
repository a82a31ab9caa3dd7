#pragma once

#include "../operators/linear_operator.hpp"

namespace tandem {

/// Adds sqrt(W) x = 0 to A x = b, whose least squares then minimise 1/2 |Ax - b|^2 + 1/2 W |x|^2 (Tikhonov).
/// Residuals include the added equations, and each data vector of a solver becomes longer by a volume.
/// @throws GeometryError unless the weight is positive
void damp(LinearOperator& A, Array& b, float weight);

}  // namespace tandem
