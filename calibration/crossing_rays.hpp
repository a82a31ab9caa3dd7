#pragma once

#include "frame_stack.hpp"
#include "opposite_views.hpp"

namespace tandem::calibration {

/// What opposite rays of a point source differ by because they cross. Both rise, by the slope a, from their
/// sources to the same row y over the midplane; they meet half way, above the axis. At the distance t from
/// there one is 2 a t higher than the other. So their line integrals differ by 2 a times the derivative by z
/// of the integral of t f along the ray, up to the third order in a. John's equation for parallel rays says
/// what that is: turning the ray by an angle changes its line integral by the derivative of the same integral
/// across the rays. So it is the sum, over the rays on one side of it, of how line integrals change from view
/// to view: these sums are taken from both sides, in the views of both rays, which cancels the next order.
///
/// A sample that is twisted about the axis pulls roll and midplane by this difference over the whole turn.
class CrossingRays {
 public:
  /// For pairs of rays about this bin, in these rows. `views` are those of the frames, all round.
  CrossingRays(const FrameStack& frames, const ViewsOfTurn& views, double axis, Range rows);
  /// By how much a ray at this place has more than its opposite one, for each row over the midplane.
  double per_row(Index view, double bin, double row) const {
    const auto first = static_cast<double>(first_);
    return Sampler(slopes_, bin, row - first).of(view).value;
  }

  /// The share of the sum of its squares that the views of both rays agree on: the rest is noise.
  double share() const { return share_; }

 private:
  FrameStack slopes_;
  double share_ = 0;
  Index first_;
};

}  // namespace tandem::calibration
