#pragma once

#include "method.hpp"

namespace tandem::pipeline {

/// The equations with sqrt(W) x = 0 added, whose least squares minimise 1/2 |Ax - y|^2 + 1/2 W |x|^2
/// (Tikhonov); or the same equations, if there is no weight. Residuals include the added equations. Each data
/// vector of a solver becomes longer by a volume (`Method::holds_with`). @throws GeometryError unless the
/// weight is positive
Equations damped(Equations equations, const MethodOptions& options);

/// A solver of the damped equations.
template <class Solver>
AnySolver damped_solver(Equations equations, Array x0, const MethodOptions& options) {
  equations = damped(std::move(equations), options);
  return AnySolver(
      Solver(std::move(equations.A), std::move(equations.y), std::move(x0), std::move(equations.sums)));
}

}  // namespace tandem::pipeline
