#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../core/public.hpp"
#include "run.hpp"
#include "state.hpp"
#include "stopping/cross_validation.hpp"

namespace TANDEM_PUBLIC tandem {

/// What solvers of a type tell beside their solution, by the concepts that this room has.
struct Tells {
  bool state = false;                                 ///< `ListsItsState`, as check-points need
  bool reach = false, residual = false, gap = false;  ///< as stopping rules need
  bool objective = false;                             ///< as curves need
};
template <IterativeSolver S>
constexpr Tells told_by{ListsItsState<S>, TellsItsReach<S>, ShowsItsResidual<S>, TellsItsGap<S>,
                        TellsItsObjective<S>};

/// A solver of any type, so that a table can make it.
class AnySolver {
 public:
  template <IterativeSolver S>
  explicit AnySolver(S made) {
    const auto owned = std::make_shared<S>(std::move(made));
    S* const solver = owned.get();
    owned_ = owned;
    step_ = [solver](const ActiveBlocks& active) { solver->step(active); };
    solution_ = [solver]() -> const Array& { return solver->solution(); };
    take_ = [solver] { return std::move(*solver).solution(); };
    residual_norms_ = [solver]() -> const std::vector<double>& { return solver->residual_norms(); };
    if constexpr (ShowsItsResidual<S>) residual_ = [solver] { return solver->residual(); };
    if constexpr (TellsItsReach<S>) {
      falls_ = [solver]() -> const std::vector<double>& { return solver->falls(); };
      traces_ = [solver] { return solver->traces(); };
    }
    if constexpr (ListsItsState<S>) state_ = [solver] { return solver->state(); };
    if constexpr (GrowsWithSteps<S>) make_room_ = [solver](int steps) { solver->make_room(steps); };
    if constexpr (TellsItsObjective<S>) objective_ = [solver] { return solver->objective(); };
    if constexpr (TellsItsGap<S>) gaps_ = [solver] { return solver->gaps(); };
  }
  AnySolver(AnySolver&&) = default;

  void step(const ActiveBlocks& active) {
    step_(active);
    if (follower_) follower_->step(active);
  }
  const Array& solution() const& { return solution_(); }
  Array solution() && { return take_(); }
  const std::vector<double>& residual_norms() const { return residual_norms_(); }

  /// The residual; null if the solver does not show it.
  const Array* residual() const { return residual_ ? residual_() : nullptr; }
  bool tells_its_reach() const { return traces_ != nullptr; }
  const std::vector<double>& falls() const {  ///< empty if the solver does not tell its reach
    static const std::vector<double> none;
    return falls_ ? falls_() : none;
  }
  std::vector<double> traces() { return traces_(); }  ///< @pre the solver tells its reach
  std::optional<SolverState> state();                 ///< empty if the solver does not list it
  void make_room(int steps) {                         ///< makes room for the state after so many steps
    if (make_room_) make_room_(steps);
    if (follower_) follower_->make_room(steps);
  }
  /// Takes a follower along, see Sums. The follower was made right after this solver, from these signs.
  void lead(AnySolver follower, Array signs) {
    follower_ = std::make_unique<AnySolver>(std::move(follower));
    signs_.emplace(std::move(signs));
  }
  std::vector<double> degrees_of_freedom() const {  ///< @pre there is a follower
    return tandem::degrees_of_freedom(*signs_, *follower_->residual());
  }
  std::vector<double> gaps() { return gaps_(); }  ///< @pre the solver tells its gap
  /// The objective, one value per block; empty if the solver does not tell it.
  std::vector<double> objective() { return objective_ ? objective_() : std::vector<double>(); }

 private:
  std::shared_ptr<void> owned_;  // the solver that the functions call
  std::function<void(const ActiveBlocks&)> step_;
  std::function<const Array&()> solution_;
  std::function<Array()> take_;
  std::function<const std::vector<double>&()> residual_norms_, falls_;
  std::function<const Array*()> residual_;
  std::function<std::vector<double>()> traces_, objective_, gaps_;
  std::function<SolverState()> state_;
  std::function<void(int)> make_room_;
  std::unique_ptr<AnySolver> follower_;
  std::optional<Array> signs_;
};

inline std::optional<SolverState> AnySolver::state() {
  if (!state_) return {};
  std::optional<SolverState> all = state_();
  if (!follower_) return all;
  SolverState of_follower = follower_->state().value();
  for (StatePart& part : of_follower) {
    part.name.insert(0, "follower's ");
    all->push_back(std::move(part));
  }
  return all;
}

}  // namespace tandem
