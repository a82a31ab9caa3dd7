#include "combining.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "../core/error.hpp"
#include "../core/names.hpp"

namespace tandem::pipeline {

namespace {

constexpr std::array<std::string_view, 3> names{"mean", "trimmed", "median"};

/// How many values are left out at each end.
Index left_out(Combining how, Index count) {
  if (how == Combining::median) return (count - 1) / 2;
  if (how == Combining::mean || count < 3) return 0;
  return std::max<Index>(1, count / 10);
}

/// The value that a normal deviate of variance 1 exceeds with this probability, in (0, 1/2]. Newton's method
/// on a convex function comes down to it.
double quantile(double above) {
  double z = 0;
  for (int k = 0; k < 60; ++k) {
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
    z += (0.5 * std::erfc(z / std::numbers::sqrt2) - above) / density;
  }
  return z;
}

}  // namespace

Combining combining_named(std::string_view name) {
  return name.empty() ? Combining::mean : value_named<Combining>(names, name, "method of combining frames:");
}

std::string_view name_of(Combining how) { return tandem::row_of(names, how); }

double combined(std::span<double> values, Combining how) {
  const Index count = values.size();
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  const Index out = left_out(how, count);
  if (out > 0) {
    std::ranges::nth_element(values, values.begin() + out);
    std::nth_element(values.begin() + out, values.end() - out - 1, values.end());
    values = values.subspan(out, count - 2 * out);
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

double variance_of(Combining how, Index count) {
  const double n = count;
  const double share = left_out(how, count) / n, kept = 1 - 2 * share;
  if (share == 0) return 1 / n;
  const double z = quantile(share);
  const double within =
      kept - 2 * z * std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);  // second moment below z
  return (within + 2 * share * z * z) / (kept * kept * n);
}

}  // namespace tandem::pipeline
