#pragma once

#include <concepts>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// A vector or some numbers that a solver carries from one step to the next, by a name of its own.
struct StatePart {
  std::string name;
  std::variant<VectorView, std::span<double>> value;
};

/// All that steps change and later steps or `solution` read, as views of the solver's members. What the
/// constructor prepares, and scratch, is left out. Whoever makes the same solver again and copies these
/// values into it goes on with the same bits. The views hold until the next step.
using SolverState = std::vector<StatePart>;

/// A solver that lists its state, so that a check-point can keep it.
template <class S>
concept ListsItsState = requires(S solver) {
  { solver.state() } -> std::same_as<SolverState>;
};

}  // namespace tandem
