#pragma once

#include <utility>

#include "bidiagonalisation.hpp"
#include "run.hpp"

namespace tandem {

/// Minimises |Ax - b| over the Krylov space of AtA, each block by itself, as `Cgls` does, but through the
/// Golub-Kahan process. So rounding harms it less if A is ill conditioned. Needs a matched pair. Source:
/// Paige, Saunders, ACM TOMS 8(1), 1982; section 5.1 of it for the residual vector.
class Lsqr {
 public:
  static constexpr SolverCost cost{.volumes = 3,      // x, v, w
                                   .projections = 2,  // r, u
                                   .preparation = {1, 1},
                                   .step = {1, 1},
                                   .traces = {0, 1}};

  /// The residual starts as b: a copy of it, or b itself if the caller gives it up. @throws SpaceError unless
  /// b is in range() and x0 is in domain()
  Lsqr(LinearOperator A, const Array& b, Array x0, Sums sums = {})
      : Lsqr(std::move(A), b.clone(), std::move(x0), std::move(sums)) {}
  Lsqr(LinearOperator A, Array&& b, Array x0, Sums sums = {});
  void step(const ActiveBlocks& active);
  const Array& solution() const& { return x_; }
  Array solution() && { return std::move(x_); }
  const std::vector<double>& residual_norms() const { return residual_norms_; }
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

  LinearOperator A_;
  Stream& stream_;
  Array x_, r_;
  Bidiagonalisation process_;
  Array w_;
  std::vector<Scalars> scalars_;
  std::vector<double> residual_norms_, falls_;
};

}  // namespace tandem
