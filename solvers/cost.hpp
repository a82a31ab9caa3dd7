#pragma once

#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// How often an operator is applied, and its adjoint.
struct Applications {
  int forward = 0, adjoint = 0;
  constexpr int together() const { return forward + adjoint; }
};

/// What a solver keeps and costs. Each solver says it of itself, as `cost`.
struct SolverCost {
  int volumes, projections;  ///< vectors of A's domain and of its range at the most, with solution and data
  Applications preparation, step, traces;  ///< `traces`: see TellsItsReach
};

}  // namespace tandem
