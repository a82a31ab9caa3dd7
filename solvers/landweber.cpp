#include "landweber.hpp"

#include <cmath>

#include "../core/error.hpp"
#include "../operators/random.hpp"
#include "../operators/vector.hpp"

namespace tandem {

Landweber::Landweber(LinearOperator A, Array&& b, Array x0, LandweberOptions options)
    : A_(std::move(A)),
      options_(options),
      stream_(default_stream(A_.domain().device())),
      b_(std::move(b)),
      x_(std::move(x0)),
      r_(A_.range()),
      update_(A_.domain()) {
  require<GeometryError>(options_.relaxation > 0 && options_.relaxation < 2, "Landweber: relaxation ",
                         options_.relaxation, "; a number between 0 and 2 is needed");
  choose_steps();
  if (options_.nonnegative) clamp_below(x_, 0, stream_);
  update_residual();
  falls_.assign(residual_norms_.size(), INFINITY);
}

/// The Rayleigh quotient |A v|^2 / |v|^2 of a block grows towards |A|^2 from step to step.
void Landweber::choose_steps() {
  constexpr int power_steps = 10;
  fill(update_, 1, stream_);
  std::vector<double> length = norm(update_, stream_);
  for (int k = 0; k < power_steps; ++k) {
    if (k > 0) {
      A_.apply_adjoint(1, r_, 0, update_, stream_);
      length = norm(update_, stream_);
    }
    const std::vector<float> nothing(length.size(), 0.0f);
    std::vector<float> scale;
    for (const double l : length) scale.push_back(l > 0 ? static_cast<float>(1 / l) : 0.0f);
    axpby(nothing, x_, scale, update_, stream_);  // of length 1 in each block
    A_.apply(1, update_, 0, r_, stream_);
  }
  const std::vector<double> stretched = norm(r_, stream_), unit = norm(update_, stream_);
  steps_.clear();
  for (std::size_t k = 0; k < stretched.size(); ++k) {
    const double ratio = stretched[k] > 0 ? unit[k] / stretched[k] : 0;
    steps_.push_back(static_cast<double>(options_.relaxation) * ratio * ratio);
  }
}

void Landweber::update_residual() {
  axpby(1, b_, 0, r_, stream_);
  A_.apply(-1, x_, 1, r_, stream_);
  residual_norms_ = norm(r_, stream_);
}

void Landweber::step(const ActiveBlocks& active) {
  const float one = 1;
  A_.apply_adjoint(1, r_, 0, update_, stream_);
  std::vector<float> steps(active.size());
  for (std::size_t k = 0; k < active.size(); ++k) steps[k] = active[k] ? static_cast<float>(steps_[k]) : 0.0f;
  axpby(steps, update_, std::span(&one, 1), x_, stream_);
  if (options_.nonnegative) clamp_below(x_, 0, stream_);
  const std::vector<double> before = residual_norms_;
  update_residual();
  for (std::size_t k = 0; k < active.size(); ++k) {
    if (!active[k]) continue;
    const double fall = (before[k] - residual_norms_[k]) * (before[k] + residual_norms_[k]);
    falls_[k] = steps_[k] > 0 ? fall / steps_[k] : 0;
  }
}

std::vector<double> Landweber::traces() {
  fill_with_signs(r_, 1, stream_);
  A_.apply_adjoint(1, r_, 0, update_, stream_);
  std::vector<double> traces = dot(update_, update_, stream_);
  update_residual();  // r was the scratch
  return traces;
}

}  // namespace tandem
