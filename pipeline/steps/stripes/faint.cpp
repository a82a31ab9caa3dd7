#include "faint.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "../../../core/parallel.hpp"
#include "banded.hpp"

namespace tandem::pipeline::stripes {

namespace {

constexpr double of_median = 1.4826;  // a normal deviation, of the median of absolute values

/// With alternating signs, so that the sum of squares is `squares`.
std::vector<float> binomials(Index order) {
  std::vector<float> row{1};
  for (Index k = 0; k < order; ++k) {
    row.push_back(0);
    for (std::size_t i = row.size() - 1; i > 0; --i) row[i] -= row[i - 1];
  }
  return row;
}

double squares(Index order) {
  double sum = 0;
  for (const float b : binomials(order)) sum += static_cast<double>(b) * b;
  return sum;
}

}  // namespace

Differences differences(const Plane& columns, Index order) {
  const std::vector<float> weights = binomials(order);
  const Index count = columns.rows - order, views = columns.columns;
  Differences all{std::vector<double>(static_cast<std::size_t>(count)), {}};
  all.spreads = all.medians;
  parallel_for_blocks(count, 16, [&](Range some) {
    std::vector<float> values(static_cast<std::size_t>(views));
    for (Index bin = some.first; bin < some.last; ++bin) {
      std::ranges::fill(values, 0.0f);
      for (std::size_t k = 0; k < weights.size(); ++k) {
        const float* column = columns.row(bin + static_cast<Index>(k));
        for (std::size_t view = 0; view < values.size(); ++view) values[view] += weights[k] * column[view];
      }
      const float middle = median(values);
      for (float& v : values) v = std::abs(v - middle);
      all.medians[static_cast<std::size_t>(bin)] = middle;
      all.spreads[static_cast<std::size_t>(bin)] = of_median * median(values);
    }
  });
  return all;
}

double Strength::stripes() const { return std::sqrt(std::max(0.0, found * found - by_noise * by_noise)); }

bool Strength::is_significant() const {
  constexpr double least = 3e-4;
  return found * found > 2 * by_noise * by_noise && stripes() > least;
}

Strength strength_of(const Plane& columns) {
  constexpr Index order = 4;
  Differences d = differences(columns, order);
  for (double& m : d.medians) m = std::abs(m);
  const double scale = std::sqrt(squares(order));
  const double of_views = std::sqrt(0.5 * std::numbers::pi / static_cast<double>(columns.columns));
  return {of_median * median(d.medians) / scale, of_views * median(d.spreads) / scale};
}

std::vector<double> constants_of(const Plane& columns, const Strength& strength) {
  constexpr std::array<double, 3> second{1, -2, 1};
  constexpr double alpha = 0.05;  // leaves alone what is longer than about 13 columns
  constexpr int rounds = 4;
  const std::vector<double> d = differences(columns, 2).medians;
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
