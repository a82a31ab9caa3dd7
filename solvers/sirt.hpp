#pragma once

#include "../operators/linear_operator.hpp"
#include "bounds.hpp"
#include "residual_solver.hpp"
#include "run.hpp"

namespace tandem {

struct SirtOptions {
  float relaxation = 1.0f;  ///< in (0, 2)
  Bounds bounds{};
};

/// x <- P(x + lambda C At R (b - Ax)) with R = 1/(A 1) and C = 1/(At 1); P clamps to the bounds. If a sum is
/// zero, its weight is zero too, so that voxels that no ray meets keep their value. A pair may be slightly
/// unmatched. Source: Kak, Slaney 1988, section 7.4; Gregor, Benson, IEEE TMI 27(7), 2008.
class Sirt : public ResidualSolver<LinearOperator> {
 public:
  static constexpr SolverCost cost{.volumes = 3,      // x, C, the update
                                   .projections = 4,  // b, r, R; the signs of traces
                                   .preparation = {2, 1},
                                   .step = {1, 1},
                                   .traces = {2, 1}};

  /// @throws SpaceError unless b is in range() and x0 is in domain(); GeometryError for a relaxation outside
  /// (0, 2)
  Sirt(LinearOperator A, Data b, Array x0, SirtOptions options = {});
  void step(const ActiveBlocks& active);
  const std::vector<double>& falls() const { return falls_; }  ///< for the last step; infinite at the start
  std::vector<double> traces();                                ///< trace of A C At R, one per block
  SolverState state() {
    return {{"x", x_}, {"r", r_}, {"falls", falls_}, {"residual_norms", residual_norms_}};
  }

 private:
  void note(const ActiveBlocks& active);

  SirtOptions options_;
  Array row_weight_, column_weight_, update_;
  std::vector<double> falls_;
};

}  // namespace tandem
