#pragma once

#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// How often an operator and its adjoint are applied.
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

/// What a solver keeps and costs. Each solver has it as `cost`.
struct SolverCost {
  int volumes,
      projections;  ///< the most vectors of A's domain and range that it holds, solution and data included
  Applications preparation, step, traces;  ///< `traces`: see TellsItsReach
  int volumes_a_step = 0;                  ///< what it holds more after each step
  Applications of_regulariser = {};        ///< of its K, in each step
};

}  // namespace tandem
