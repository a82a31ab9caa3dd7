// How long the steps of PDHG are.

#include <algorithm>
#include <cmath>

#include "../operators/algebra.hpp"
#include "../operators/circulant_metric.hpp"
#include "../operators/random.hpp"
#include "../operators/vector.hpp"
#include "checks.hpp"
#include "pdhg.hpp"

namespace tandem {

namespace {

/// The part of the largest factor between At A and its circulant model that is sure to be there: more is
/// found.
constexpr float first_theta = 4;

}  // namespace

/// sigma is a share of the mean weight of the data.
void Pdhg::choose_data_steps() {
  sigma_.assign(A_.domain().block_count(), options_.balance);
  mean_weights_.assign(sigma_.size(), 1.0);
  longest_.assign(sigma_.size(), 1.0f);
  moved_.assign(sigma_.size(), 0.0), moved_last_ = moved_before_ = way_ = moved_;
  if (data_weights_) average_weights();
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

/// Finds the size of sigma At A from its trace, by a vector of signs (Hutchinson 1990). The metric begins
/// with a multiple of it that is about right for views from all around.
void Pdhg::choose_metric() {
  const bool of_projector = A_.range().parts() == 1 && A_.range().key() != 0;
  const auto [nz, ny, nx] = A_.domain().whole().shape();
  if (have_ends(options_.bounds))
    of_bounds_ = of_projector ? std::sqrt(static_cast<float>(std::max(ny, nx))) : 1;
  metric_ =
      std::make_shared<const CirculantMetric>(A_.domain(), of_projector, regulariser_.differences,
                                              regulariser_.shear, regulariser_.norm_squared, of_bounds_);
  fill_with_signs(d_, 1, stream_);
  A_.apply(1, d_, 0, s_, stream_);
  const std::vector<double> traces = dot(s_, s_, stream_);
  const auto voxels = static_cast<double>(A_.domain().whole().size()) / static_cast<double>(traces.size());
  for (std::size_t k = 0; k < traces.size(); ++k) {
    of_data_.push_back(static_cast<float>(first_theta * sigma_[k] * traces[k] / metric_->trace()));
    diagonal_.push_back(static_cast<float>(mean_weights_[k] * traces[k] / voxels));
  }
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

std::vector<float> Pdhg::sigma_of_regulariser() const {
  std::vector<float> steps = steps_a_weight_;
  for (std::size_t k = 0; k < steps.size(); ++k) steps[k] *= weights_[weights_.size() > 1 ? k : 0];
  return steps;
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

std::vector<double> Pdhg::distances() const {
  constexpr double least_steps = 20;  // slow frequencies show themselves after the fast ones
  std::vector<double> rest(moved_.size(), INFINITY);
  if (options_.levels && steps_.front() < options_.levels->steps()) return rest;
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

}  // namespace tandem
