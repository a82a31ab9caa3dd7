#include "view_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace tandem::pipeline::stripes {

namespace {

constexpr std::size_t trimmed = 2, kept = view_blocks - 2 * trimmed;

static_assert(freedom_of_blocks == kept - 1);

/// The probability that Student's ratio, with an odd number of degrees of freedom, lies beyond +-t
/// (Abramowitz and Stegun 26.7.3).
double beyond(double t, int freedom) {
  const double angle = std::atan(t / std::sqrt(freedom)), c = std::cos(angle);
  double term = c, sum = c;
  for (int k = 2; k < freedom - 1; k += 2) sum += term *= c * c * k / (k + 1);
  return 1 - 2 / std::numbers::pi * (angle + std::sin(angle) * sum);
}

}  // namespace

TrimmedMean trimmed_mean(const OfBlocks& values) {
  OfBlocks sorted = values;
  std::ranges::sort(sorted);
  const auto first = sorted.begin() + trimmed, last = sorted.end() - trimmed;
  const double mean = std::accumulate(first, last, 0.0) / kept;
  std::fill(sorted.begin(), first, *first);
  std::fill(last, sorted.end(), last[-1]);
  const double middle = std::accumulate(sorted.begin(), sorted.end(), 0.0) / view_blocks;
  double squares = 0;
  for (const double x : sorted) squares += (x - middle) * (x - middle);
  constexpr std::size_t batch = 4, batches = view_blocks / batch;
  double of_batches = 0;
  for (std::size_t k = 0; k < view_blocks; k += batch) {
    double own = 0;
    for (std::size_t i = k; i < k + batch; ++i) own += std::clamp(values[i], sorted.front(), sorted.back());
    of_batches += (own / batch - middle) * (own / batch - middle);
  }
  constexpr double share = 1.0 * kept / view_blocks;
  return {mean, squares / (kept * (kept - 1)), of_batches / (share * share * batches * (batches - 1))};
}

double ratio_by_chance(double probability, int freedom) {
  double low = 0, high = 1e3;
  for (int round = 0; round < 60; ++round)
    (beyond(0.5 * (low + high), freedom) > probability ? low : high) = 0.5 * (low + high);
  return high;
}

/// 20 is what chance exceeds once in 10,000 times, with 2 and 13 degrees of freedom (16.7), and a little
/// more, because blocks beside each other have something in common.
bool change_smoothly(const OfBlocks& values) {
  constexpr double limit = 20, n = view_blocks;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double line = 0, parabola = 0, lines = 0, parabolas = 0, all = 0;
  for (std::size_t k = 0; k < view_blocks; ++k) {
    const double x = k - 0.5 * (n - 1), bent = x * x - (n * n - 1) / 12;
    line += x * (values[k] - mean), lines += x * x;
    parabola += bent * (values[k] - mean), parabolas += bent * bent;
    all += (values[k] - mean) * (values[k] - mean);
  }
  const double smooth = line * line / lines + parabola * parabola / parabolas;
  return smooth / 2 > limit * (all - smooth) / (n - 3);
}

}  // namespace tandem::pipeline::stripes
