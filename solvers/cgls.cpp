#include "cgls.hpp"

#include "../operators/random.hpp"
#include "../operators/vector.hpp"
#include "per_block.hpp"
#include "solver_kind.hpp"

namespace tandem {

Cgls::Cgls(LinearOperator A, Data b, Array x0, Sums sums)
    : SolverBase(std::move(A), std::move(x0)),
      sums_(std::move(sums)),
      r_(std::move(b.own)),
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
  A_.apply(1, p_, 0, q_, stream_);  // q = A p
  const std::vector<double> qq = sums_.dot(q_, q_, stream_), qr = sums_.dot(q_, r_, stream_);
  // The source has |s|^2 for <q, r>. They are equal as long as s and p are conjugate. When a block has
  // converged, s is only rounding, and they are not. Then <q, r> still gives the step that shortens r most.
  const std::vector<float> alpha = of_active(active, quotients(qr, qq), 0);
  axpby(alpha, p_, 1, x_, stream_);         // x = x + alpha p
  axpby(minus(alpha), q_, 1, r_, stream_);  // r = r - alpha q
  A_.apply_adjoint(1, r_, 0, s_, stream_);  // s = At r
  const std::vector<double> gamma = sums_.dot(s_, s_, stream_);
  const std::vector<float> beta = of_active(active, quotients(gamma, gamma_), 1);
  axpby(of_active(active, 1, 0), s_, beta, p_, stream_);  // p = s + beta p
  note(active, gamma);
}

/// Keeps what the next step and rules read.
void Cgls::note(const ActiveBlocks& active, const std::vector<double>& gamma) {
  residual_norms_ = norm(r_, stream_);
  for (std::size_t k = 0; k < active.size(); ++k)
    if (active[k]) gamma_[k] = gamma[k], falls_[k] = next_fall(falls_[k], gamma[k]);
}

std::vector<double> Cgls::traces() {
  fill_with_signs(q_, 1, stream_);  // the next step makes q and s anew
  A_.apply_adjoint(1, q_, 0, s_, stream_);
  return dot(s_, s_, stream_);
}

SolverKind cgls_kind() {
  return kind_of<Cgls>(
      {.name = "cgls",
       .class_name = "Cgls",
       .help = "conjugate gradients on the least-squares problem; few steps, stop early",
       .docs = "Minimises |Ax - b| over the Krylov space of AtA, each block by itself. Needs a matched pair.",
       .options = {"tikhonov-weight"},
       .make = [](SolverInput input) { return made<Cgls>(input, input.sums); }});
}

}  // namespace tandem
