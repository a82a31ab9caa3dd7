#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "whole_turn.hpp"

namespace tandem::calibration {

/// Whether the projections of some rows agree with each other. The moment n of parallel rays at the angle phi
/// is the sum of s^n p over their distances s from the axis. It is a homogeneous polynomial of degree n in
/// cos phi and sin phi, whatever the sample is. So as a function of phi it has the harmonics n, n - 2, ...,
/// and no others. Sources: Helgason, Acta Math. 113 (1965); Ludwig, Comm. Pure Appl. Math. 19 (1966). The
/// moments here are those of a polynomial p = c_1 q + c_2 q^2 + ... of measured line integrals q. They are
/// linear in its coefficients, so data are read once. With line integrals s of the dense parts alone, they
/// are those of p = c_1 q + ... + c_7 q^7 + (c_8 q + ... + c_14 q^7) s + c_15 s^2.
class ViewMoments {
 public:
  static constexpr Index terms = 7;                   ///< coefficients of a polynomial
  static constexpr Index with_dense = 2 * terms + 1;  ///< coefficients if dense parts are given
  static constexpr Index fewest_views = 64, fewest_rays = 32;
  /// `dense`: null, or the same rays through the dense parts alone. @pre the turn has so many views and rays
  explicit ViewMoments(const WholeTurn& turn, LinesOf lines = LinesOf::cells,
                       const WholeTurn* dense = nullptr);

  /// The harmonics that no sample has, real parts and imaginary ones; linear in the coefficients.
  Eigen::VectorXd wrong(std::span<const double> coefficients) const { return wrong_ * scaled(coefficients); }
  /// The share of harmonics that no sample has: the root of the summed squares of those up to the twelfth, of
  /// the moments 0 to 3, over the mean of the moment 0, in thousandths. Rows count by their squares.
  double misfit(std::span<const double> coefficients) const;
  /// What noise alone makes of it, by harmonics from the 25th on.
  double noise(std::span<const double> coefficients) const;
  /// The mean over the rows of the moment 0.
  double mass(std::span<const double> coefficients) const;
  /// The largest line integral, but for one in ten thousand.
  double largest() const { return largest_; }

 private:
  Eigen::VectorXd scaled(std::span<const double> coefficients) const;

  double largest_ = 1, largest_dense_ = 1;
  Eigen::MatrixXd wrong_{}, high_{}, masses_{};  ///< (number, term), both parts of complex numbers; by rows
};

}  // namespace tandem::calibration
