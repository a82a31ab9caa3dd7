#include "hierarchical_taps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>
#include <vector>

#include "../core/error.hpp"

namespace tandem::kernels {

namespace {

using Numbers = std::vector<double>;

/// The solution of a small system of equations, whose rows end with the right-hand side.
Numbers solved(std::vector<Numbers> rows) {
  const std::size_t n = rows.size();
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t best = p;
    for (std::size_t r = p + 1; r < n; ++r)
      if (std::abs(rows[r][p]) > std::abs(rows[best][p])) best = r;
    std::swap(rows[p], rows[best]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == p) continue;
      const double share = rows[r][p] / rows[p][p];
      for (std::size_t c = p; c <= n; ++c) rows[r][c] -= share * rows[p][c];
    }
  }
  Numbers x(n);
  for (std::size_t p = 0; p < n; ++p) x[p] = rows[p][n] / rows[p][p];
  return x;
}

/// What a mean over a box leaves of a wave of s cycles a unit.
double mean_over_box(double width, double s) {
  const double at = std::numbers::pi * width * s;
  return at == 0 ? 1 : std::sin(at) / at;
}

/// The integral of cos(2 pi s x), behind means over boxes, over the frequencies s that count.
double correlation(const TapDesign& design, double x, std::array<double, 2> boxes = {0, 0}) {
  constexpr int steps = 300;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double s = (i + 0.5) / steps * design.band / 2;
    sum += std::pow(std::cos(std::numbers::pi * s), 2 * design.flatness) * mean_over_box(boxes[0], s) *
           mean_over_box(boxes[1], s) * std::cos(2 * std::numbers::pi * s * x);
  }
  return sum / steps;
}

/// Weights of taps by least squares under the condition that they sum to 1, by a Lagrange multiplier.
/// `apart`: the correlation of samples that are 0, 1, ... steps apart.
Numbers weights_at(const TapDesign& design, std::array<double, 2> boxes, const Numbers& apart,
                   double fraction) {
  const std::size_t n = design.count;
  std::vector<Numbers> rows(n + 1, Numbers(n + 2, 1.0));
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c < n; ++c) rows[r][c] = apart[r > c ? r - c : c - r] + (r == c ? 1e-11 : 0);
    rows[r][n + 1] = correlation(design, static_cast<double>(r) + 1 - 0.5 * design.count - fraction, boxes);
  }
  rows[n][n] = 0;
  Numbers weights = solved(std::move(rows));
  weights.resize(n);
  return weights;
}

}  // namespace

Taps taps_of(const TapDesign& design, std::array<double, 2> boxes) {
  constexpr int nodes = powers_of_taps;  // nodes of Chebyshev, between which the polynomials run
  std::vector<Numbers> at_nodes;
  Numbers places, apart;
  for (int k = 0; k < design.count; ++k) apart.push_back(correlation(design, k));
  for (int j = 0; j < nodes; ++j) {
    places.push_back(0.5 * std::cos(std::numbers::pi * (j + 0.5) / nodes));
    at_nodes.push_back(weights_at(design, boxes, apart, places.back() + 0.5));
  }
  Taps taps;
  taps.count = design.count;
  for (int tap = 0; tap < design.count; ++tap) {
    std::vector<Numbers> rows;
    for (std::size_t j = 0; j < places.size(); ++j) {
      Numbers& row = rows.emplace_back();
      for (int p = 0; p < nodes; ++p) row.push_back(std::pow(2 * places[j], p));
      row.push_back(at_nodes[j][tap]);
    }
    const Numbers powers = solved(std::move(rows));
    for (int p = 0; p < nodes; ++p) taps.powers[p][tap] = static_cast<float>(powers[p] * std::pow(2.0, p));
  }
  return taps;
}

Taps linear_taps() {
  Taps taps;
  taps.count = 2;
  taps.powers[0][0] = taps.powers[0][1] = 0.5f;
  taps.powers[1][0] = -1, taps.powers[1][1] = 1;
  return taps;
}

