#include "pdhg.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "../core/error.hpp"
#include "../operators/algebra.hpp"
#include "../operators/circulant_metric.hpp"
#include "../operators/random.hpp"
#include "../operators/vector.hpp"
#include "checks.hpp"
#include "per_block.hpp"
#include "solver_kind.hpp"

namespace tandem {

namespace {

/// The part of the largest factor between At A and its circulant model that is sure to be there: more is
/// found.
constexpr float first_theta = 4;

}  // namespace

Pdhg::Pdhg(LinearOperator A, Array b, Array x0, Regulariser regulariser, std::vector<float> weights,
           std::optional<Array> data_weights, PdhgOptions options)
    : A_(std::move(A)),
      regulariser_(std::move(regulariser)),
      options_(options),
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
  axpby(1, b_, 0, r_, stream_);
  A_.apply(-1, x_, 1, r_, stream_);
  first_misfits_ = misfits().first;
  step_duals_at_start();
}

/// The sums of w r^2 and of (w r)^2 of each block.
std::pair<std::vector<double>, std::vector<double>> Pdhg::misfits() {
  axpby(1, r_, 0, s_, stream_);
  if (data_weights_) multiply(*data_weights_, s_, stream_);
  return {dot(s_, r_, stream_), dot(s_, s_, stream_)};
}

/// Sets sigma to a share of |p| / |A (x - x0)| at the end, as these are now: p comes to -w r, and what the
/// squares of the residual have lost is |A (x - x0)|^2. The metric goes along.
void Pdhg::balance() {
  constexpr double share = 0.3, least = 0.1, most = 1.5;  // the latter two of `options_.balance`
  const auto [now, of_p] = misfits();
  for (std::size_t k = 0; k < sigma_.size(); ++k) {
    const double lost = std::max(first_misfits_[k] - now[k], 1e-6 * now[k]), mean = mean_weights_[k];
    if (!(lost > 0) || !std::isfinite(of_p[k] / lost)) continue;
    const double usual = options_.balance * mean;
    const double wanted = std::clamp(share * std::sqrt(mean * of_p[k] / lost), least * usual, most * usual);
    const auto times = static_cast<float>(wanted / double{sigma_[k]});
    sigma_[k] *= times, of_data_[k] *= times;
    if (bounded_) bounded_->sigma[k] *= times;
  }
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
  return all;
}

/// sigma is a share of the mean weight of the data.
void Pdhg::choose_data_steps() {
  sigma_.assign(A_.domain().block_count(), options_.balance);
  mean_weights_.assign(sigma_.size(), 1.0);
  longest_.assign(sigma_.size(), 1.0f);
  moved_.assign(sigma_.size(), 0.0), moved_last_ = moved_before_ = way_ = moved_;
  if (data_weights_) average_weights();
}

/// Finds the size of sigma At A from its trace, by a vector of signs (Hutchinson 1990). The metric begins
/// with a multiple of it that is about right for views from all around.
void Pdhg::choose_metric() {
  const bool of_projector = A_.range().parts() == 1 && A_.range().key() != 0;
  const auto [nz, ny, nx] = A_.domain().whole().shape();
  if (have_ends(options_.bounds))
    of_bounds_ = of_projector ? std::sqrt(static_cast<float>(std::max(ny, nx))) : 1;
  metric_ = std::make_shared<const CirculantMetric>(A_.domain(), of_projector, regulariser_.differences,
                                                    regulariser_.norm_squared, of_bounds_);
  fill_with_signs(d_, 1, stream_);
  A_.apply(1, d_, 0, s_, stream_);
  const std::vector<double> traces = dot(s_, s_, stream_);
  for (std::size_t k = 0; k < traces.size(); ++k)
    of_data_.push_back(static_cast<float>(first_theta * sigma_[k] * traces[k] / metric_->trace()));
}

/// Chooses the steps of the regulariser's dual: W times a number that has the unit of |q| / |K x|, from a
/// first volume. Where that is flat but for rounding, it is what the metric makes of the data, which is
/// nearly FBP; and where that is flat too, signs of a thousandth of its size.
void Pdhg::choose_regulariser_steps() {
  constexpr double share = 2, rounding = 1e-10;
  const auto from = [&](const Array& volume) {
    regulariser_.K.apply(1, volume, 0, g_, stream_);
    const std::vector<double> values = regulariser_.value(g_, stream_), squares = dot(g_, g_, stream_);
    std::vector<double> sizes = dot(volume, volume, stream_);
    for (std::size_t k = 0; k < squares.size(); ++k)
      if (!(steps_a_weight_[k] > 0) && squares[k] > rounding * regulariser_.norm_squared * sizes[k] &&
          std::isfinite(values[k]))
        steps_a_weight_[k] = static_cast<float>(share * values[k] / squares[k]);
    return sizes;
  };
  steps_a_weight_.assign(sigma_.size(), 0.0f);
  from(x_);
  if (*std::ranges::min_element(steps_a_weight_) > 0) return;
  axpby(1, b_, 0, s_, stream_);
  if (data_weights_) shrink(*data_weights_, sigma_, s_, stream_);  // nearly b, but for data of little weight
  A_.apply_adjoint(first_theta, s_, 0, d_, stream_);
  axpby(sigma_, d_, std::vector<float>(sigma_.size(), 0.0f), d_, stream_);
  const std::vector<double> sizes =
      from(metric_->inverse(of_data_, std::vector<float>(of_data_.size(), 0.0f)) * d_);
  if (*std::ranges::min_element(steps_a_weight_) > 0) return;
  fill_with_signs(d_, 1, stream_);
  const std::vector<double> ones = dot(d_, d_, stream_);
  std::vector<float> small(sizes.size());
  for (std::size_t k = 0; k < small.size(); ++k)
    small[k] = static_cast<float>(1e-3 * std::sqrt(sizes[k] / ones[k]));
  axpby(small, d_, std::vector<float>(small.size(), 0.0f), d_, stream_);
  from(d_);
}

