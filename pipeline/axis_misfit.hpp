#pragma once

#include <complex>
#include <span>
#include <vector>

#include "../core/space.hpp"

// What double_wedge.cpp searches. About the axis c, a view P(w) and its opposite are mirror images:
// P(w, t + pi) = conj(P(w, t)) exp(-2 i w c). Whatever measures how well that holds, if it is quadratic in
// the data, is
//     E(c) = constant + sum over w of Re(C(w) exp(-2 i w c)),
// a polynomial in exp(i c): C is summed once, after which every trial axis, whole or fractional, costs a few
// additions.
namespace tandem::pipeline {

using Complex = std::complex<double>;

/// E(c) = constant + sum_k Re(coefficients[k] exp(-2 i w_k c)), w_k = (k + 1) step in rad a bin; c in bins
/// from the middle. `constant` is what E would be, on average, for views that know nothing of each other.
struct Misfit {
  double step;
  std::vector<Complex> coefficients;
  double constant = 0;

  struct Value {
    double e, slope, curvature;
  };
  /// Of the sum, without the constant; of the terms first, ..., last - 1 alone.
  Value at(double c) const { return at(c, 0, coefficients.size()); }
  Value at(double c, std::size_t first, std::size_t last) const;
  Misfit& operator+=(const Misfit& other);
};

/// The trial axis with the lowest misfit between two bins, by a grid and then Newton's method; at an end, or
/// beyond it, where it is lower there.
double lowest(const Misfit& misfit, double from, double to);

/// Views as double_wedge.cpp compares them, views[v][k] = P(w_k) about the middle of the detector, w up to pi
/// / 2.
struct Spectra {
  double step;
  std::vector<std::vector<Complex>> views;
};

/// Of the views of one row, differentiated along the bins, so that a body cut off by the edge of the detector
/// makes no step there. Bins are averaged by `averaged(bins)` first.
Spectra spectra(std::span<const float> line_integrals, Shape shape, Index row);
Index averaged(Index bins);  ///< to at most 1024: finer detail moves the axis by less than its uncertainty

/// Means of `factor` bins, smoothed by 1 4 6 4 1, so that interpolation between bins takes no noise away.
std::vector<float> smoothed(const float* line, Index bins, Index factor);

}  // namespace tandem::pipeline
