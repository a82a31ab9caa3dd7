#pragma once

#include <concepts>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// Whether each block (Space::block_count) still moves. A block that has stopped keeps its solution, so that
/// the result for a slice does not depend on the slices beside it.
using ActiveBlocks = std::vector<bool>;

/// A solver is a state that can make a step. The loop, the stop and the progress are in `run`.
template <class S>
concept IterativeSolver = requires(S solver, const S seen, const ActiveBlocks& active) {
  solver.step(active);
  { seen.solution() } -> std::same_as<const Array&>;
  {
    seen.residual_norms()
    } -> std::same_as<const std::vector<double>&>;  // |b - Ax| of the solution, one per block
};

/// A solver whose residual is a polynomial p in A M At, with p(0) = 1, applied to the first residual, and
/// that can tell what noise does to it. Let g = -p'(0) be the reach. Then a component with eigenvalue s is
/// fitted to at most the share g s, and the solution has taken up at most g trace(A M At) degrees of freedom.
template <class S>
concept TellsItsReach = IterativeSolver<S> && requires(S solver, const S seen) {
  {
    seen.falls()
    } -> std::same_as<const std::vector<double>&>;           // fall of |b - Ax|^2 per unit of reach and block
  { solver.traces() } -> std::same_as<std::vector<double>>;  // trace of A M At; before the first step
};

/// A solver that has the vector b - Ax of its solution at hand between steps.
template <class S>
concept ShowsItsResidual = IterativeSolver<S> && requires(const S seen) {
  { seen.residual() } -> std::same_as<const Array*>;  // a vector in range(); null if there is none
};

/// A solver that can tell the objective of its solution, at some cost.
template <class S>
concept TellsItsObjective = IterativeSolver<S> && requires(S solver) {
  { solver.objective() } -> std::same_as<std::vector<double>>;  // one per block
};

/// A solver that can tell how far the objective of its solution is above the minimum, at some cost.
template <class S>
concept TellsItsGap = IterativeSolver<S> && requires(S solver) {
  { solver.gaps() } -> std::same_as<std::vector<double>>;  // shares of the objective, one per block
};

/// A solver that estimates how far its solution is from the end.
template <class S>
concept TellsItsEnd = IterativeSolver<S> && requires(S solver) {
  { solver.distances() } -> std::same_as<std::vector<double>>;  // over the way until now, one per block
};

/// Data that a solver keeps: a copy of them, or the data themselves if the caller gives them up.
struct Data {
  Array own;
  Data(const Array& data) : own(data.clone()) {}
  Data(Array&& data) : own(std::move(data)) {}
};

/// The part that most solvers have in common: A, which is a LinearOperator or Subsets, the solution x, and |b
/// - Ax| of each block.
template <class Operator>
class SolverBase {
 public:
  const Array& solution() const& { return x_; }
  Array solution() && { return std::move(x_); }
  const std::vector<double>& residual_norms() const { return residual_norms_; }

 protected:
  SolverBase(Operator A, Array x0)
      : A_(std::move(A)), stream_(default_stream(A_.domain().device())), x_(std::move(x0)) {}

  Operator A_;
  Stream& stream_;
  Array x_;
  std::vector<double> residual_norms_;
};

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
  int volumes_for_bounds = 0;              ///< volumes that it holds besides, if there are bounds
  int volumes_for_levels = 0;              ///< the same for levels
};

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

/// The source of the sums that decide the lengths of a solver's steps. A solver computes its own sums, or
/// follows: then it takes those of another solver. So a follower makes the same steps from other data, and
/// its residual is the same polynomial p(A At) of these data.
class Sums {
 public:
  Sums() = default;  ///< sums that are computed
  /// A pair: the first computes sums and passes them on, and the second takes them in the same order. So make
  /// the second solver, and each of its steps, right after the first one.
  static std::pair<Sums, Sums> leader_and_follower();
  std::vector<double> dot(ConstVectorView a, ConstVectorView b, Stream& stream);
  std::vector<double> norm(ConstVectorView a, Stream& stream);

 private:
  std::vector<double> passed(std::vector<double> (*sums)(ConstVectorView, ConstVectorView, Stream&),
                             ConstVectorView a, ConstVectorView b, Stream& stream);

  std::shared_ptr<std::deque<std::vector<double>>> passed_;  // null for a solver alone
  bool follows_ = false;
};

/// An estimate of the degrees of freedom t = trace(1 - p(A At)) of each block, from one vector of signs.
/// `left`: the residual of a follower that started with the signs. Source: Hutchinson 1990.
std::vector<double> degrees_of_freedom(const Array& signs, const Array& left);

}  // namespace tandem
