#pragma once

#include "../operators/subsets.hpp"
#include "residual_solver.hpp"
#include "run.hpp"
#include "sirt.hpp"

namespace tandem {

/// SIRT by subsets of the views: x <- P(x + lambda C Bt R (b - Bx)) for one subset after the other, where B
/// and b are those of its views. A step goes through all subsets. R = 1/(B 1). C = 1/(n c) for a subset of n
/// views, where c is the largest Bt 1 per view of a voxel in any subset. So no subset overshoots, and one set
/// of weights serves all; if all subsets see a voxel equally, C = 1/(Bt 1). With one view in each subset this
/// is SART. For P and for weights that are zero, see `Sirt`. If data contradict each other, the steps end in
/// a cycle, which a smaller relaxation narrows. Sources: Andersen, Kak, Ultrasonic Imaging 6(1), 1984;
/// Censor, Elfving, SIAM Journal on Matrix Analysis and Applications 24(1), 2002.
class OsSirt : public ResidualSolver<Subsets> {
 public:
  static constexpr SolverCost cost{.volumes = 3,      // x, C, the update
                                   .projections = 4,  // b, r, R; the signs of traces
                                   .preparation = {2, 1},
                                   .step = {2, 1},  // A once more, for the residual of the solution
                                   .traces = {2, 1}};

  /// `b` has its views in the order of the scan. @throws SpaceError unless b has the views of the subsets and
  /// x0 is in domain(); GeometryError for a relaxation outside (0, 2)
  OsSirt(const Subsets& A, Data b, Array x0, SirtOptions options = {});
  void step(const ActiveBlocks& active);
  const std::vector<double>& falls() const { return falls_; }  ///< for the last step; infinite at the start
  /// The sum of the traces of B C Bt R over the subsets, one per block. That of the whole step is less, since
  /// a subset works on the residual that the one before has left.
  std::vector<double> traces();
  SolverState state() {
    return {{"x", x_}, {"r", r_}, {"falls", falls_}, {"residual_norms", residual_norms_}};
  }

 private:
  void weigh_columns();
  void step_in(std::size_t subset, const ActiveBlocks& active);

  SirtOptions options_;
  Array row_weight_, column_weight_, update_;
  std::vector<double> falls_;
};

}  // namespace tandem
