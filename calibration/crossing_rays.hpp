#pragma once

#include "axis_line.hpp"
#include "frame_stack.hpp"
#include "views_of_turn.hpp"

namespace tandem::calibration {

/// What opposite rays of a point source differ by because they cross. Both rise, by the slope a, from their
/// sources to the same row y over the midplane; they meet half way, above the axis. At the distance t from
/// there one is 2 a t higher than the other. So their line integrals differ by 2 a times the derivative by z
/// of the integral Q of t f along the ray, up to the third order in a. John's equation says what that is.
/// Where F is the integral of f along a ray at the distance s from the axis that rises by a, a turn of the
/// ray by an angle changes F by -(dQ/ds + s a dF/dz). So Q is the sum, over the rays on one side of it, of
/// how line integrals change from view to view and, times s a, from row to row. These sums are taken from
/// both sides, in the views of both rays: half of their noise is independent.
///
/// A sample that is twisted about the axis pulls roll and midplane by this difference over the whole turn.
class CrossingRays {
 public:
  /// For pairs of rays about this line, in these rows, of each `stride`-th view. `views` are those of the
  /// frames, all round.
  CrossingRays(const FrameStack& frames, const ViewsOfTurn& views, const AxisLine& about, Range rows,
               Index stride = 1);
  /// By how much a ray so many bins and rows from the foot of the upright axis has more than its opposite
  /// one, for each row over the midplane.
  Sample per_row(Index view, double bins, double rows) const {
    return Sampler(slopes_, about_.axis_bin + bins, about_.row + rows - static_cast<double>(first_)).of(view);
  }

  /// The share of the sum of its squares that the views of both rays agree on: the rest is noise.
  double share() const { return share_; }

 private:
  FrameStack slopes_;
  AxisLine about_;
  double share_ = 0;
  Index first_;
};

}  // namespace tandem::calibration