namespace {

constexpr int positions_of_wave = 16;

/// Calls use(value) for some positions: what taps read of a wave there, over the wave itself.
template <class Use>
void for_values_of_wave(const Taps& taps, double f, const Use& use) {
  for (int i = 0; i < positions_of_wave; ++i) {
    const double fraction = (i + 0.5) / positions_of_wave;
    std::complex<double> value = 0;
    for (int k = 0; k < taps.count; ++k)
      value += static_cast<double>(taps.weight(k, static_cast<float>(fraction - 0.5))) *
               std::polar(1.0, 2 * std::numbers::pi * f * (taps.first() + k - fraction));
    use(value);
  }
}

}  // namespace

double mean_response(const Taps& taps, double f) {
  double sum = 0;
  for_values_of_wave(taps, f, [&](std::complex<double> value) { sum += value.real(); });
  return sum / positions_of_wave;
}

double mean_power(const Taps& taps, double f) {
  double sum = 0;
  for_values_of_wave(taps, f, [&](std::complex<double> value) { sum += std::norm(value); });
  return sum / positions_of_wave;
}

namespace {

/// The designs from coarse to fine. The first one is the usual one.
constexpr std::array designs{HierarchicalDesign{1e-2, {6, 0.7, 4}, {8, 0.7, 4}, {8, 1 / 1.4, 3}, 1.4},
                             HierarchicalDesign{3e-3, {8, 0.8, 6}, {12, 0.8, 4}, {8, 1 / 1.6, 3}, 1.6},
                             HierarchicalDesign{1e-3, {12, 0.8, 4}, {12, 0.8, 4}, {8, 0.5, 3}, 2}};

}  // namespace

const HierarchicalDesign& hierarchical_design(double accuracy) {
  if (accuracy == 0) return designs.front();
  const auto found = std::find_if(designs.begin(), designs.end(),
                                  [&](const HierarchicalDesign& d) { return d.accuracy <= accuracy; });
  require<GeometryError>(found != designs.end(), "hierarchical model: accuracy ", accuracy,
                         " is beyond its taps; ", designs.back().accuracy, " or more is needed");
  return *found;
}

const HierarchicalTaps& hierarchical_taps(const HierarchicalDesign& design) {
  static const std::vector<HierarchicalTaps> all = [] {
    std::vector<HierarchicalTaps> made;
    for (const HierarchicalDesign& d : designs)
      made.push_back({taps_of(d.of_views), taps_of(d.across), taps_of(d.depth)});
    return made;
  }();
  return all[static_cast<std::size_t>(&design - designs.data())];
}

Thinning thinning_of(const Taps& taps, double ratio, Index cells) {
  const auto weight = [&](double x) {  // weight of a sample that lies x steps before a place
    const double whole = std::floor(x);
    const int tap = taps.count / 2 - 1 - static_cast<int>(whole);
    return tap < 0 || tap >= taps.count ? 0.0 : taps.weight(tap, static_cast<float>(x - whole - 0.5));
  };
  const double reach = 0.5 * taps.count;
  Thinning thin;
  thin.count = static_cast<int>(std::ceil(2 * reach * ratio)) + 1;
  thin.samples = {-static_cast<Index>(reach),
                  static_cast<Index>(std::floor((cells - 1) / ratio + reach)) + 1};
  for (Index i = thin.samples.first; i < thin.samples.last; ++i) {
    const double middle = ratio * i;
    const auto first = static_cast<Index>(std::ceil(middle - reach * ratio));
    const Index kept = std::clamp<Index>(first, 0, std::max<Index>(0, cells - thin.count));
    double sum = 0;
    for (int k = 0; k < thin.count; ++k) sum += weight((middle - (first + k)) / ratio);
    thin.cells.push_back(static_cast<std::int32_t>(kept));
    for (int k = 0; k < thin.count; ++k)
      thin.weights.push_back(
          kept + k < cells ? static_cast<float>(weight((middle - (kept + k)) / ratio) / sum) : 0);
  }
  return thin;
}

}  // namespace tandem::kernels
