#pragma once

#include "../plan/problem.hpp"

namespace tandem::pipeline {

/// The equations with sqrt(W) x = 0 below them, so that least squares are those of Tikhonov, 1/2 |Ax - y|^2 +
/// 1/2 W |x|^2; as they are without a weight. Residuals are then those of both. Each of a solver's vectors of
/// data is longer by a volume (`Method::holds_with`). @throws GeometryError unless the weight is positive
Equations damped(Equations equations, const MethodOptions& options);

}  // namespace tandem::pipeline
