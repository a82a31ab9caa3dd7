#include "curves.hpp"

#include <algorithm>
#include <set>

namespace tandem::pipeline {

namespace {

/// The value after `iteration` iterations, or the last value before.
double value_at(const Curve& curve, int iteration) {
  const auto next = std::upper_bound(curve.iterations.begin(), curve.iterations.end(), iteration);
  if (next == curve.iterations.begin()) return 0;
  return curve.values[next - curve.iterations.begin() - 1];
}

}  // namespace

Curve sum_of(const std::vector<const Curve*>& curves) {
  std::set<int> iterations;
  for (const Curve* curve : curves) iterations.insert(curve->iterations.begin(), curve->iterations.end());
  Curve sum;
  for (const int iteration : iterations) {
    double value = 0;
    for (const Curve* curve : curves) value += value_at(*curve, iteration);
    sum.add(iteration, value);
  }
  return sum;
}

bool is_due(int iteration, const Curve& curve) {
  return iteration > curve.last() && (iteration <= 20 || 20 * iteration >= 21 * curve.last());
}

bool is_rarely_due(int iteration) {
  while (iteration >= 10 && iteration % 10 == 0) iteration /= 10;
  return iteration <= 2 || iteration == 5;
}

}  // namespace tandem::pipeline
