#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "view_blocks.hpp"

namespace tandem::pipeline::stripes {

/// A window of columns and its flanks on both sides, through which goes a cubic polynomial.
class Flanks {
 public:
  explicit Flanks(Index half);

  Index half() const { return half_; }
  /// Columns on either side of the middle that the window and a flank have together.
  Index reach() const { return half_ + std::max<Index>(half_, 3); }

  /// The excess of the window over the polynomial: its mean over the middle half of the window. @pre
  /// `reach()` columns on either side of `middle`
  OfBlocks excess(std::span<const OfBlocks> profile, Index middle) const;

  /// The weight of a column in that.
  double tap(Index column) const { return taps_[column + reach()]; }

  /// The same for each column of the window.
  std::vector<OfBlocks> excesses(std::span<const OfBlocks> profile, Index middle) const;

 private:
  static constexpr std::size_t powers = 4;
  using Powers = std::array<double, powers>;
  /// Polynomials of degrees 0 to 3 that are orthogonal, and of norm 1, on the flanks.
  Powers at(Index column) const;

  Index half_;
  double second_ = 0, third_ = 0;
  Powers scale_{1, 1, 1, 1};
  std::vector<double> taps_;
};

/// Windows of 1 to 91 columns.
const std::vector<Flanks>& windows();

}  // namespace tandem::pipeline::stripes
