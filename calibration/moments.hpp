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
/// linear in its coefficients, so data are read once.
class ViewMoments {
 public:
  static constexpr Index terms = 7;  ///< coefficients of a polynomial
  static constexpr Index fewest_views = 64, fewest_rays = 32;
  /// @pre the turn has so many views and rays
  explicit ViewMoments(const WholeTurn& turn, LinesOf lines = LinesOf::cells);

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

  double largest_ = 1;
  Eigen::MatrixXd wrong_{}, high_{}, masses_{};  ///< (number, term), both parts of complex numbers; by rows
};

}  // namespace tandem::calibration
