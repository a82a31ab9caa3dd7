#pragma once

#include <array>
#include <vector>

#include "../core/array.hpp"
#include "../kernels/metal.hpp"

namespace tandem::pipeline {

/// A length and the line integral that is measured over it.
using LengthAndLine = std::array<double, 2>;

/// Fits by least squares of relative errors the lengths l = a_1 q + a_2 q^2 + ...; returns c_k = a_k / a_1.
/// @pre lengths and line integrals are positive, and more than `terms` of them differ
std::vector<double> fitted_polynomial(const std::vector<LengthAndLine>& lengths, std::size_t terms);

/// p = c_1 q + c_2 q^2 + ..., where q is what was measured. There is no c_0: air stays air. Beyond
/// `straight_from` the curve goes on as its tangent there.
class HardeningPolynomial {
 public:
  explicit HardeningPolynomial(std::vector<double> coefficients, double straight_from = highest);
  static constexpr double highest = 100;         ///< no measured line integral comes near it
  double rises_to() const { return rises_to_; }  ///< the polynomial rises from 0 to here, at most `highest`
  double straight_from() const { return straight_from_; }
  const std::vector<double>& coefficients() const { return coefficients_; }
  double operator()(double q) const { return curve()(q); }
  double slope(double q) const;  ///< dp/dq, by which noise grows
  /// The same for kernels, as long as this lives.
  kernels::StraightenedCurve curve() const {
    return {coefficients_.data(), std::ssize(coefficients_), straight_from_, value_there_, slope_there_};
  }

 private:
  std::vector<double> coefficients_;
  double straight_from_ = highest, rises_to_ = 0, value_there_ = 0, slope_there_ = 0;
};

using kernels::DenserMaterial;

/// Corrects line integrals, on any device. @throws GeometryError if one lies where the polynomial falls
void straighten(const HardeningPolynomial& polynomial, VectorView y);

}  // namespace tandem::pipeline
