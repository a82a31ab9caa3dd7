#include "error_curve.hpp"

#include <algorithm>
#include <cmath>

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

std::vector<double> ErrorCurve::corners() const {
  std::vector<double> all = coarser_ ? coarser_->corners() : std::vector<double>{};
  for (const WeightTrial& trial : trials_) all.push_back(octave_of(trial));
  return all;
}

double ErrorCurve::largest_weight(double settled) const {
  const auto [first, last] = octaves();
  std::vector<double> at{first, last};  // between these the curve is straight
  for (const double octave : corners())
    if (octave > first && octave < last) at.push_back(octave);
  std::ranges::sort(at);
  std::vector<double> errors;
  for (const double octave : at) errors.push_back(log_error(octave));
  double uncertainty = 0;
  for (const WeightTrial& trial : trials_) uncertainty += trial.uncertainty / trial.error;
  uncertainty /= trials_.size();
  const double most = *std::ranges::min_element(errors) + std::log1p(std::max(uncertainty, settled));
  std::size_t low = at.size() - 1;
  while (errors[low] > most) --low;
  if (low + 1 == at.size()) return std::exp2(last);
  const double part = (most - errors[low]) / (errors[low + 1] - errors[low]);
  return std::exp2(at[low] + part * (at[low + 1] - at[low]));
}

}  // namespace tandem