void Pdhg::weigh(std::vector<float> weights) {
  require_weights(weights, A_.domain().block_count(), "Pdhg");
  weights_ = std::move(weights);
  if (std::exchange(steps_.front(), 0) == 0) return;
  first_misfits_ = misfits().first;
  for (std::vector<double>* all : {&moved_, &moved_last_, &moved_before_, &way_}) std::ranges::fill(*all, 0);
}

std::vector<float> Pdhg::sigma_of_regulariser() const {
  std::vector<float> steps = steps_a_weight_;
  for (std::size_t k = 0; k < steps.size(); ++k) steps[k] *= weights_[weights_.size() > 1 ? k : 0];
  return steps;
}

void Pdhg::average_weights() {
  require_none_negative(*data_weights_, s_, "Pdhg: data weights", stream_);
  fill(s_, 1, stream_);
  const std::vector<double> sums = dot(*data_weights_, s_, stream_), ones = dot(s_, s_, stream_);
  for (std::size_t k = 0; k < sums.size(); ++k)
    if (sums[k] > 0) {
      mean_weights_[k] = sums[k] / ones[k];
      sigma_[k] *= static_cast<float>(mean_weights_[k]);
    }
}

/// A volume of scratch, which shares its memory with g if it can.
VectorView Pdhg::beside() { return beside_ ? VectorView(*beside_) : VectorView(g_).part(0); }

void Pdhg::step(const ActiveBlocks& active) {
  constexpr std::array balanced_after{10.0, 15.0, 20.0};
  if (std::ranges::count(balanced_after, steps_.front())) balance();
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

/// Shortens steps, now and from now on, where sigma |A d|^2 + sigma' |K d|^2 + sigma'' |d|^2 is too large for
/// the metric. For a step of length t along d, |d|^2 in the metric is -t times the slope.
void Pdhg::limit_length(const std::vector<double>& slopes, const std::vector<double>& squares) {
  constexpr double margin = 1.25;  // directions to come may be worse
  const std::vector<double> of_data = dot(s_, s_, stream_), of_regulariser = dot(g_, g_, stream_);
  const std::vector<float> of_q = sigma_of_regulariser();
  for (std::size_t k = 0; k < slopes.size(); ++k) {
    const double sum = sigma_[k] * of_data[k] + of_q[k] * of_regulariser[k] +
                       (bounded_ ? bounded_->sigma[k] : 0) * squares[k];
    if (sum > 0 && slopes[k] < 0)
      longest_[k] = static_cast<float>(std::min<double>(longest_[k], -slopes[k] / (margin * sum)));
  }
}

void Pdhg::measure_steps(const std::vector<double>& squares) {
  for (std::size_t k = 0; k < squares.size(); ++k)
    moved_[k] += double{options_.relaxation * longest_[k]} * std::sqrt(squares[k]);
  if (std::fmod(steps_.front(), 5) != 0) return;
  const bool first = steps_.front() == 5;  // these come from a first volume of any kind to about FBP
  for (std::size_t k = 0; k < moved_.size(); ++k) way_[k] += first ? 0 : moved_[k];
  moved_before_ = std::exchange(moved_last_, moved_);
  std::ranges::fill(moved_, 0.0);
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

/// For v = x + 2 t d + y / sigma, y goes to sigma times what the projection takes away from v.
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

std::vector<double> Pdhg::regularity() {
  regulariser_.K.apply(1, solution(), 0, g_, stream_);
  return regulariser_.value(g_, stream_);
}

std::vector<double> Pdhg::objective() {
  const Array& left = residual();
  std::vector<double> misfit;
  if (data_weights_) {
    Array weighted = left.clone(stream_);
    multiply(*data_weights_, weighted, stream_);
    misfit = dot(weighted, left, stream_);
  } else {
    misfit = dot(left, left, stream_);
  }
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

std::vector<double> Pdhg::distances() const {
  constexpr double least_steps = 20;  // slow frequencies show themselves after the fast ones
  std::vector<double> rest(moved_.size(), INFINITY);
  for (std::size_t k = 0; k < rest.size(); ++k) {
    const double last = moved_last_[k], ratio = last / moved_before_[k];
    if (steps_.front() < least_steps) continue;
    if (last == 0)
      rest[k] = 0;
    else if (ratio < 1)
      rest[k] = last * ratio / (1 - ratio) / way_[k];
  }
  return rest;
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
  std::vector<double> dual = least_products(std::move(z), options_.bounds, lengths, stream_);
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
