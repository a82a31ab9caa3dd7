#pragma once

#include <vector>

#include "../core/public.hpp"
#include "../operators/linear_operator.hpp"
#include "run.hpp"

namespace TANDEM_PUBLIC tandem {

/// Minimises |Ax - b| over the Krylov space of AtA, each block by itself. Needs a matched pair. For damping,
/// pass vstack({A, lambda D}) as A, and b in its range. Source: Bjorck, Numerical Methods for Least Squares
/// Problems, 1996, section 7.4.
class Cgls : public SolverBase<LinearOperator> {
 public:
  static constexpr SolverCost cost{.volumes = 3,      // x, s, p
                                   .projections = 2,  // r, q
                                   .preparation = {1, 1},
                                   .step = {1, 1},
                                   .traces = {0, 1}};

  /// @throws SpaceError unless b is in range() and x0 is in domain()
  Cgls(LinearOperator A, Data b, Array x0, Sums sums = {});
  void step(const ActiveBlocks& active);
  const Array* residual() const { return &r_; }
  const std::vector<double>& falls() const { return falls_; }  ///< for the next step
  std::vector<double> traces();                                ///< trace of A At, one per block
  SolverState state() {
    return {{"x", x_},         {"r", r_},         {"p", p_},
            {"gamma", gamma_}, {"falls", falls_}, {"residual_norms", residual_norms_}};
  }

 private:
  void note(const ActiveBlocks& active, const std::vector<double>& gamma);

  Sums sums_;
  Array r_, s_, p_, q_;        // residual, gradient At r, direction, A p
  std::vector<double> gamma_;  // |s|^2
  std::vector<double> falls_;  // 1 / the sum of 1 / gamma so far
};

}  // namespace tandem
