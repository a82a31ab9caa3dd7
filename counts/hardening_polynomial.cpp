#include "hardening_polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../core/error.hpp"
#include "../core/spelled.hpp"

namespace tandem::pipeline {

namespace {

/// Solves the square system A x = b; A has a row for each b. By elimination with the largest pivots.
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

}  // namespace

std::vector<double> fitted_polynomial(const std::vector<LengthAndLine>& lengths, std::size_t terms) {
  double most = 0;
  for (const auto& [length, q] : lengths) most = std::max(most, q);
  std::vector<std::vector<double>> a(terms, std::vector<double>(terms, 0.0));
  std::vector<double> b(terms, 0.0), powers(terms);
  for (const auto& [length, q] : lengths) {
    for (std::size_t k = 0; k < terms; ++k) powers[k] = std::pow(q / most, k + 1) * most / length;
    for (std::size_t i = 0; i < terms; ++i) {
      b[i] += powers[i] * most;
      for (std::size_t k = 0; k < terms; ++k) a[i][k] += powers[i] * powers[k];
    }
  }
  std::vector<double> c = solved(std::move(a), std::move(b));
  const double first = c.front();
  for (std::size_t k = 0; k < terms; ++k) c[k] /= first * std::pow(most, k);
  return c;
}

HardeningPolynomial::HardeningPolynomial(std::vector<double> coefficients, double straight_from)
    : coefficients_(std::move(coefficients)), straight_from_(straight_from) {
  constexpr int steps_of_one = 100;
  slope_there_ = slope(straight_from_);
  value_there_ = curve()(straight_from_);
  const auto at = [&](int step) { return std::min(1.0 * step / steps_of_one, straight_from_); };
  int step = 0;
  while (step < highest * steps_of_one && slope(at(step)) > 0) ++step;
  rises_to_ = 1.0 * step / steps_of_one;
}

double HardeningPolynomial::slope(double q) const {
  const double bent = std::min(q, straight_from_);
  double sum = 0;
  for (std::size_t k = coefficients_.size(); k > 0; --k) sum = sum * bent + k * coefficients_[k - 1];
  return sum;
}

void straighten(const HardeningPolynomial& polynomial, VectorView y) {
  Stream& stream = default_stream(y.space.device());
  for (int k = 0; k < y.space.shares(); ++k) {
    Stream& own = stream.member(k);
    const Index above = kernels::metal(own.device())
                            .straighten(polynomial.curve(), polynomial.rises_to(), image(y.share(k)), own);
    require<GeometryError>(above == 0, spelled("beam-hardening"), ": ", above, " line integrals are beyond ",
                           polynomial.rises_to(),
                           ", from where on the polynomial falls; give coefficients with which it rises "
                           "over all of them");
  }
}

}  // namespace tandem::pipeline
