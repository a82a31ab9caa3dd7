#pragma once

#include <complex>
#include <span>
#include <vector>

#include "../core/space.hpp"

// The misfit that double_wedge.cpp searches. About the axis c, a view P(w) and its opposite are mirror
// images: P(w, t + pi) = conj(P(w, t)) exp(-2 i w c). Every quadratic measure of how well this holds has the
// form
//
//     E(c) = constant + sum over w of Re(C(w) exp(-2 i w c)),
//
// which is a polynomial in exp(i c). C is summed once. After that every trial axis, whole or fractional,
// costs a few additions.
namespace tandem::calibration {

using Complex = std::complex<double>;

/// E(c) = constant + sum_k Re(coefficients[k] exp(-2 i w_k c)) with w_k = (k + 1) step in rad per bin, and c
/// in bins from the middle. `constant` is the mean of E for views that have nothing to do with each other.
struct Misfit {
  double step;
  std::vector<Complex> coefficients;
  double constant = 0;

  struct Value {
    double e, slope, curvature;
  };
  /// The sum without the constant; the second form takes only the terms first, ..., last - 1.
  Value at(double c) const { return at(c, 0, coefficients.size()); }
  Value at(double c, std::size_t first, std::size_t last) const;
  Misfit& operator+=(const Misfit& other);
};

/// The trial axis with the lowest misfit between two bins, by a grid and then by Newton's method. It is at an
/// end of the range, or beyond it, if the misfit is lower there.
double lowest(const Misfit& misfit, double from, double to);

/// Views in the form that double_wedge.cpp compares: views[v][k] = P(w_k) about the middle of the detector,
/// for w up to pi / 2.
struct Spectra {
  double step;
  std::vector<std::vector<Complex>> views;
};

/// The spectra of the views of one row. Views are differentiated along the bins, so that a body that the edge
/// of the detector cuts off makes no step there. Before that, `averaged(bins)` bins become one.
Spectra spectra(std::span<const float> line_integrals, Shape shape, Index row);
/// The number of bins that become one, so that at most 1024 are left. Finer detail moves the axis by less
/// than its uncertainty.
Index averaged(Index bins);

/// Means of `factor` bins, smoothed by 1 4 6 4 1, so that interpolation between bins does not reduce the
/// noise.
std::vector<float> smoothed(const float* line, Index bins, Index factor);

}  // namespace tandem::calibration
