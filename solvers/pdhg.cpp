#include "pdhg.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "../core/error.hpp"
#include "../operators/algebra.hpp"
#include "../operators/circulant_metric.hpp"
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
      r_(A_.range(), stream_),
      p_(zeros(A_.range(), stream_)),
      s_(A_.range(), stream_),
      q_(zeros(regulariser_.K.range(), stream_)),
      g_(regulariser_.K.range(), stream_),
      d_(A_.domain(), stream_),
      data_weights_(std::move(data_weights)) {
  require_relaxation(options_.relaxation, "Pdhg");
  require<GeometryError>(options_.balance > 0 && std::isfinite(options_.balance), "Pdhg: balance ",
                         options_.balance, "; a positive number is needed");
  require_weights(weights, A_.domain().block_count(), "Pdhg");
  if (!q_.space().part(0).fits(A_.domain())) beside_.emplace(A_.domain(), stream_);
  validate(options_.bounds);
  clamp(x_, options_.bounds, stream_);
  choose_data_steps();
  choose_metric();
  choose_regulariser_steps();
  weigh(std::move(weights));
  if (have_ends(options_.bounds)) {
    bounded_.emplace(Bounded{zeros(A_.domain(), stream_), Array(A_.domain(), stream_), of_data_});
    for (float& sigma : bounded_->sigma) sigma *= of_bounds_;
    project();
  }
  if (options_.levels) {
    validate(*options_.levels);
    require<GeometryError>(bounded_.has_value(), "Pdhg: levels need bounds; give them as bounds, too");
    staged_.emplace(Staged{zeros(A_.domain(), stream_), Array(A_.domain(), stream_),
                           std::vector<double>(sigma_.size(), 0.0)});
  }
  axpby(1, b_, 0, r_, stream_);
  A_.apply(-1, x_, 1, r_, stream_);
  first_misfits_ = misfits().first;
  step_duals_at_start();
}

/// The dual step at x itself, without which the first step of x would be none.
void Pdhg::step_duals_at_start() {
  const ActiveBlocks all(sigma_.size(), true);
  fill(d_, 0, stream_), fill(s_, 0, stream_), fill(g_, 0, stream_);
  step_data_dual(all);
  step_regulariser_dual(all);
  if (bounded_) step_bounds_dual(all);
}

SolverState Pdhg::state() {
  SolverState all{{"x", x_},
                  {"r", r_},
                  {"p", p_},
                  {"q", q_},
                  {"longest", longest_},
                  {"steps_a_weight", steps_a_weight_},
                  {"residual_norms", residual_norms_},
                  {"steps", steps_},
                  {"first_misfits", first_misfits_},
                  {"sigma", sigma_},
                  {"of_data", of_data_},
                  {"moved", moved_},
                  {"moved_last", moved_last_},
                  {"moved_before", moved_before_},
                  {"way", way_}};
  if (bounded_)
    all.insert(all.end(),
               {{"y", bounded_->y}, {"solution", bounded_->solution}, {"sigma of bounds", bounded_->sigma}});
  if (staged_)
    all.insert(all.end(), {{"slope of levels", staged_->slope},
                           {"without levels", staged_->without},
                           {"misfits without levels", staged_->misfits}});
  return all;
}

void Pdhg::weigh(std::vector<float> weights) {
  require_weights(weights, A_.domain().block_count(), "Pdhg");
  weights_ = std::move(weights);
  if (std::exchange(steps_.front(), 0) == 0) return;
  first_misfits_ = misfits().first;
  for (std::vector<double>* all : {&moved_, &moved_last_, &moved_before_, &way_}) std::ranges::fill(*all, 0);
}

/// A volume of scratch, which shares its memory with g if it can.
VectorView Pdhg::beside() { return beside_ ? VectorView(*beside_) : VectorView(g_).part(0); }

void Pdhg::step(const ActiveBlocks& active) {
  constexpr std::array balanced_after{10.0, 15.0, 20.0};
  if (std::ranges::count(balanced_after, steps_.front())) balance();
  if (staged_) begin_stage();
  ++steps_.front();
  const std::vector<double> slopes = find_direction();
  A_.apply(1, d_, 0, s_, stream_);
  regulariser_.K.apply(1, d_, 0, g_, stream_);
  const std::vector<double> squares = dot(d_, d_, stream_);
  limit_length(slopes, squares);
  measure_steps(squares);
  step_data_dual(active);
  step_regulariser_dual(active);
  if (bounded_) step_bounds_dual(active);
  axpby(times(options_.relaxation, active), d_, 1, x_, stream_);
  if (bounded_) project();
  if (staged_) judge_levels();
}

/// d <- -M^-1 (At p + Kt q + y), the direction of x. @returns the slope along it, less than zero
std::vector<double> Pdhg::find_direction() {
  const VectorView slope = beside();
  A_.apply_adjoint(1, p_, 0, slope, stream_);
  regulariser_.K.apply_adjoint(1, q_, 1, slope, stream_);
  if (bounded_) axpby(1, bounded_->y, 1, slope, stream_);
  metric_->inverse(of_data_, sigma_of_regulariser()).apply(-1, slope, 0, d_, stream_);
  return dot(slope, d_, stream_);
}

/// A factor times the length of the step of each block, 0 for one that has stopped.
std::vector<float> Pdhg::times(float factor, const ActiveBlocks& active) const {
  std::vector<float> all = of_active(active, factor, 0);
  for (std::size_t k = 0; k < all.size(); ++k) all[k] *= longest_[k];
  return all;
}

