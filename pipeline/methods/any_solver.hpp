#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../../solvers/run.hpp"
#include "../../solvers/state.hpp"
#include "../../solvers/stopping/cross_validation.hpp"

namespace tandem::pipeline {

/// A solver of any type, so that a table can make it.
class AnySolver {
 public:
  template <IterativeSolver S>
  explicit AnySolver(S solver) : self_(std::make_unique<Of<S>>(std::move(solver))) {}

  void step(const ActiveBlocks& active) {
    self_->step(active);
    if (follower_) follower_->step(active);
  }
  const Array& solution() const& { return self_->solution(); }
  Array solution() && { return self_->taken(); }
  const std::vector<double>& residual_norms() const { return self_->residual_norms(); }

  const Array* residual() const { return self_->residual(); }  ///< null if the solver does not show it
  bool tells_its_reach() const { return self_->tells_its_reach(); }
  const std::vector<double>& falls() const {
    return self_->falls();
  }                                                         ///< empty if the solver does not tell its reach
  std::vector<double> traces() { return self_->traces(); }  ///< @pre the solver tells its reach
  std::optional<SolverState> state();                       ///< empty if the solver does not list it
  void make_room(int steps) {                               ///< for the state after so many steps
    self_->make_room(steps);
    if (follower_) follower_->make_room(steps);
  }
  /// Takes a follower along, which was made right after this one, from signs: see Sums.
  void lead(AnySolver follower, Array signs) {
    follower_ = std::move(follower.self_);
    signs_.emplace(std::move(signs));
  }
  std::vector<double> degrees_of_freedom() const {  ///< @pre there is a follower
    return tandem::degrees_of_freedom(*signs_, *follower_->residual());
  }
  std::vector<double> gaps() { return self_->gaps(); }  ///< @pre the solver tells its gap
  /// What it minimises, one per block; empty if the solver does not tell.
  std::vector<double> objective() { return self_->objective(); }

 private:
  struct Concept {
    virtual ~Concept() = default;
    virtual void step(const ActiveBlocks& active) = 0;
    virtual const Array& solution() const = 0;
    virtual Array taken() = 0;
    virtual const std::vector<double>& residual_norms() const = 0;
    virtual const Array* residual() const = 0;
    virtual bool tells_its_reach() const = 0;
    virtual const std::vector<double>& falls() const = 0;
    virtual std::vector<double> traces() = 0;
    virtual std::optional<SolverState> state() = 0;
    virtual void make_room(int steps) = 0;
    virtual std::vector<double> objective() = 0;
    virtual std::vector<double> gaps() = 0;
  };

  template <class S>
  struct Of final : Concept {
    explicit Of(S s) : solver(std::move(s)) {}
    void step(const ActiveBlocks& active) override { solver.step(active); }
    const Array& solution() const override { return solver.solution(); }
    Array taken() override { return std::move(solver).solution(); }
    const std::vector<double>& residual_norms() const override { return solver.residual_norms(); }
    const Array* residual() const override {
      if constexpr (ShowsItsResidual<S>)
        return solver.residual();
      else
        return nullptr;
    }
    bool tells_its_reach() const override { return TellsItsReach<S>; }
    const std::vector<double>& falls() const override {
      if constexpr (TellsItsReach<S>)
        return solver.falls();
      else
        return no_falls;
    }
    std::vector<double> traces() override {
      if constexpr (TellsItsReach<S>)
        return solver.traces();
      else
        return {};
    }
    std::optional<SolverState> state() override {
      if constexpr (ListsItsState<S>)
        return solver.state();
      else
        return {};
    }
    void make_room(int steps) override {
      if constexpr (GrowsWithSteps<S>) solver.make_room(steps);
    }
    std::vector<double> objective() override {
      if constexpr (TellsItsObjective<S>)
        return solver.objective();
      else
        return {};
    }
    std::vector<double> gaps() override {
      if constexpr (TellsItsGap<S>)
        return solver.gaps();
      else
        return {};
    }
    S solver;
    std::vector<double> no_falls;
  };

  std::unique_ptr<Concept> self_, follower_;
  std::optional<Array> signs_;
};

inline std::optional<SolverState> AnySolver::state() {
  std::optional<SolverState> all = self_->state();
  if (!all || !follower_) return all;
  SolverState of_follower = follower_->state().value();
  for (StatePart& part : of_follower) {
    part.name.insert(0, "follower's ");
    all->push_back(std::move(part));
  }
  return all;
}

}  // namespace tandem::pipeline
