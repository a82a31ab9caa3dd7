#pragma once

#include "../operators/linear_operator.hpp"
#include "run.hpp"

namespace tandem {

/// x <- x At(b / Ax) / At1. The likelihood of x grows from step to step, if b are counts whose means are Ax.
/// For line integrals it is a rule of thumb. All x stay at 0 or above. After each step, the sums of Ax and b
/// are equal. A voxel at 0 stays there, so x0 may leave some out. A voxel without rays keeps its value. A
/// must not have negative coefficients; a pair may be slightly unmatched. Sources: Shepp, Vardi, IEEE TMI
/// 1(2), 1982; Lange, Carson, Journal of Computer Assisted Tomography 8(2), 1984.
class Mlem : public SolverBase<LinearOperator> {
 public:
  static constexpr SolverCost cost{.volumes = 3,      // x, At1, the update
                                   .projections = 3,  // b, Ax, b - Ax
                                   .preparation = {1, 1},
                                   .step = {1, 1},
                                   .traces = {0, 0}};

  /// x0 is clamped at 0. A block without a positive voxel starts alike where rays pass, with the sum of Ax
  /// that of b. @throws SpaceError unless b is in range() and x0 is in domain(); GeometryError if b has
  /// elements that are negative or not finite
  Mlem(LinearOperator A, Data b, Array x0);
  void step(const ActiveBlocks& active);
  const Array* residual() const { return &rest_; }  ///< valid between steps
  SolverState state() {
    return {{"x", x_}, {"projected", projected_}, {"rest", rest_}, {"residual_norms", residual_norms_}};
  }

 private:
  void project();

  Array b_, projected_, rest_, update_, sums_;  // rest: b - Ax; sums: At1
  std::vector<float> least_;
};

}  // namespace tandem
