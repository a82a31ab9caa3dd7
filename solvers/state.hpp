#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// A vector, or some numbers as bytes, that a solver carries from one step to the next, with a name.
struct StatePart {
  std::string name;
  std::variant<VectorView, std::span<std::byte>> value;

  StatePart(std::string its_name, VectorView vector) : name(std::move(its_name)), value(vector) {}
  StatePart(std::string its_name, Array& vector) : StatePart(std::move(its_name), VectorView(vector)) {}
  template <class T>
  requires std::is_trivially_copyable_v<T> StatePart(std::string its_name, std::span<T> numbers)
      : name(std::move(its_name)), value(std::as_writable_bytes(numbers)) {}
  template <class T>
  StatePart(std::string its_name, std::vector<T>& numbers)
      : StatePart(std::move(its_name), std::span(numbers)) {}
};

/// All that steps change and that later steps or `solution` read, as views of the solver's members. Scratch,
/// and what the constructor prepares, are left out. If one makes the same solver again and copies these
/// values into it, it goes on with the same bits. The views are valid until the next step.
using SolverState = std::vector<StatePart>;

/// A solver that lists its state, so that a check-point can keep it.
template <class S>
concept ListsItsState = requires(S solver) {
  { solver.state() } -> std::same_as<SolverState>;
};

/// A solver that keeps more with each step. It must make room for a state before the state can be copied into
/// it.
template <class S>
concept GrowsWithSteps = ListsItsState<S> && requires(S solver, int steps) {
  solver.make_room(steps);
};

}  // namespace tandem
