#pragma once

#include <utility>

#include "../operators/vector.hpp"
#include "solver.hpp"

namespace tandem {

/// A solver that keeps b and makes the residual b - A x anew after each step. With subsets, the views of both
/// are in the order of the subsets.
template <class Operator>
class ResidualSolver : public SolverBase<Operator> {
 public:
  const Array* residual() const { return &r_; }

 protected:
  using SolverBase<Operator>::A_, SolverBase<Operator>::stream_, SolverBase<Operator>::x_;

  ResidualSolver(Operator A, Array b, Array x0)
      : SolverBase<Operator>(std::move(A), std::move(x0)), b_(std::move(b)), r_(A_.range(), stream_) {}

  void update_residual() {
    axpby(1, b_, 0, r_, stream_);
    A_.apply(-1, x_, 1, r_, stream_);
    this->residual_norms_ = norm(r_, stream_);
  }

  Array b_, r_;  // r: b - A x
};

}  // namespace tandem
