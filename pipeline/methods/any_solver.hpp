#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../../solvers/run.hpp"
#include "../../solvers/state.hpp"

namespace tandem::pipeline {

/// A solver of any type, so that a table can make it.
class AnySolver {
 public:
  template <IterativeSolver S>
  explicit AnySolver(S solver) : self_(std::make_unique<Of<S>>(std::move(solver))) {}

  void step(const ActiveBlocks& active) { self_->step(active); }
  const Array& solution() const& { return self_->solution(); }
  Array solution() && { return self_->taken(); }
  const std::vector<double>& residual_norms() const { return self_->residual_norms(); }

  const Array* residual() const { return self_->residual(); }  ///< null if the solver does not show it
  bool tells_its_reach() const { return self_->tells_its_reach(); }
  const std::vector<double>& falls() const {
    return self_->falls();
  }                                                         ///< empty if the solver does not tell its reach
  std::vector<double> traces() { return self_->traces(); }  ///< @pre the solver tells its reach
  std::optional<SolverState> state() { return self_->state(); }  ///< empty if the solver does not list it
  void make_room(int steps) { self_->make_room(steps); }         ///< for the state after so many steps
  std::vector<double> gaps() { return self_->gaps(); }           ///< @pre the solver tells its gap
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

  std::unique_ptr<Concept> self_;
};

}  // namespace tandem::pipeline
