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

/// The memory and the work of a solver, whose member `cost` this is.
struct SolverCost {
  /// The most vectors that it holds: volumes, with the solution, and projections of all views, with the data.
  int volumes, projections;
  Applications preparation, step, traces;  ///< `traces`: see TellsItsReach
  int volumes_a_step = 0;                  ///< volumes by which its memory grows in each step
  Applications of_regulariser = {};        ///< applications of the regulariser's operator in each step
};

}  // namespace tandem
