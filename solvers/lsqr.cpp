#include "lsqr.hpp"

#include <cmath>

#include "../operators/random.hpp"
#include "../operators/vector.hpp"
#include "per_block.hpp"
#include "solver_kind.hpp"

namespace tandem {

Lsqr::Lsqr(LinearOperator A, Data b, Array x0, Sums sums)
    : SolverBase(std::move(A), std::move(x0)),
      r_(residual_of(A_, std::move(b.own), x_, stream_)),
      process_(A_, r_.clone(stream_), stream_, std::move(sums)),
      w_(process_.v().clone(stream_)) {
  for (const Bidiagonalisation::Scalars& s : process_.scalars()) {
    scalars_.push_back({s.beta, s.alpha});
    residual_norms_.push_back(s.beta);
    falls_.push_back(std::pow(s.alpha * s.beta, 2));
  }
}

void Lsqr::step(const ActiveBlocks& active) {
  process_.step(A_);
  const Factors of = rotate(active);
  axpby(of.w_in_x, w_, 1, x_, stream_);                    // x = x + (phi / rho) w
  axpby(of.v, process_.v(), of.w, w_, stream_);            // w = v - (theta / rho) w
  axpby(of.beta_u, process_.beta_u(), of.r, r_, stream_);  // r = s^2 r - (s c phi_bar / beta) beta u
  residual_norms_ = norm(r_, stream_);
}

/// Makes the next plane rotation of each block that is active. The vectors of a block that has stopped stay.
Lsqr::Factors Lsqr::rotate(const ActiveBlocks& active) {
  const std::vector<float> none(active.size(), 0.0f), all(active.size(), 1.0f);
  Factors of{.w_in_x = none, .v = none, .w = all, .beta_u = none, .r = all};
  for (std::size_t k = 0; k < active.size(); ++k) {
    Scalars& s = scalars_[k];
    const auto& [alpha, beta] = process_.scalars()[k];
    const double rho = std::hypot(s.rho_bar, beta);
    if (!active[k] || !(rho > 0)) continue;
    const double cosine = s.rho_bar / rho, sine = beta / rho, step = cosine * s.phi_bar / rho,
                 theta = sine * alpha / rho;
    s = {sine * s.phi_bar, -cosine * alpha};
    falls_[k] = next_fall(falls_[k], std::pow(s.phi_bar * s.rho_bar, 2));  // |At r|^2
    of.w_in_x[k] = static_cast<float>(step);
    of.v[k] = 1, of.w[k] = static_cast<float>(-theta);
    of.beta_u[k] = beta > 0 ? static_cast<float>(-s.phi_bar * cosine / beta) : 0.0f;
    of.r[k] = static_cast<float>(sine * sine);
  }
  return of;
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

SolverKind lsqr_kind() {
  return kind_of<Lsqr>({.name = "lsqr",
                        .class_name = "Lsqr",
                        .help = "as cgls, but less harmed by rounding where many steps are made",
                        .docs =
                            "As `Cgls`, through the Golub-Kahan process: rounding harms it less where A is "
                            "ill conditioned.",
                        .options = {"tikhonov-weight"},
                        .make = [](SolverInput input) { return made<Lsqr>(input, input.sums); }});
}

}  // namespace tandem
