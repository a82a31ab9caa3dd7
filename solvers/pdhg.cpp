#include "pdhg.hpp"

#include <cmath>

#include "../core/error.hpp"
#include "../operators/norms.hpp"
#include "../operators/vector.hpp"
#include "checks.hpp"
#include "per_block.hpp"
#include "solver_kind.hpp"

namespace tandem {

Pdhg::Pdhg(LinearOperator A, Array b, Array x0, Regulariser regulariser, std::vector<float> weights,
           std::optional<Array> data_weights, PdhgOptions options)
    : A_(std::move(A)),
      regulariser_(std::move(regulariser)),
      options_(std::move(options)),
      stream_(default_stream(A_.domain().device())),
      b_(std::move(b)),
      x_(std::move(x0)),
      solution_(A_.domain(), stream_),
      r_(A_.range(), stream_),
      p_(zeros(A_.range(), stream_)),
      s_(A_.range(), stream_),
      q_(zeros(regulariser_.K.range(), stream_)),
      g_(regulariser_.K.range(), stream_),
      shrink_(std::move(data_weights)) {
  require_relaxation(options_.relaxation, "Pdhg");
  require<SpaceError>(options_.norms.empty() || std::ssize(options_.norms) == A_.domain().block_count(),
                      "Pdhg: ", options_.norms.size(), " norms; give one per block");
  require<GeometryError>(options_.balance > 0 && std::isfinite(options_.balance), "Pdhg: balance ",
                         options_.balance, "; a positive number is needed");
  weigh(std::move(weights));
  choose_steps();
  clamp(x_, options_.bounds, stream_);
  axpby(1, x_, 0, solution_, stream_);
  update_residual();
  axpby(-1, s_, 0, r_, stream_);
}

void Pdhg::weigh(std::vector<float> weights) {
  require_weights(weights, A_.domain().block_count(), "Pdhg");
  weights_ = std::move(weights);
}

/// Chooses the steps. sigma is a share of the mean weight of the data. Each of the two terms gets half of
/// what the condition on the steps allows.
void Pdhg::choose_steps() {
  constexpr double margin = 1.02;  // power iteration gives a norm that is a little too small
  if (options_.norms.empty()) options_.norms = block_norms(A_, solution_, s_, stream_);
  const std::vector<double>& norms = options_.norms;
  sigma_.assign(norms.size(), options_.balance);
  if (shrink_) average_weights();
  for (std::size_t k = 0; k < norms.size(); ++k) {
    const double norm = margin * norms[k], sigma = sigma_[k];
    const double tau = norm > 0 ? 0.5 / (sigma * norm * norm) : 0;
    tau_.push_back(static_cast<float>(tau));
    sigma_of_regulariser_.push_back(tau > 0 ? static_cast<float>(0.5 / (tau * regulariser_.norm_squared))
                                            : 0.0f);
  }
}

/// Replaces the weights w by the factors of the proximal map, w / (w + sigma).
void Pdhg::average_weights() {
  require_none_negative(*shrink_, s_, "Pdhg: data weights", stream_);
  fill(s_, 1, stream_);
  const std::vector<double> sums = dot(*shrink_, s_, stream_), ones = dot(s_, s_, stream_);
  for (std::size_t k = 0; k < sums.size(); ++k)
    if (sums[k] > 0) sigma_[k] *= static_cast<float>(sums[k] / ones[k]);
  axpby(1, *shrink_, sigma_, s_, stream_);
  reciprocal_or_zero(s_, 0, stream_);
  multiply(s_, *shrink_, stream_);
}

/// s <- A x - b for the solution.
void Pdhg::update_residual() {
  axpby(-1, b_, 0, s_, stream_);
  A_.apply(1, solution_, 1, s_, stream_);
  residual_norms_ = norm(s_, stream_);
}

void Pdhg::step(const ActiveBlocks& active) {
  keep_stopped(active);
  step_primal();
  update_residual();
  step_regulariser_dual(active);
  step_data_dual(active);
  axpby(of_active(active, options_.relaxation, 0), solution_, of_active(active, 1 - options_.relaxation, 1),
        x_, stream_);
}

/// Sets x of a stopped block to its solution, so that a step of length zero leads back to it.
void Pdhg::keep_stopped(const ActiveBlocks& active) {
  bool all = true;
  for (const bool moves : active) all = all && moves;
  if (!all) axpby(of_active(active, 0, 1), solution_, of_active(active, 1, 0), x_, stream_);
  for (std::size_t k = 0; k < active.size(); ++k)
    if (!active[k]) tau_[k] = 0;
}

/// solution <- P(x - tau (At p + Kt q))
void Pdhg::step_primal() {
  A_.apply_adjoint(1, p_, 0, solution_, stream_);
  regulariser_.K.apply_adjoint(1, q_, 1, solution_, stream_);
  axpby(1, x_, minus(tau_), solution_, stream_);
  clamp(solution_, options_.bounds, stream_);
}

/// Takes the dual step of the data. For s = A x~ - b of the solution x~, A (2 x~ - x) - b = 2 s + r. r is
/// relaxed as x is.
void Pdhg::step_data_dual(const ActiveBlocks& active) {
  const float rho = options_.relaxation;
  axpby(1, r_, 2, s_, stream_);
  axpby(of_active(active, -rho / 2, 0), s_, of_active(active, 1 - rho / 2, 1), r_, stream_);
  axpby(1, p_, sigma_, s_, stream_);
  std::vector<float> take = of_active(active, rho, 0);
  if (shrink_)
    multiply(*shrink_, s_, stream_);
  else
    for (std::size_t k = 0; k < take.size(); ++k) take[k] /= 1 + sigma_[k];
  axpby(take, s_, of_active(active, 1 - rho, 1), p_, stream_);
}

void Pdhg::step_regulariser_dual(const ActiveBlocks& active) {
  const float rho = options_.relaxation;
  regulariser_.K.apply(2, solution_, 0, g_, stream_);
  regulariser_.K.apply(-1, x_, 1, g_, stream_);
  axpby(1, q_, sigma_of_regulariser_, g_, stream_);
  regulariser_.conjugate_prox(g_, weights_, sigma_of_regulariser_, stream_);
  axpby(of_active(active, rho, 0), g_, of_active(active, 1 - rho, 1), q_, stream_);
}

const Array& Pdhg::residual() {
  axpby(1, b_, 0, s_, stream_);
  A_.apply(-1, solution_, 1, s_, stream_);
  return s_;
}

std::vector<double> Pdhg::regularity() {
  regulariser_.K.apply(1, solution_, 0, g_, stream_);
  return regulariser_.value(g_, stream_);
}

std::vector<double> Pdhg::objective() {
  const Array& left = residual();
  std::vector<double> misfit = shrink_ ? weighted_squares(left) : dot(left, left, stream_);
  const std::vector<double> uneven = regularity();
  for (std::size_t k = 0; k < misfit.size(); ++k)
    misfit[k] = 0.5 * misfit[k] + weights_[weights_.size() > 1 ? k : 0] * uneven[k];
  return misfit;
}

/// The weights w. From h = w / (w + sigma) follows w = sigma h / (1 - h), with h < 1 since sigma > 0.
Array Pdhg::data_weights() const {
  Array w(A_.range(), stream_);
  fill(w, 1, stream_);
  axpby(-1, *shrink_, 1, w, stream_);
  reciprocal_or_zero(w, 0, stream_);
  multiply(*shrink_, w, stream_);
  return w;
}

void Pdhg::begin_at(const Array& q) {
  axpby(1, q, 0, q_, stream_);
  axpby(-1, r_, 0, p_, stream_);
  if (!shrink_) return;
  const Array w = data_weights();
  multiply(w, p_, stream_);
  axpby(sigma_, p_, std::vector<float>(sigma_.size(), 0.0f), p_, stream_);
}

/// The sum of w r^2.
std::vector<double> Pdhg::weighted_squares(const Array& r) {
  Array w = data_weights();
  multiply(r, w, stream_);
  std::vector<double> squares = dot(w, r, stream_);
  for (std::size_t k = 0; k < squares.size(); ++k) squares[k] *= sigma_[k];
  return squares;
}

std::vector<double> Pdhg::gaps() {
  std::vector<double> gaps = objective();
  const std::vector<double> dual = dual_objective();
  for (std::size_t k = 0; k < gaps.size(); ++k) gaps[k] = gaps[k] > 0 ? 1 - dual[k] / gaps[k] : 0;
  return gaps;
}

/// The dual objective: the minimum of <x', At p + Kt q>, less the conjugates at p and q. By over-relaxation q
/// may be too long, so a proximal step of length zero makes it feasible.
std::vector<double> Pdhg::dual_objective() {
  const std::vector<float> none(sigma_.size(), 0.0f);
  axpby(1, q_, 0, g_, stream_);
  regulariser_.conjugate_prox(g_, weights_, none, stream_);
  Array z(A_.domain(), stream_);
  A_.apply_adjoint(1, p_, 0, z, stream_);
  regulariser_.K.apply_adjoint(1, g_, 1, z, stream_);
  std::vector<double> lengths = norm(solution_, stream_);
  for (double& length : lengths) length *= 2;
  std::vector<double> dual = least_products(std::move(z), options_.bounds, lengths, stream_);
  const std::vector<double> of_data = conjugate_of_misfit();
  for (std::size_t k = 0; k < dual.size(); ++k) dual[k] -= of_data[k];
  if (!regulariser_.conjugate) return dual;
  const std::vector<double> of_regulariser = regulariser_.conjugate(g_, weights_, stream_);
  for (std::size_t k = 0; k < dual.size(); ++k) dual[k] -= of_regulariser[k];
  return dual;
}

/// The sum of p^2 / (2 w) + b p. From h = w / (w + sigma) follows 1 / w = (1 / h - 1) / sigma. Where w is 0,
/// p is 0 too.
std::vector<double> Pdhg::conjugate_of_misfit() {
  std::vector<double> squares = dot(p_, p_, stream_);
  if (shrink_) {
    axpby(1, *shrink_, 0, s_, stream_);
    reciprocal_or_zero(s_, 0, stream_);
    multiply(p_, s_, stream_);
    const std::vector<double> longer = dot(p_, s_, stream_);
    for (std::size_t k = 0; k < squares.size(); ++k) squares[k] = (longer[k] - squares[k]) / sigma_[k];
  }
  const std::vector<double> products = dot(b_, p_, stream_);
  for (std::size_t k = 0; k < squares.size(); ++k) squares[k] = 0.5 * squares[k] + products[k];
  return squares;
}

SolverKind tv_kind() {
  return kind_of<Pdhg>(
      {.name = "tv",
       .class_name = "Pdhg",
       .help = "least squares weighted by counts, with total variation; for low doses and few views",
       .docs =
           "Minimises 1/2 sum of w (Ax - b)^2 + W g(Kx) within bounds, by the primal-dual hybrid gradient "
           "method. Needs a matched pair.",
       .options = {"tv-weight", "nonnegative", "bounds"},
       .numbers = {{"relaxation", PdhgOptions{}.relaxation}, {"balance", PdhgOptions{}.balance}},
       .data_weights = DataWeights::by_itself,
       .iterations = 100,
       .make = [](SolverInput input) {
         return made<Pdhg>(input, std::move(*input.regulariser), std::move(input.weights),
                           std::move(input.data_weights),
                           PdhgOptions{input.bounds, input.numbers["relaxation"], input.numbers["balance"]});
       }});
}

}  // namespace tandem
