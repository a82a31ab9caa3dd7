#pragma once

#include "method.hpp"

namespace tandem::pipeline {

/// The equations with sqrt(W) x = 0 below them, so that least squares are those of Tikhonov, 1/2 |Ax - y|^2 +
/// 1/2 W |x|^2; as they are without a weight. Residuals are then those of both. Each of a solver's vectors of
/// data is longer by a volume (`Method::holds_with`). @throws GeometryError unless the weight is positive
Equations damped(Equations equations, const MethodOptions& options);

/// A solver of these equations.
template <class Solver>
AnySolver damped_solver(Equations equations, Array x0, const MethodOptions& options) {
  equations = damped(std::move(equations), options);
  return AnySolver(
      Solver(std::move(equations.A), std::move(equations.y), std::move(x0), std::move(equations.sums)));
}

}  // namespace tandem::pipeline
