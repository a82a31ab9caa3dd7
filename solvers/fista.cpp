#include "fista.hpp"

#include <cmath>

#include "../core/error.hpp"
#include "../operators/vector.hpp"
#include "checks.hpp"
#include "per_block.hpp"
#include "solver_kind.hpp"

namespace tandem {

namespace {

double next_momentum(double t) { return 0.5 * (1 + std::sqrt(1 + 4 * t * t)); }

}  // namespace

Fista::Fista(LinearOperator A, Array b, Array x0, Regulariser regulariser, std::vector<float> weights,
             std::optional<Array> data_weights, FistaOptions options)
    : SolverBase(std::move(A), std::move(x0)),
      regulariser_(std::move(regulariser)),
      options_(std::move(options)),
      b_(std::move(b)),
      before_(A_.domain(), stream_),
      z_(A_.domain(), stream_),
      v_(A_.domain(), stream_),
      r_(A_.range(), stream_),
      r_of_z_(A_.range(), stream_),
      s_(A_.range(), stream_),
      q_(zeros(regulariser_.K.range(), stream_)),
      p_(regulariser_.K.range(), stream_),
      g_(regulariser_.K.range(), stream_),
      data_weights_(std::move(data_weights)),
      weights_(std::move(weights)),
      momentum_(A_.domain().block_count(), 1.0) {
  require<GeometryError>(options_.inner_steps >= 1, "Fista: ", options_.inner_steps,
                         " inner steps; at least 1 is needed");
  require_weights(weights_, A_.domain().block_count(), "Fista");
  if (data_weights_) require_none_negative(*data_weights_, s_, "Fista: data weights", stream_);
  choose_steps();
  clamp(x_, options_.bounds, stream_);
  axpby(1, x_, 0, z_, stream_);
  axpby(1, b_, 0, r_, stream_);
  A_.apply(-1, x_, 1, r_, stream_);
  axpby(1, r_, 0, r_of_z_, stream_);
  residual_norms_ = norm(r_, stream_);
}

/// s <- w r
void Fista::weigh_residual(const Array& r) {
  axpby(1, r, 0, s_, stream_);
  if (data_weights_) multiply(*data_weights_, s_, stream_);
}

/// Chooses the steps by power iteration on At w A from ones. The Rayleigh quotient grows to the norm from
/// below.
void Fista::choose_steps() {
  constexpr int iterations = 10;
  constexpr double margin = 1.04;
  fill(v_, 1, stream_);
  std::vector<double> largest;
  for (int k = 0; k < iterations; ++k) {
    if (k > 0) A_.apply_adjoint(1, s_, 0, v_, stream_);
    std::vector<float> scale;
    for (const double length : norm(v_, stream_))
      scale.push_back(length > 0 ? static_cast<float>(1 / length) : 0.0f);
    const std::vector<float> nothing(scale.size(), 0.0f);
    axpby(scale, v_, nothing, v_, stream_);
    A_.apply(1, v_, 0, r_, stream_);
    weigh_residual(r_);
    largest = dot(r_, s_, stream_);
  }
  for (const double size : largest) {
    const double tau = size > 0 ? 1 / (margin * size) : 0;
    tau_.push_back(static_cast<float>(tau));
    sigma_.push_back(tau > 0 ? static_cast<float>(1 / (tau * regulariser_.norm_squared)) : 0.0f);
  }
}

void Fista::step(const ActiveBlocks& active) {
  axpby(1, x_, 0, before_, stream_);
  weigh_residual(r_of_z_);
  A_.apply_adjoint(1, s_, 0, v_, stream_);
  axpby(1, z_, tau_, v_, stream_);  // z + tau At w (b - A z)
  find_proximal_point();
  axpby(of_active(active, 0, 1), before_, of_active(active, 1, 0), x_, stream_);
  add_momentum(active);
}

/// x <- P(v - tau Kt q)
void Fista::take_dual_steps(const Array& q) {
  regulariser_.K.apply_adjoint(1, q, 0, x_, stream_);
  axpby(1, v_, minus(tau_), x_, stream_);
  clamp(x_, options_.bounds, stream_);
}

/// Minimises |x - v|^2 / (2 tau) + W g(Kx) within bounds, by its dual q. p is q with momentum.
void Fista::find_proximal_point() {
  axpby(1, q_, 0, p_, stream_);
  double t = 1;
  for (int k = 0; k < options_.inner_steps; ++k) {
    take_dual_steps(p_);
    regulariser_.K.apply(1, x_, 0, g_, stream_);
    axpby(1, p_, sigma_, g_, stream_);
    regulariser_.conjugate_prox(g_, weights_, sigma_, stream_);
    const double next = next_momentum(t);
    const auto ahead = static_cast<float>((t - 1) / next);
    axpby(1 + ahead, g_, 0, p_, stream_);
    axpby(-ahead, q_, 1, p_, stream_);
    std::swap(q_, g_);
    t = next;
  }
  take_dual_steps(q_);
}

/// z <- x + ahead (x - x before), or z <- x if that leads uphill. A z follows without an application of A.
void Fista::add_momentum(const ActiveBlocks& active) {
  axpby(1, x_, 0, v_, stream_);
  axpby(-1, before_, 1, v_, stream_);
  const std::vector<double> of_z = dot(z_, v_, stream_), of_x = dot(x_, v_, stream_);
  std::vector<float> ahead(active.size(), 0.0f), beyond(active.size(), 1.0f), back(active.size(), 0.0f);
  for (std::size_t k = 0; k < active.size(); ++k) {
    if (!active[k]) continue;
    const double t = of_z[k] > of_x[k] ? 1 : momentum_[k];
    momentum_[k] = next_momentum(t);
    ahead[k] = static_cast<float>((t - 1) / momentum_[k]);
    beyond[k] = 1 + ahead[k];
    back[k] = -ahead[k];
  }
  axpby(1, x_, 0, z_, stream_);
  axpby(ahead, v_, 1, z_, stream_);
  axpby(1, b_, 0, s_, stream_);
  A_.apply(-1, x_, 1, s_, stream_);
  residual_norms_ = norm(s_, stream_);
  axpby(1, r_, 0, r_of_z_, stream_);
  axpby(beyond, s_, back, r_of_z_, stream_);
  std::swap(r_, s_);
}

std::vector<double> Fista::regularity() {
  regulariser_.K.apply(1, x_, 0, g_, stream_);
  return regulariser_.value(g_, stream_);
}

SolverKind fista_kind() {
  return kind_of<Fista>({.class_name = "Fista",
                         .docs = "Minimises what `Pdhg` does, by gradient steps with momentum, and "
                                 "`inner_steps` of the regulariser in each.",
                         .options = {"tv-weight", "bounds"},
                         .numbers = {{"inner_steps", FistaOptions{}.inner_steps}},
                         .data_weights = DataWeights::by_itself,
                         .make = [](SolverInput input) {
                           const float given = input.numbers["inner_steps"];
                           const auto inner_steps = static_cast<int>(given);
                           require<GeometryError>(inner_steps == given, "Fista: inner_steps ", given,
                                                  "; a whole number is needed");
                           return made<Fista>(input, std::move(*input.regulariser), std::move(input.weights),
                                              std::move(input.data_weights),
                                              FistaOptions{input.bounds, inner_steps});
                         }});
}

}  // namespace tandem
