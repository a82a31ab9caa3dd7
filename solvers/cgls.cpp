#include "cgls.hpp"

#include "../operators/random.hpp"
#include "../operators/vector.hpp"

namespace tandem {

Cgls::Cgls(LinearOperator A, Array&& b, Array x0, Sums sums)
    : A_(std::move(A)),
      stream_(default_stream(A_.domain().device())),
      sums_(std::move(sums)),
      x_(std::move(x0)),
      r_(std::move(b)),
      s_(A_.domain(), stream_),
      p_(A_.domain(), stream_),
      q_(A_.range(), stream_) {
  A_.apply(-1, x_, 1, r_, stream_);
  A_.apply_adjoint(1, r_, 0, s_, stream_);
  axpby(1, s_, 0, p_, stream_);
  falls_ = gamma_ = sums_.dot(s_, s_, stream_);
  residual_norms_ = norm(r_, stream_);
}

void Cgls::step(const ActiveBlocks& active) {
  const std::size_t blocks = gamma_.size();
  A_.apply(1, p_, 0, q_, stream_);
  const std::vector<double> qq = sums_.dot(q_, q_, stream_), qr = sums_.dot(q_, r_, stream_);
  std::vector<float> alpha(blocks, 0.0f), minus_alpha(blocks, 0.0f);
  // <q, r> is |s|^2 as long as s and p are conjugate. When a block has converged, s is only rounding, and
  // they are not. Then <q, r> / |q|^2 is still the step that shortens the residual most.
  for (std::size_t k = 0; k < blocks; ++k)
    if (active[k] && qq[k] > 0) alpha[k] = static_cast<float>(qr[k] / qq[k]), minus_alpha[k] = -alpha[k];
  axpby(alpha, p_, 1, x_, stream_);
  axpby(minus_alpha, q_, 1, r_, stream_);
  A_.apply_adjoint(1, r_, 0, s_, stream_);
  const std::vector<double> gamma = sums_.dot(s_, s_, stream_);
  std::vector<float> take(blocks, 0.0f), keep(blocks, 1.0f);  // p <- take s + keep p
  for (std::size_t k = 0; k < blocks; ++k) {
    if (!active[k]) continue;
    take[k] = 1;
    keep[k] = gamma_[k] > 0 ? static_cast<float>(gamma[k] / gamma_[k]) : 0.0f;
    gamma_[k] = gamma[k];
    // |b - Ax|^2 falls by alpha gamma and the reach grows by alpha gamma (1 / gamma_0 + ... + 1 / gamma)
    falls_[k] = falls_[k] > 0 && gamma[k] > 0 ? 1 / (1 / falls_[k] + 1 / gamma[k]) : 0;
  }
  axpby(take, s_, keep, p_, stream_);
  residual_norms_ = norm(r_, stream_);
}

std::vector<double> Cgls::traces() {
  fill_with_signs(q_, 1, stream_);  // the next step makes q and s anew
  A_.apply_adjoint(1, q_, 0, s_, stream_);
  return dot(s_, s_, stream_);
}

}  // namespace tandem
