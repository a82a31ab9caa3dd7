#pragma once

#include "../operators/subsets.hpp"
#include "residual_solver.hpp"
#include "run.hpp"

namespace tandem {

/// MLEM by subsets of the views: x <- x Bt(b / Bx) / Bt1 for one subset after the other, where B and b are
/// those of its views. A step goes through all subsets. After each subset the sum of its Bx is that of its b.
/// All else is as in `Mlem`. If data contradict each other, the steps end in a cycle. Source: Hudson, Larkin,
/// IEEE TMI 13(4), 1994.
class Osem : public ResidualSolver<Subsets> {
 public:
  static constexpr SolverCost cost{.volumes = 3,      // x, the update, Bt1
                                   .projections = 3,  // b, Ax, b - Ax
                                   .preparation = {1, 1},
                                   .step = {2, 2},  // Bt1 anew, and A x of the solution
                                   .traces = {0, 0}};

  /// `b` has its views in the order of the scan. @throws SpaceError unless b has the views of the subsets and
  /// x0 is in domain(); GeometryError if b has elements that are negative or not finite
  Osem(const Subsets& A, Data b, Array x0);
  void step(const ActiveBlocks& active);
  SolverState state() { return {{"x", x_}, {"rest", r_}, {"residual_norms", residual_norms_}}; }

 private:
  Array projected_, update_, sums_;  // scratch
};

}  // namespace tandem
