#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tandem {

/// The directions of views around a circle, and the gaps between them. Views whose angles differ by no more
/// than a file rounds are one direction. A hole is a gap that is much wider than the usual one: data vary
/// between its ends.
class Circle {
 public:
  Circle(std::span<const double> angles, double period);

  /// The directions, rad, in rising order from the one behind the widest gap on.
  const std::vector<double>& directions() const { return directions_; }
  /// Gaps between neighbouring directions, around the circle, rad.
  double widest_gap() const { return gaps_.back(); }
  double widest_gap_but_one() const;
  std::size_t holes() const;
  /// Whether a hole is so wide that no view can stand for what lies in it: a sixth of the circle.
  bool is_open() const;
  double widest_filled() const;

  /// The part of the circle that each view stands for, rad: half the gap to the next direction on both sides,
  /// shared by the views of a direction. At a hole it is half the step on the other side. Holes of up to
  /// `filled` rad are shared among the views that lie within two widths of the hole, the more the nearer.
  std::vector<double> weights(double filled) const;

  /// The outer half of the step of the first and of the last direction at an open hole, rad.
  double before_first() const;
  double after_last() const;

 private:
  bool is_hole(std::size_t k) const;
  double own_step(std::size_t inner) const;
  double unseen(std::size_t hole) const;
  void fill(std::size_t hole, const std::vector<double>& own, std::vector<double>& steps) const;

  double period_, usual_ = 0;
  std::vector<double> directions_, gaps_, views_;  ///< a direction, the gap after it, its number of views
  std::vector<std::size_t> direction_of_;          ///< the direction of each view
};

}  // namespace tandem
