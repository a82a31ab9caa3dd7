#pragma once

#include <vector>

#include "../operators/linear_operator.hpp"
#include "solver.hpp"

namespace tandem {

/// b - A x, in the memory of b.
Array residual_of(const LinearOperator& A, Array b, const Array& x, Stream& stream);

/// The Golub-Kahan process from r. It begins with beta u = r, alpha v = At u. Then A v = beta u + alpha u',
/// At u = alpha v + beta v', where u' and v' are those of the step before. u and v have length 1 in each
/// block. LSQR and LSMR take their steps from it. Source: Golub, Kahan, SIAM Journal on Numerical Analysis
/// 2(2), 1965; Paige, Saunders, ACM TOMS 8(1), 1982.
class Bidiagonalisation {
 public:
  /// The numbers of a block.
  struct Scalars {
    double alpha, beta;
  };

  /// `r`: the residual at the start, whose memory becomes that of u.
  Bidiagonalisation(const LinearOperator& A, Array r, Stream& stream, Sums sums);
  void step(const LinearOperator& A);
  const std::vector<Scalars>& scalars() const { return scalars_; }
  const Array& beta_u() const { return u_; }  ///< valid after the first step
  void copy_start(VectorView r) const;        ///< copies beta u before the first step, the residual
  const Array& v() const { return v_; }
  SolverState state() { return {{"beta u", u_}, {"v", v_}, {"alpha and beta", scalars_}, {"units", units_}}; }

 private:
  void make_v_a_unit();
  void scale(const std::vector<float>& factors, VectorView x);

  Stream& stream_;
  Sums sums_;
  Array u_, v_;  // beta u in the units, v
  std::vector<Scalars> scalars_;
  /// Powers of two. Before the first step they have the size of the data, because the squares or the inverses
  /// of very small or very large data are no floats. Then they are 1.
  std::vector<double> units_;
};

}  // namespace tandem
