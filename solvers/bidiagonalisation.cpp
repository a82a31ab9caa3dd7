#include "bidiagonalisation.hpp"

#include <algorithm>
#include <cmath>

#include "../operators/vector.hpp"

namespace tandem {

namespace {

/// The power of two of this size. It and its inverse are floats.
double unit_of(double size) {
  constexpr int most = 126;
  return size > 0 && std::isfinite(size) ? std::ldexp(1.0, std::clamp(std::ilogb(size), -most, most)) : 1;
}

/// The quotient, or 0 for a block that has come to its end.
double over(double a, double b) { return b > 0 ? a / b : 0; }

}  // namespace

Array residual_of(const LinearOperator& A, Array b, const Array& x, Stream& stream) {
  A.apply(-1, x, 1, b, stream);
  return b;
}

Bidiagonalisation::Bidiagonalisation(const LinearOperator& A, Array r, Stream& stream, Sums sums)
    : stream_(stream), sums_(std::move(sums)), u_(std::move(r)), v_(A.domain(), stream) {
  std::vector<float> inverse;
  for (const double beta : sums_.norm(u_, stream_)) {
    scalars_.push_back({0, beta});
    units_.push_back(unit_of(beta));
    inverse.push_back(static_cast<float>(1 / units_.back()));
  }
  scale(inverse, u_);
  A.apply_adjoint(1, u_, 0, v_, stream_);
  make_v_a_unit();
}

void Bidiagonalisation::step(const LinearOperator& A) {
  std::vector<float> keep;
  for (std::size_t k = 0; k < units_.size(); ++k)
    keep.push_back(static_cast<float>(-over(scalars_[k].alpha, scalars_[k].beta / units_[k])));
  units_.assign(units_.size(), 1);
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

/// Scales v to length 1. So far v is alpha beta v, since u is beta u.
void Bidiagonalisation::make_v_a_unit() {
  std::vector<float> factors;
  const std::vector<double> lengths = sums_.norm(v_, stream_);
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    Scalars& s = scalars_[k];
    s.alpha = over(lengths[k], s.beta / units_[k]);
    factors.push_back(static_cast<float>(over(1, lengths[k])));
  }
  scale(factors, v_);
}

void Bidiagonalisation::copy_start(VectorView r) const {
  const std::vector<float> units(units_.begin(), units_.end());
  axpby(units, u_, 0, r, stream_);
}

void Bidiagonalisation::scale(const std::vector<float>& factors, VectorView x) {
  axpby(factors, x, 0, x, stream_);
}

}  // namespace tandem
