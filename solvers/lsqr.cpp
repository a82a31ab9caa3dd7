#include "lsqr.hpp"

#include <cmath>

#include "../operators/random.hpp"
#include "../operators/vector.hpp"

namespace tandem {

Lsqr::Lsqr(LinearOperator A, Array&& b, Array x0, Sums sums)
    : A_(std::move(A)),
      stream_(default_stream(A_.domain().device())),
      x_(std::move(x0)),
      r_(residual_of(A_, std::move(b), x_, stream_)),
      process_(A_, r_.clone(stream_), stream_, std::move(sums)),
      w_(process_.v().clone(stream_)) {
  for (const Bidiagonalisation::Scalars& s : process_.scalars()) {
    scalars_.push_back({s.beta, s.alpha});
    residual_norms_.push_back(s.beta);
    falls_.push_back(std::pow(s.alpha * s.beta, 2));
  }
}

void Lsqr::step(const ActiveBlocks& active) {
  const std::size_t blocks = scalars_.size();
  process_.step(A_);
  // factors of a block in x <- x + w, w <- v + w, r <- r + u; a block that has stopped stays
  std::vector<float> of_w(blocks, 0.0f), of_v(blocks, 0.0f), kept_w(blocks, 1.0f), of_u(blocks, 0.0f),
      kept_r(blocks, 1.0f);
  for (std::size_t k = 0; k < blocks; ++k) {
    Scalars& s = scalars_[k];
    const auto& [alpha, beta] = process_.scalars()[k];
    const double rho = std::hypot(s.rho_bar, beta);
    if (!active[k] || !(rho > 0)) continue;
    const double cosine = s.rho_bar / rho, sine = beta / rho, step = cosine * s.phi_bar / rho,
                 theta = sine * alpha / rho;
    s = {sine * s.phi_bar, -cosine * alpha};
    const double gamma = std::pow(s.phi_bar * s.rho_bar, 2);                       // |At r|^2
    falls_[k] = falls_[k] > 0 && gamma > 0 ? 1 / (1 / falls_[k] + 1 / gamma) : 0;  // as in Cgls
    of_w[k] = static_cast<float>(step);
    of_v[k] = 1, kept_w[k] = static_cast<float>(-theta);
    of_u[k] = beta > 0 ? static_cast<float>(-s.phi_bar * cosine / beta) : 0.0f;
    kept_r[k] = static_cast<float>(sine * sine);
  }
  axpby(of_w, w_, 1, x_, stream_);
  axpby(of_v, process_.v(), kept_w, w_, stream_);
  axpby(of_u, process_.beta_u(), kept_r, r_, stream_);
  residual_norms_ = norm(r_, stream_);
}

std::vector<double> Lsqr::traces() {
  fill_with_signs(r_, 1, stream_);
  A_.apply_adjoint(1, r_, 0, w_, stream_);
  std::vector<double> traces = dot(w_, w_, stream_);
  process_.copy_start(r_);  // as all are before the first step
  axpby(1, process_.v(), 0, w_, stream_);
  return traces;
}

SolverState Lsqr::state() {
  SolverState all = process_.state();
  all.insert(all.end(), {{"x", x_},
                         {"r", r_},
                         {"w", w_},
                         {"rotations", scalars_},
                         {"falls", falls_},
                         {"residual_norms", residual_norms_}});
  return all;
}

}  // namespace tandem
