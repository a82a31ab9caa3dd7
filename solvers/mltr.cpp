#include "mltr.hpp"

#include <cmath>

#include "../core/error.hpp"
#include "../operators/norms.hpp"
#include "../operators/random.hpp"
#include "../operators/vector.hpp"
#include "checks.hpp"
#include "solver_kind.hpp"

namespace tandem {

namespace {

constexpr float nothing = 1e-30f;

}  // namespace

Mltr::Mltr(LinearOperator A, Data counts, Data blank, Array x0, MltrOptions options)
    : SolverBase(std::move(A), std::move(x0)),
      options_(std::move(options)),
      counts_(std::move(counts.own)),
      blank_(std::move(blank.own)),
      lengths_(row_sums(A_)),
      projected_(A_.range(), stream_),
      rest_(A_.range(), stream_),
      scratch_(A_.range(), stream_),
      aim_(A_.domain(), stream_),
      curvatures_(A_.domain(), stream_) {
  require_finite_lowest(options_.bounds, "Mltr");
  require_none_negative(counts_, rest_, "Mltr: counts", stream_);
  require_none_negative(blank_, rest_, "Mltr: blank counts", stream_);
  keep_rays_that_count();
  clamp(x_, options_.bounds, stream_);
  A_.apply(1, x_, 0, projected_, stream_);
  update_residual();
  falls_.assign(residual_norms_.size(), INFINITY);
}

/// Sets counts and blank to 0 for rays that cannot count: rays past the grid, and rays with a blank of 0.
void Mltr::keep_rays_that_count() {
  axpby(1, lengths_, 0, rest_, stream_);
  divide(lengths_, least_sums(lengths_, stream_), 0, rest_, stream_);  // 1 or 0
  multiply(rest_, blank_, stream_);
  axpby(1, blank_, 0, rest_, stream_);
  divide(blank_, 0, 0, rest_, stream_);
  multiply(rest_, counts_, stream_);
}

void Mltr::update_residual() {
  axpby(1, blank_, 0, rest_, stream_);
  attenuate(projected_, rest_, stream_);
  axpby(1, counts_, -1, rest_, stream_);
  residual_norms_ = norm(rest_, stream_);
}

/// Makes the z of the formula.
void Mltr::aim() {
  A_.apply_adjoint(-1, rest_, 0, aim_, stream_);
  axpby(1, blank_, 0, scratch_, stream_);
  attenuate(projected_, scratch_, stream_);
  multiply(lengths_, scratch_, stream_);
  A_.apply_adjoint(1, scratch_, 0, curvatures_, stream_);
  divide(curvatures_, nothing, 0, aim_, stream_);
  axpby(1, x_, 1, aim_, stream_);
  clamp(aim_, options_.bounds, stream_);
}

/// The sum of r^2 / (b exp(-Ax)) of each block.
std::vector<double> Mltr::spreads() {
  axpby(1, blank_, 0, scratch_, stream_);
  attenuate(projected_, scratch_, stream_);
  reciprocal_or_zero(scratch_, nothing, stream_);
  multiply(rest_, scratch_, stream_);
  return dot(rest_, scratch_, stream_);
}

/// The trace of A C At is that of the square of sqrt(C) At. It is no bound that is too large by a half, for
/// which `stagnation` allows.
std::vector<double> Mltr::traces() {
  constexpr double of_bound = 2.0 / 3;
  A_.apply_adjoint(1, lengths_, 0, curvatures_, stream_);
  reciprocal_or_zero(curvatures_, nothing, stream_);
  fill_with_signs(scratch_, 1, stream_);
  A_.apply_adjoint(1, scratch_, 0, aim_, stream_);
  multiply(aim_, curvatures_, stream_);
  std::vector<double> traces = dot(aim_, curvatures_, stream_);
  for (double& trace : traces) trace *= of_bound;
  return traces;
}

/// The share of the way that each block goes towards z. The scratch becomes A (z - x), the change of Ax of a
/// whole step.
std::vector<float> Mltr::shares(const ActiveBlocks& active) {
  const std::vector<double> spread = spreads();
  const std::vector<float> take(active.begin(), active.end());
  A_.apply(1, aim_, 0, scratch_, stream_);
  axpby(-1, projected_, 1, scratch_, stream_);
  const std::vector<double> rises = dot(rest_, scratch_, stream_);  // slopes of -log of the likelihood
  for (std::size_t k = 0; k < active.size(); ++k)
    if (active[k]) falls_[k] = spread[k] > 0 ? -rises[k] * std::pow(residual_norms_[k], 2) / spread[k] : 0;
  axpby(take, scratch_, 1, projected_, stream_);
  axpby(1, blank_, 0, rest_, stream_);
  attenuate(projected_, rest_, stream_);
  multiply(scratch_, rest_, stream_);
  const std::vector<double> bends = dot(rest_, scratch_, stream_);  // its second derivative at z
  std::vector<float> shares(active.size(), 0.0f);
  for (std::size_t k = 0; k < active.size(); ++k)
    if (const double ratio = bends[k] / -rises[k]; active[k] && rises[k] < 0)
      shares[k] = ratio > 1 ? static_cast<float>(2 / (1 + std::sqrt(2 * ratio - 1))) : 1.0f;
  return shares;
}

void Mltr::step(const ActiveBlocks& active) {
  aim();
  const std::vector<float> forward = shares(active);
  std::vector<float> back;
  for (std::size_t k = 0; k < active.size(); ++k) back.push_back(active[k] ? forward[k] - 1 : 0.0f);
  axpby(back, scratch_, 1, projected_, stream_);
  axpby(-1, x_, 1, aim_, stream_);
  axpby(forward, aim_, 1, x_, stream_);
  clamp(x_, options_.bounds, stream_);  // since rounding may have left the bounds
  update_residual();
}

std::vector<double> Mltr::objective() {
  fill(scratch_, 1, stream_);
  attenuate(projected_, scratch_, stream_);
  std::vector<double> sums = dot(blank_, scratch_, stream_);
  const std::vector<double> of_counts = dot(counts_, projected_, stream_);
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += of_counts[k];
  return sums;
}

SolverKind mltr_kind() {
  return kind_of<Mltr>(
      {.name = "mltr",
       .class_name = "Mltr",
       .help = "maximum likelihood of counts, without their logarithm: for a few photons, zeros among them",
       .docs =
           "Maximum likelihood of transmission counts. b: counts, none negative, zeros among them; blank: "
           "counts without an object, of the shape of b. The means of b are blank * exp(-Ax). The likelihood "
           "never falls, and all voxels stay within the bounds, the lowest of which must be finite.",
       .options = {"bounds"},
       .bounds = above_zero,
       .data_weights = DataWeights::by_itself,
       .takes_blank = true,
       .pair = NeededPair::nearly_matched,
       .only_positive = true,
       .iterations = 200,
       .make = [](SolverInput input) {
         Stream& stream = default_stream(input.b.space().device());
         if (input.data_weights)  // weights of log likelihoods, which are linear in both
           for (Array* counts : {&input.b, &*input.blank}) multiply(*input.data_weights, *counts, stream);
         return AnySolver(Mltr(std::get<LinearOperator>(std::move(input.A)), std::move(input.b),
                               std::move(*input.blank), std::move(input.x0), {input.bounds}));
       }});
}

}  // namespace tandem
