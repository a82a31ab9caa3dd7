#pragma once

#include <vector>

#include "plane.hpp"

// Faint stripes in many columns, as gains of cells leave them: constants of columns in line integrals.

namespace tandem::pipeline::stripes {

/// Differences of an order between neighbouring columns: their median over the views, and how far they spread
/// around it (as a standard deviation). What moves with the views is hardly in the median.
struct Differences {
  std::vector<double> medians, spreads;  ///< one for each column, less the order
};
/// `columns`: (bin, view)
Differences differences(const Plane& columns, Index order);

/// The standard deviation of the constants of columns, and that which noise alone would give. By differences
/// of fourth order, which leave little of a sample; medians over the columns do not heed its edges.
struct Strength {
  double found = 0, by_noise = 0;
  double stripes() const;  ///< what is left without the noise
  /// Twice the variance of noise, and at least 0.03 %, which no picture shows.
  bool is_significant() const;
};
Strength strength_of(const Plane& columns);

/// The constants: the smallest ones that have the second differences of the columns. Where these are too
/// large for stripes of that strength, there is an edge of the sample, and they do not count. No constant is
/// more than three times the strength.
std::vector<double> constants_of(const Plane& columns, const Strength& strength);

}  // namespace tandem::pipeline::stripes
