#include "spread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tandem::calibration {

namespace {

/// The standard deviation of a sum of what parts pull, if these are independent; a single part tells none.
/// Few parts have a wider one: by about Student's factor for one standard deviation.
double spread_of(const std::vector<double>& pulls) {
  double squares = 0;
  for (const double pull : pulls) squares += pull * pull;
  const double free = pulls.size() - 1.0;
  return free < 1 ? 0 : std::sqrt(squares * (free + 1) / free) * (1 + 0.5 / free);
}

std::vector<double> in_groups(const std::vector<double>& pulls) {
  constexpr std::size_t most = 16;
  std::vector<double> sums(std::min(most, pulls.size()), 0);
  for (std::size_t k = 0; k < pulls.size(); ++k) sums[k * sums.size() / pulls.size()] += pulls[k];
  return sums;
}

}  // namespace

double spread(std::span<const Pull> parts) {
  double curvature = 0, squares = 0, fourths = 0;
  for (const Pull& part : parts) {
    const double square = part.slope * part.slope;
    curvature += part.curvature, squares += square, fourths += square * square;
  }
  if (!(curvature > 0)) return std::numeric_limits<double>::infinity();
  if (parts.size() < 2 || !(fourths > 0)) return 0;
  const double equal_parts = squares * squares / fourths;
  return std::sqrt(squares) / curvature * (1 + 2 / equal_parts);
}

double widest_spread(std::span<const std::vector<Pull>> partings, double floor) {
  double widest = 0;
  for (const std::vector<Pull>& parts : partings) widest = std::max(widest, spread(parts));
  return std::hypot(widest, floor);
}

double spread_with_rivals(double spread, double rise, const Trial& best, std::span<const Trial> trials) {
  if (!std::isfinite(spread) || trials.size() < 2) return spread;
  constexpr double near = 3;  // in bins, and in spreads: the spread itself covers these
  const double step = trials[1].axis - trials[0].axis;
  double sum = spread * std::sqrt(2 * std::numbers::pi), squares = sum * spread * spread;
  for (const Trial& trial : trials) {
    const double away = std::abs(trial.axis - best.axis);
    if (away < near * std::max(1.0, spread)) continue;
    const double likely = step * std::exp(std::min(0.0, 0.5 * (best.misfit - trial.misfit) / rise));
    sum += likely, squares += likely * away * away;
  }
  return std::sqrt(squares / sum);
}

double axis_spread(const std::array<std::vector<double>, 3>& pulls) {
  constexpr double beyond_chance = 1.6;  // the 95 % point of the root of Fisher's ratio, 7 to 15 parts
  constexpr std::size_t few = 8;
  const double others = std::max(spread_of(pulls[1]), spread_of(pulls[2]));
  if (pulls[0].size() < few) return others;
  const double views = spread_of(in_groups(pulls[0]));
  return others > beyond_chance * views ? others : views;
}

}  // namespace tandem::calibration
