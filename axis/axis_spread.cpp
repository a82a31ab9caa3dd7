#include "axis_spread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tandem::pipeline {

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

}  // namespace tandem::pipeline
