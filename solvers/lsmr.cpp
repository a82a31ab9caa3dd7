#include "lsmr.hpp"

#include <cmath>

#include "../operators/random.hpp"
#include "../operators/vector.hpp"
#include "solver_kind.hpp"

namespace tandem {

Lsmr::Lsmr(LinearOperator A, Data b, Array x0, Sums sums)
    : SolverBase(std::move(A), std::move(x0)),
      r_(residual_of(A_, std::move(b.own), x_, stream_)),
      process_(A_, r_.clone(stream_), stream_, std::move(sums)),
      h_(process_.v().clone(stream_)),
      h_bar_(zeros(A_.domain(), stream_)),
      r_lsqr_(r_.clone(stream_)) {
  for (const Bidiagonalisation::Scalars& s : process_.scalars()) {
    scalars_.push_back({.alpha_bar = s.alpha, .zeta_bar = s.alpha * s.beta, .phi_bar = s.beta});
    residual_norms_.push_back(s.beta);
    falls_.push_back(std::pow(s.alpha * s.beta, 2));
  }
}

Lsmr::Updates Lsmr::rotate(Scalars& s, const Bidiagonalisation::Scalars& next) {
  const double rho = std::hypot(s.alpha_bar, next.beta);
  if (!(rho > 0)) return {};
  const double cosine = s.alpha_bar / rho, sine = next.beta / rho, theta = sine * next.alpha;
  const double theta_bar = s.s_bar * rho, rho_bar = std::hypot(s.c_bar * rho, theta);
  if (!(rho_bar > 0)) return {};
  Updates u;
  u.h_bar = {1, -theta_bar * rho / (s.rho * s.rho_bar)};
  s.c_bar *= rho / rho_bar, s.s_bar = theta / rho_bar, s.rho = rho, s.rho_bar = rho_bar;
  u.x = {s.c_bar * s.zeta_bar / (rho * rho_bar), 1};
  s.zeta_bar *= -s.s_bar;
  u.h = {1, -theta / rho};
  s.alpha_bar = cosine * next.alpha;
  u.r_lsqr = {next.beta > 0 ? -sine * cosine * s.phi_bar / next.beta : 0, sine * sine};
  s.phi_bar *= -sine;
  u.r = {s.c_bar * s.c_bar, s.s_bar * s.s_bar};
  return u;
}

void Lsmr::update(const std::vector<Updates>& all, Update Updates::*which, const Array& x, Array& y) {
  std::vector<float> take, keep;
  for (const Updates& one : all) {
    take.push_back(static_cast<float>((one.*which).take));
    keep.push_back(static_cast<float>((one.*which).keep));
  }
  axpby(take, x, keep, y, stream_);
}

void Lsmr::step(const ActiveBlocks& active) {
  process_.step(A_);
  std::vector<Updates> all(scalars_.size());
  for (std::size_t k = 0; k < all.size(); ++k)
    if (active[k]) all[k] = rotate(scalars_[k], process_.scalars()[k]);
  update(all, &Updates::h_bar, h_, h_bar_);
  update(all, &Updates::x, h_bar_, x_);
  update(all, &Updates::h, process_.v(), h_);
  update(all, &Updates::r_lsqr, process_.beta_u(), r_lsqr_);
  update(all, &Updates::r, r_lsqr_, r_);
  residual_norms_ = norm(r_, stream_);
  for (std::size_t k = 0; k < all.size(); ++k)
    if (active[k]) falls_[k] = std::pow(scalars_[k].zeta_bar, 2);
}

std::vector<double> Lsmr::traces() {
  fill_with_signs(r_lsqr_, 1, stream_);
  A_.apply_adjoint(1, r_lsqr_, 0, h_bar_, stream_);
  std::vector<double> traces = dot(h_bar_, h_bar_, stream_);
  axpby(1, r_, 0, r_lsqr_, stream_);  // as all are before the first step
  fill(h_bar_, 0, stream_);
  return traces;
}

SolverState Lsmr::state() {
  SolverState all = process_.state();
  all.insert(all.end(), {{"x", x_},
                         {"r", r_},
                         {"h", h_},
                         {"h_bar", h_bar_},
                         {"r of lsqr", r_lsqr_},
                         {"rotations", scalars_},
                         {"falls", falls_},
                         {"residual_norms", residual_norms_}});
  return all;
}

SolverKind lsmr_kind() {
  return kind_of<Lsmr>(
      {.name = "lsmr",
       .class_name = "Lsmr",
       .help = "as lsqr, with a gradient that falls in every step: safe to stop early",
       .docs = "Minimises |At (Ax - b)| over the space of `Cgls`; neither it nor |Ax - b| ever grows.",
       .options = {"tikhonov-weight"},
       .make = [](SolverInput input) { return made<Lsmr>(input, input.sums); }});
}

}  // namespace tandem
