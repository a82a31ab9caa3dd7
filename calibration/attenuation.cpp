#include "attenuation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "median.hpp"

namespace tandem::calibration {

namespace {

/// The coefficient of x^2 of the parabola that fits the squares of a line best, in the inner bins of those
/// that are above half of the largest; 0 if they are few. x is in bins.
double bend_of(std::span<const float> line) {
  constexpr Index few = 8;
  const float half = 0.5f * *std::ranges::max_element(line);
  Index first = 0, last = std::ssize(line);
  while (first < last && !(line[first] > half)) ++first;
  while (last > first && !(line[last - 1] > half)) --last;
  const Index count = last - first;
  if (count < few || !(half > 0)) return 0;
  // the second discrete Legendre polynomial: x^2 less what a line fits of it
  const double middle = 0.5 * (count - 1), mean = (1.0 * count * count - 1) / 12;
  double sum = 0, norm = 0;
  for (Index k = 0; k < count; ++k) {
    const double p = line[first + k], weight = (k - middle) * (k - middle) - mean;
    sum += weight * p * std::abs(p), norm += weight * weight;
  }
  return sum / norm;
}

}  // namespace

double attenuation_of_round(std::span<const float> line_integrals, Index bins, double bin_mm) {
  constexpr double air = 0.1;  // a share of the largest mean of a line
  std::vector<double> means;
  for (Index k = 0; k < std::ssize(line_integrals) / bins; ++k) {
    const std::span<const float> line = line_integrals.subspan(k * bins, bins);
    means.push_back(std::accumulate(line.begin(), line.end(), 0.0) / bins);
  }
  const double least = air * std::ranges::max(means);
  std::vector<double> bends;
  double mean = 0, lines = 0;
  for (Index k = 0; k < std::ssize(means); ++k)
    if (means[k] > least && means[k] > 0) {
      bends.push_back(bend_of(line_integrals.subspan(k * bins, bins)));
      mean += means[k], ++lines;
    }
  if (bends.empty()) return 0;
  if (const double bend = median_of(std::move(bends)); bend < 0) return 0.5 * std::sqrt(-bend) / bin_mm;
  return mean / lines / (0.25 * std::numbers::pi * bins * bin_mm);
}

}  // namespace tandem::calibration
