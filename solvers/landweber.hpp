#pragma once

#include "../operators/linear_operator.hpp"
#include "residual_solver.hpp"
#include "run.hpp"
#include "sirt.hpp"

namespace tandem {

/// x <- P(x + lambda / |A|^2 At (b - Ax)), where each block has its own norm |A|, and P clamps to the bounds.
/// The norm comes from ten steps of power iteration. They start with ones, which are near the largest
/// singular vector if A has no negative coefficients. Needs a matched pair. Source: Landweber, American
/// Journal of Mathematics 73(3), 1951.
class Landweber : public ResidualSolver<LinearOperator> {
 public:
  static constexpr SolverCost cost{.volumes = 2,      // x, the update
                                   .projections = 2,  // b, r
                                   .preparation = {11, 9},
                                   .step = {1, 1},
                                   .traces = {1, 1}};

  /// @throws SpaceError unless b is in range() and x0 is in domain(); GeometryError for a relaxation outside
  /// (0, 2)
  Landweber(LinearOperator A, Data b, Array x0, SirtOptions options = {});
  void step(const ActiveBlocks& active);
  const std::vector<double>& falls() const { return falls_; }  ///< for the last step; infinite at the start
  std::vector<double> traces();                                ///< trace of A At, one per block
  SolverState state() {
    return {{"x", x_}, {"r", r_}, {"falls", falls_}, {"residual_norms", residual_norms_}};
  }

 private:
  void note(const ActiveBlocks& active);

  SirtOptions options_;
  Array update_;
  std::vector<double> steps_;  // lambda / |A|^2
  std::vector<double> falls_;
};

}  // namespace tandem
