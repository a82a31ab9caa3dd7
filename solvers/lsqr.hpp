#pragma once

#include "bidiagonalisation.hpp"
#include "run.hpp"

namespace tandem {

/// Minimises |Ax - b| over the Krylov space of AtA, each block by itself, as `Cgls` does, but through the
/// Golub-Kahan process. So rounding harms it less if A is ill conditioned. Needs a matched pair. Source:
/// Paige, Saunders, ACM TOMS 8(1), 1982; section 5.1 of it for the residual vector.
class Lsqr : public SolverBase<LinearOperator> {
 public:
  static constexpr SolverCost cost{.volumes = 3,      // x, v, w
                                   .projections = 2,  // r, u
                                   .preparation = {1, 1},
                                   .step = {1, 1},
                                   .traces = {0, 1}};

  /// @throws SpaceError unless b is in range() and x0 is in domain()
  Lsqr(LinearOperator A, Data b, Array x0, Sums sums = {});
  void step(const ActiveBlocks& active);
  const Array* residual() const { return &r_; }
  const std::vector<double>& falls() const { return falls_; }  ///< for the next step
  std::vector<double> traces();                                ///< trace of A At, one per block
  SolverState state();

 private:
  /// The numbers of a block: its present rotation.
  struct Scalars {
    double phi_bar, rho_bar;
  };
  /// Factors of the updates of x, w and r, one per block.
  struct Factors {
    std::vector<float> w_in_x, v, w, beta_u, r;
  };
  Factors rotate(const ActiveBlocks& active);

  Array r_;
  Bidiagonalisation process_;
  Array w_;
  std::vector<Scalars> scalars_;
  std::vector<double> falls_;
};

}  // namespace tandem
