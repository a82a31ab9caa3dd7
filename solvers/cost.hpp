#pragma once

#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// The numbers of applications of an operator and of its adjoint.
struct Applications {
  int forward = 0, adjoint = 0;
  constexpr int together() const { return forward + adjoint; }
};
constexpr Applications operator+(Applications a, Applications b) {
  return {a.forward + b.forward, a.adjoint + b.adjoint};
}
constexpr Applications operator*(int times, Applications some) {
  return {times * some.forward, times * some.adjoint};
}

/// The memory and the work of a solver. Each solver has it as `cost`.
struct SolverCost {
  /// The most vectors of A's domain, and of its range, that it holds, with solution and data.
  int volumes, projections;
  Applications preparation, step, traces;  ///< `traces`: see TellsItsReach
  int volumes_a_step = 0;                  ///< vectors that it holds more after each step
  Applications of_regulariser = {};        ///< applications of the regulariser's K in each step
};

}  // namespace tandem
