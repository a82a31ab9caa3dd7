#pragma once

#include "../../solvers/solver_kind.hpp"
#include "method.hpp"

namespace tandem::pipeline {

/// The method that runs solvers of a kind, with all that the kind says about itself.
Method method_of(const SolverKind& kind);

}  // namespace tandem::pipeline
