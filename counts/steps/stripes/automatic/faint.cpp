#include "faint.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "../banded.hpp"

namespace tandem::pipeline::stripes {

namespace {

constexpr double of_median = 1.4826;  // a normal deviation over the median of absolute values

/// The sum of the squares of the coefficients of fourth differences, 1 4 6 4 1.
constexpr double squares = 70;

}  // namespace

double Strength::stripes() const { return std::sqrt(std::max(0.0, found * found - by_noise * by_noise)); }

bool Strength::is_significant() const {
  constexpr double least = 3e-4;
  return found * found > 2 * by_noise * by_noise && stripes() > least;
}

Strength strength_of(const ColumnSpreads& fourth, Index views) {
  std::vector<float> sizes;
  for (const float m : fourth.medians) sizes.push_back(std::abs(m));
  const double scale = of_median / std::sqrt(squares);
  const double of_views = std::sqrt(0.5 * std::numbers::pi / views);
  return {scale * median(sizes), of_views * scale * median(fourth.distances)};
}

std::vector<double> constants_of(std::span<const float> d, const Strength& strength) {
  constexpr std::array<double, 3> second{1, -2, 1};
  constexpr double alpha = 0.05;  // leaves alone what is longer than about 13 columns
  constexpr int rounds = 4;
  const double usual = strength.stripes(), limit = 4 * std::sqrt(6.0) * strength.found;
  std::vector<bool> edge(d.size());
  for (std::size_t k = 0; k < d.size(); ++k)
    if (std::abs(d[k]) >= limit)
      for (std::size_t i = k - std::min<std::size_t>(k, 1); i < std::min(k + 2, d.size()); ++i)
        edge[i] = true;
  std::vector<double> e;
  for (int round = 0; round < rounds; ++round) {
    Banded matrix(d.size() + 2);
    e.assign(d.size() + 2, 0.0);
    for (std::size_t k = 0; k < d.size(); ++k) {
      if (edge[k]) continue;
      matrix.add_square(k, second);
      for (std::size_t i = 0; i < second.size(); ++i) e[k + i] += second[i] * d[k];
    }
    for (std::size_t k = 0; k < e.size(); ++k) matrix(k, k) += alpha;
    matrix.solve(e);
    for (std::size_t k = 0; k < e.size(); ++k)
      if (std::abs(e[k]) > 3.5 * usual)
        for (std::size_t i = k - std::min<std::size_t>(k, 2); i <= std::min(k, d.size() - 1); ++i)
          edge[i] = true;
  }
  for (double& constant : e) constant = std::clamp(constant, -3 * usual, 3 * usual);
  return e;
}

}  // namespace tandem::pipeline::stripes
