#pragma once

#include "bidiagonalisation.hpp"
#include "run.hpp"

namespace tandem {

/// Minimises |At (Ax - b)| over the Krylov space of AtA, each block by itself. Neither this norm nor |Ax - b|
/// ever grows, so one may stop at any step. Needs a matched pair. The residual vector is that of LSQR,
/// smoothed: r <- s^2 r + c^2 r', with the second rotation. Source: Fong, Saunders, SIAM Journal on
/// Scientific Computing 33(5), 2011.
class Lsmr : public SolverBase<LinearOperator> {
 public:
  static constexpr SolverCost cost{.volumes = 4,      // x, v, h, h_bar
                                   .projections = 3,  // r, r of LSQR, u
                                   .preparation = {1, 1},
                                   .step = {1, 1},
                                   .traces = {0, 1}};

  /// @throws SpaceError unless b is in range() and x0 is in domain()
  Lsmr(LinearOperator A, Data b, Array x0, Sums sums = {});
  void step(const ActiveBlocks& active);
  const Array* residual() const { return &r_; }
  const std::vector<double>& falls() const { return falls_; }  ///< |At r|^2, for the next step of LSQR
  std::vector<double> traces();                                ///< trace of A At, one per block
  SolverState state();

 private:
  /// The numbers of a block: its two present rotations.
  struct Scalars {
    double alpha_bar, zeta_bar;
    double phi_bar;  ///< |r| of LSQR, with the sign of its next cosine
    double rho = 1, rho_bar = 1, c_bar = 1, s_bar = 0;
  };
  /// y <- take x + keep y. A block that has stopped keeps its y.
  struct Update {
    double take = 0, keep = 1;
  };
  struct Updates {
    Update h_bar, x, h, r_lsqr, r;
  };
  static Updates rotate(Scalars& s, const Bidiagonalisation::Scalars& next);
  void update(const std::vector<Updates>& all, Update Updates::*which, const Array& x, Array& y);

  Array r_;
  Bidiagonalisation process_;
  Array h_, h_bar_, r_lsqr_;
  std::vector<Scalars> scalars_;
  std::vector<double> falls_;
};

}  // namespace tandem
