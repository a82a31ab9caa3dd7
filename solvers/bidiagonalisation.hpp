#pragma once

#include <utility>
#include <vector>

#include "../core/public.hpp"
#include "../operators/linear_operator.hpp"
#include "state.hpp"
#include "stopping/cross_validation.hpp"

namespace TANDEM_PUBLIC tandem {

/// b - A x, in the place of b.
Array residual_of(const LinearOperator& A, Array b, const Array& x, Stream& stream);

/// The Golub-Kahan process from r: beta u = r, alpha v = At u, and then A v = beta u + alpha u', At u = alpha
/// v + beta v' with the u', v' before, where u and v have length 1 in each block. LSQR and LSMR take their
/// steps from it. Source: Golub, Kahan, SIAM Journal on Numerical Analysis 2(2), 1965; Paige, Saunders, ACM
/// TOMS 8(1), 1982.
class Bidiagonalisation {
 public:
  /// Numbers of a block.
  struct Scalars {
    double alpha, beta;
  };

  /// `r`: the residual at the start, which it keeps as u.
  Bidiagonalisation(const LinearOperator& A, Array r, Stream& stream, Sums sums);
  void step(const LinearOperator& A);
  const std::vector<Scalars>& scalars() const { return scalars_; }
  const Array& beta_u() const { return u_; }  ///< after the first step
  void copy_start(VectorView r) const;        ///< beta u before the first step, which is the residual
  const Array& v() const { return v_; }
  SolverState state() { return {{"beta u", u_}, {"v", v_}, {"alpha and beta", scalars_}, {"units", units_}}; }

 private:
  void make_v_a_unit();
  void scale(const std::vector<float>& factors, VectorView x);

  Stream& stream_;
  Sums sums_;
  Array u_, v_;  // beta u in the units, v
  std::vector<Scalars> scalars_;
  /// Powers of two, of the size of the data until the first step, then 1: data may be so small, or so large,
  /// that a float has neither their square nor their inverse.
  std::vector<double> units_;
};

}  // namespace tandem
