#pragma once

#include <span>
#include <vector>

#include "../spreads.hpp"

// Faint stripes in many columns, as gains of cells leave them: constants of columns in line integrals.

namespace tandem::pipeline::stripes {

/// The standard deviation of the constants of columns, and the one that noise alone would give. It comes from
/// differences of fourth order, which leave little of a sample, and from medians over the columns, which do
/// not heed its edges.
struct Strength {
  double found = 0, by_noise = 0;
  double stripes() const;  ///< what is left without the noise
  /// Twice the variance of noise, and at least 0.03 %, which no picture shows.
  bool is_significant() const;
};
/// `fourth`: spreads of those differences, whose distances are medians, over so many views.
Strength strength_of(const ColumnSpreads& fourth, Index views);

/// The constants: the smallest ones that have the second differences of the columns. Differences too large
/// for stripes of that strength are at an edge of the sample, and do not count. No constant is more than
/// three times the strength. `second`: medians of second differences.
std::vector<double> constants_of(std::span<const float> second, const Strength& strength);

}  // namespace tandem::pipeline::stripes
