#include "error_curve.hpp"

#include <algorithm>
#include <cmath>

#include "../../core/rounding.hpp"

namespace tandem {

namespace {

double octave_of(const WeightTrial& trial) { return std::log2(trial.weight); }

}  // namespace

void ErrorCurve::add(const WeightTrial& trial) {
  const auto behind = std::ranges::upper_bound(trials_, trial.weight, {}, &WeightTrial::weight);
  trials_.insert(behind, trial);
}

double ErrorCurve::log_error(double octave) const {
  const auto beyond = [&](const WeightTrial& end) {
    const double above = coarser_ ? coarser_->log_error(octave) - coarser_->log_error(octave_of(end)) : 0;
    return std::log(end.error) + above;
  };
  const auto next = std::ranges::find_if(trials_, [&](const auto& t) { return octave_of(t) >= octave; });
  if (next == trials_.begin()) return beyond(trials_.front());
  if (next == trials_.end()) return beyond(trials_.back());
  const WeightTrial &low = *std::prev(next), &high = *next;
  const double part = (octave - octave_of(low)) / (octave_of(high) - octave_of(low));
  return (1 - part) * std::log(low.error) + part * std::log(high.error);
}

ErrorCurve::Span ErrorCurve::octaves() const {
  constexpr double beyond = 1;
  const double first = octave_of(trials_.front()), last = octave_of(trials_.back());
  if (!coarser_) return {first, last};
  const bool rises_below = trials_.size() > 1 && trials_[0].error > trials_[1].error;
  const Span tried = coarser_->octaves();
  return {rises_below ? first : std::min(first, std::max(first - beyond, tried.first)),
          std::max(last, std::min(last + beyond, tried.last))};
}

double ErrorCurve::largest_weight(double settled) const {
  constexpr int an_octave = 64;
  const auto [first, last_octave] = octaves();
  const double octaves = last_octave - first;
  const auto steps = ceil_int(octaves * an_octave);
  std::vector<double> errors;
  for (int k = 0; k <= steps; ++k) errors.push_back(log_error(first + octaves * k / std::max(1, steps)));
  double uncertainty = 0;
  for (const WeightTrial& trial : trials_) uncertainty += trial.uncertainty / trial.error;
  uncertainty /= trials_.size();
  const double most = *std::ranges::min_element(errors) + std::log1p(std::max(uncertainty, settled));
  int last = steps;
  while (errors[last] > most) --last;
  return std::exp2(first + octaves * last / std::max(1, steps));
}

}  // namespace tandem
