#include "bidiagonalisation.hpp"

#include "../operators/vector.hpp"

namespace tandem {

namespace {

/// 0 where a block has come to its end.
double over(double a, double b) { return b > 0 ? a / b : 0; }

}  // namespace

Array residual_of(const LinearOperator& A, Array b, const Array& x, Stream& stream) {
  A.apply(-1, x, 1, b, stream);
  return b;
}

Bidiagonalisation::Bidiagonalisation(const LinearOperator& A, Array r, Stream& stream, Sums sums)
    : stream_(stream), sums_(std::move(sums)), u_(std::move(r)), v_(A.domain(), stream) {
  for (const double beta : sums_.norm(u_, stream_)) scalars_.push_back({0, beta});
  A.apply_adjoint(1, u_, 0, v_, stream_);
  make_v_a_unit();
}

void Bidiagonalisation::step(const LinearOperator& A) {
  std::vector<float> keep;
  for (const Scalars& s : scalars_) keep.push_back(static_cast<float>(-over(s.alpha, s.beta)));
  scale(keep, u_);
  A.apply(1, v_, 1, u_, stream_);
  const std::vector<double> beta = sums_.norm(u_, stream_);
  for (std::size_t k = 0; k < beta.size(); ++k) {
    scalars_[k].beta = beta[k];
    keep[k] = static_cast<float>(-beta[k] * beta[k]);
  }
  scale(keep, v_);
  A.apply_adjoint(1, u_, 1, v_, stream_);
  make_v_a_unit();
}

/// v is alpha beta v so far, as u is beta u.
void Bidiagonalisation::make_v_a_unit() {
  std::vector<float> factors;
  const std::vector<double> lengths = sums_.norm(v_, stream_);
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    Scalars& s = scalars_[k];
    s.alpha = over(lengths[k], s.beta);
    factors.push_back(static_cast<float>(over(1, lengths[k])));
  }
  scale(factors, v_);
}

void Bidiagonalisation::scale(const std::vector<float>& factors, VectorView x) {
  const float nothing = 0;
  axpby(factors, x, std::span(&nothing, 1), x, stream_);
}

}  // namespace tandem
