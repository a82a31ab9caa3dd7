#include "view_angles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../core/error.hpp"
#include "circle.hpp"

namespace tandem {

Circle::Circle(std::span<const double> angles, double whole) : arc(whole), order(angles.size()) {
  std::vector<double> all(angles.size());
  for (std::size_t i = 0; i < angles.size(); ++i) {
    all[i] = std::fmod(angles[i], arc);
    if (all[i] < 0) all[i] += arc;
    // 180 degrees read from a file as single precision may fold to just below: the same view as 0
    if (arc - all[i] < 1e-6) all[i] = 0;
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return all[a] < all[b]; });
  for (std::size_t i : order) folded.push_back(all[i]);
}

double Circle::gap(std::size_t k) const {
  return k + 1 < folded.size() ? folded[k + 1] - folded[k] : folded[0] + arc - folded[k];
}

std::vector<double> view_weights(std::span<const double> angles, double arc) {
  const Circle circle(angles, arc);
  const std::size_t n = angles.size();
  std::vector<double> weights(n);
  for (std::size_t k = 0; k < n; ++k)
    weights[circle.order[k]] = 0.5 * (circle.gap((k + n - 1) % n) + circle.gap(k));
  return weights;
}

double widest_gap(std::span<const double> angles, double arc) {
  const Circle circle(angles, arc);
  double widest = 0;
  for (std::size_t k = 0; k < angles.size(); ++k) widest = std::max(widest, circle.gap(k));
  return widest;
}

std::vector<double> crop(const std::vector<double>& angles, Range views) {
  const auto count = static_cast<Index>(angles.size());
  require<GeometryError>(0 <= views.first && views.first < views.last && views.last <= count, "view range ",
                         views.first, ":", views.last, " is empty or outside 0:", count);
  return {angles.begin() + views.first, angles.begin() + views.last};
}

void validate_angles(std::string_view scan, const std::vector<double>& angles) {
  require<GeometryError>(!angles.empty(), scan, ": 0 views; at least 1 is needed");
  for (std::size_t i = 0; i < angles.size(); ++i)
    require<GeometryError>(std::isfinite(angles[i]), scan, ": the angle of view ", i, " is ", angles[i],
                           " rad; a finite number is needed");
}

}  // namespace tandem
