#include "hardening_fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../../core/error.hpp"

namespace tandem::pipeline {

namespace {

using Pair = std::array<double, 2>;

/// Attenuation of water by energy, keV and cm^2/g (NIST, Tables of X-Ray Mass Attenuation Coefficients).
constexpr std::array<Pair, 12> water{{{10, 5.329},
                                      {15, 1.673},
                                      {20, 0.8096},
                                      {30, 0.3756},
                                      {40, 0.2683},
                                      {50, 0.2269},
                                      {60, 0.2059},
                                      {80, 0.1837},
                                      {100, 0.1707},
                                      {150, 0.1505},
                                      {200, 0.1370},
                                      {300, 0.1186}}};

/// Between the energies of the table by the cubic through four of them, of logarithms.
double attenuation_of_water(double kev) {
  std::size_t first = 0;
  while (first + 4 < water.size() && water[first + 2][0] < kev) ++first;
  double sum = 0;
  for (std::size_t i = first; i < first + 4; ++i) {
    double weight = 1;
    for (std::size_t j = first; j < first + 4; ++j)
      if (j != i) weight *= std::log(kev / water[j][0]) / std::log(water[i][0] / water[j][0]);
    sum += weight * std::log(water[i][1]);
  }
  return std::exp(sum);
}

/// What makes the square A x = b true; A has a row for each b. By elimination with the largest pivots.
std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i + 1; r < n; ++r)
      if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
    std::swap(a[i], a[pivot]), std::swap(b[i], b[pivot]);
    for (std::size_t r = i + 1; r < n; ++r) {
      const double factor = a[r][i] / a[i][i];
      for (std::size_t k = i; k < n; ++k) a[r][k] -= factor * a[i][k];
      b[r] -= factor * b[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

/// By least squares of relative errors: the lengths l = a_1 q + a_2 q^2 + ..., and c_k = a_k / a_1.
/// @pre lengths and line integrals are positive, and more than `terms` of them differ
std::vector<double> fitted(const std::vector<Pair>& lengths, std::size_t terms) {
  double most = 0;
  for (const auto& [length, q] : lengths) most = std::max(most, q);
  std::vector<std::vector<double>> a(terms, std::vector<double>(terms, 0.0));
  std::vector<double> b(terms, 0.0), powers(terms);
  for (const auto& [length, q] : lengths) {
    for (std::size_t k = 0; k < terms; ++k)
      powers[k] = std::pow(q / most, static_cast<double>(k + 1)) * most / length;
    for (std::size_t i = 0; i < terms; ++i) {
      b[i] += powers[i] * most;
      for (std::size_t k = 0; k < terms; ++k) a[i][k] += powers[i] * powers[k];
    }
  }
  std::vector<double> c = solved(std::move(a), std::move(b));
  const double first = c.front();
  for (std::size_t k = 0; k < terms; ++k) c[k] /= first * std::pow(most, static_cast<double>(k));
  return c;
}

}  // namespace

std::vector<double> fitted_to_wedge(std::span<const Pair> measured, const std::string& where) {
  std::vector<Pair> lengths;
  for (const auto& [length, q] : measured) {
    require<FileError>(std::isfinite(length) && std::isfinite(q) && length >= 0 && (q > 0 || length == 0),
                       where, ": a line integral of ", q, " over a length of ", length,
                       "; positive numbers are needed");
    if (length > 0) lengths.push_back({length, q});
  }
  std::ranges::sort(lengths);
  for (std::size_t k = 1; k < lengths.size(); ++k)
    require<FileError>(lengths[k][0] > lengths[k - 1][0] && lengths[k][1] > lengths[k - 1][1], where,
                       ": the line integral ", lengths[k][1], " over a length of ", lengths[k][0],
                       " follows ", lengths[k - 1][1],
                       "; line integrals that grow with the length are needed");
  constexpr std::size_t least = 4, most_terms = 3;
  require<FileError>(lengths.size() >= least, where, ": ", lengths.size(), " lengths; at least ", least,
                     " above 0 are needed");
  return fitted(lengths, std::min(most_terms, lengths.size() / 2));
}

std::vector<double> fitted_to_water(std::span<const Pair> spectrum, const std::string& where) {
  std::vector<Pair> lines;  // attenuation and share
  double all = 0, mean = 0;
  for (const auto& [kev, share] : spectrum) {
    require<FileError>(kev >= water.front()[0] && kev <= water.back()[0], where, ": an energy of ", kev,
                       " keV; the table of water goes from ", water.front()[0], " to ", water.back()[0],
                       " keV");
    require<FileError>(std::isfinite(share) && share >= 0, where, ": a share of ", share, " at ", kev,
                       " keV; a number of 0 or more is needed");
    lines.push_back({attenuation_of_water(kev), share});
    all += share, mean += share * lines.back()[0];
  }
  require<FileError>(all > 0, where, ": all shares are 0; at least one must be above");
  constexpr std::size_t terms = 5, steps = 200;
  constexpr double highest = 6;  // of the line integrals
  const auto measured = [&](double length) {
    double transmission = 0;
    for (const auto& [attenuation, share] : lines)
      transmission += share / all * std::exp(-attenuation * length);
    return -std::log(transmission);
  };
  double longest = highest * all / mean;
  while (measured(longest) < highest) longest *= 1.05;
  std::vector<Pair> lengths;
  for (std::size_t k = 1; k <= steps; ++k) {
    const double length = longest * static_cast<double>(k) / steps;
    lengths.push_back({length, measured(length)});
  }
  return fitted(lengths, terms);
}

}  // namespace tandem::pipeline