/// Takes the dual step of the data at x + 2 t d, whose residual is r - 2 t A d. r is relaxed as x is.
void Pdhg::step_data_dual(const ActiveBlocks& active) {
  const float rho = options_.relaxation;
  axpby(times(-rho, active), s_, 1, r_, stream_);
  axpby(-1, r_, times(2 - rho, active), s_, stream_);
  axpby(1, p_, sigma_, s_, stream_);
  std::vector<float> take = of_active(active, rho, 0);
  if (data_weights_)
    shrink(*data_weights_, sigma_, s_, stream_);
  else
    for (std::size_t k = 0; k < take.size(); ++k) take[k] /= 1 + sigma_[k];
  axpby(take, s_, of_active(active, 1 - rho, 1), p_, stream_);
  residual_norms_ = norm(r_, stream_);
}

void Pdhg::step_regulariser_dual(const ActiveBlocks& active) {
  const float rho = options_.relaxation;
  axpby(times(2, active), g_, of_active(active, 0, 0), g_, stream_);
  regulariser_.K.apply(1, x_, 1, g_, stream_);
  const std::vector<float> sigma = sigma_of_regulariser();
  axpby(1, q_, sigma, g_, stream_);
  regulariser_.conjugate_prox(g_, weights_, sigma, stream_);
  axpby(of_active(active, rho, 0), g_, of_active(active, 1 - rho, 1), q_, stream_);
}

/// For v = x + 2 t d + y / sigma, y goes to sigma times what the projection takes away from v. With levels
/// the point that is projected is v less their slope / sigma.
void Pdhg::step_bounds_dual(const ActiveBlocks& active) {
  const float rho = options_.relaxation;
  const VectorView v = beside();
  std::vector<float> inverse, step;
  for (const float sigma : bounded_->sigma)
    inverse.push_back(sigma > 0 ? 1 / sigma : 0.0f), step.push_back(rho * sigma);
  axpby(1, x_, 0, v, stream_);
  axpby(times(2, active), d_, 1, v, stream_);
  axpby(inverse, bounded_->y, 1, v, stream_);
  axpby(1, v, 0, bounded_->solution, stream_);
  if (staged_) {
    for (float& one : inverse) one = -one;
    axpby(inverse, staged_->slope, 1, bounded_->solution, stream_);
  }
  clamp(bounded_->solution, options_.bounds, stream_);
  axpby(-1, bounded_->solution, 1, v, stream_);
  for (std::size_t k = 0; k < step.size(); ++k) step[k] = active[k] ? step[k] : 0;
  axpby(step, v, of_active(active, 1 - rho, 1), bounded_->y, stream_);
}

/// The solution is the point within bounds that is nearest to x.
void Pdhg::project() {
  axpby(1, x_, 0, bounded_->solution, stream_);
  clamp(bounded_->solution, options_.bounds, stream_);
}

const Array& Pdhg::residual() {
  axpby(1, b_, 0, s_, stream_);
  A_.apply(-1, solution(), 1, s_, stream_);
  return s_;
}

/// The sum of w (b - Ax)^2 of each block.
std::vector<double> Pdhg::weighted_misfits_of_solution() {
  const Array& left = residual();
  if (!data_weights_) return dot(left, left, stream_);
  Array weighted = left.clone(stream_);
  multiply(*data_weights_, weighted, stream_);
  return dot(weighted, left, stream_);
}

std::vector<double> Pdhg::regularity() {
  regulariser_.K.apply(1, solution(), 0, g_, stream_);
  return regulariser_.value(g_, stream_);
}

std::vector<double> Pdhg::objective() {
  std::vector<double> misfit = weighted_misfits_of_solution();
  const std::vector<double> uneven = regularity();
  for (std::size_t k = 0; k < misfit.size(); ++k)
    misfit[k] = 0.5 * misfit[k] + weights_[weights_.size() > 1 ? k : 0] * uneven[k];
  return misfit;
}

void Pdhg::begin_at(const Array& q) {
  axpby(1, q, 0, q_, stream_);
  axpby(-1, r_, 0, p_, stream_);
  if (data_weights_) multiply(*data_weights_, p_, stream_);
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
  std::vector<double> lengths = norm(solution(), stream_);
  for (double& length : lengths) length *= 2;
  std::vector<double> dual = least_products(z, options_.bounds, lengths, stream_);
  const std::vector<double> of_data = conjugate_of_misfit();
  for (std::size_t k = 0; k < dual.size(); ++k) dual[k] -= of_data[k];
  if (!regulariser_.conjugate) return dual;
  const std::vector<double> of_regulariser = regulariser_.conjugate(g_, weights_, stream_);
  for (std::size_t k = 0; k < dual.size(); ++k) dual[k] -= of_regulariser[k];
  return dual;
}

/// The sum of p^2 / (2 w) + b p. Where w is 0, p is 0 too.
std::vector<double> Pdhg::conjugate_of_misfit() {
  axpby(1, p_, 0, s_, stream_);
  if (data_weights_) divide(*data_weights_, 0, 0, s_, stream_);
  std::vector<double> squares = dot(p_, s_, stream_);
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
           "method in a circulant metric. Needs a matched pair.",
       .options = {"tv-weight", "nonnegative", "bounds", "levels", "tv-direction"},
       .numbers = {{"relaxation", PdhgOptions{}.relaxation}, {"balance", PdhgOptions{}.balance}},
       .data_weights = DataWeights::by_itself,
       .iterations = 100,
       .make = [](SolverInput input) {
         return made<Pdhg>(
             input, std::move(*input.regulariser), std::move(input.weights), std::move(input.data_weights),
             PdhgOptions{input.bounds, input.numbers["relaxation"], input.numbers["balance"], input.levels});
       }});
}

}  // namespace tandem
