#include "axis_spread.hpp"

#include <algorithm>
#include <cmath>

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

double axis_spread(const std::array<std::vector<double>, 3>& pulls) {
  constexpr double beyond_chance = 1.6;  // the 95 % point of the root of Fisher's ratio, 7 to 15 parts
  constexpr std::size_t few = 8;
  const double others = std::max(spread_of(pulls[1]), spread_of(pulls[2]));
  if (pulls[0].size() < few) return others;
  const double views = spread_of(in_groups(pulls[0]));
  return others > beyond_chance * views ? others : views;
}

}  // namespace tandem::calibration
