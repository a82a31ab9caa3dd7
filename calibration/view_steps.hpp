#pragma once

#include <Eigen/Core>
#include <array>
#include <vector>

#include "view_moves.hpp"

namespace tandem::calibration {

/// Correlation of the slopes of two stacks, over all views, and the least-squares factor between them: the
/// slopes of the first stack times `gain` are nearest to those of the second one.
struct Agreement {
  double correlation = 0, gain = 0;
};

std::array<Agreement, kinds_of_move> agreement(const FrameStack& a, const FrameStack& b);

/// The cells that count. At the edges volumes end, and rows there lie within some views only: those that
/// moved by so many rows at most.
struct Inner {
  Range rows, bins;
  explicit Inner(const FrameStack& frames, double rows_moved = 0);
};

/// Patches of a frame, each of which pulls by itself: bands of whole rows, since what a filter does wrong
/// pulls to both sides within a row; if there are few bands, these in parts.
class Patches {
 public:
  explicit Patches(const Inner& inner);
  Index count() const { return bands_ * parts_; }
  Index of(Index row, Index bin) const {
    return (row - inner_.rows.first) * bands_ / inner_.rows.size() * parts_ +
           (bin - inner_.bins.first) * parts_ / inner_.bins.size();
  }
  /// What the sum of squares of their pulls has to be multiplied by.
  double scale() const;
  /// The variance of Student's t: by how much the square of an error is larger than a scatter of so few.
  double few() const { return (count() - 1.0) / std::max(1.0, count() - 3.0); }

 private:
  Inner inner_;
  Index bands_, parts_;
};

/// Three moves, brightness and offset at most.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 5, 5>;
using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 5, 1>;

/// What a frame beside its reprojection tells of the moves that are searched.
struct Step {
  Vector move;
  Matrix covariance;
  /// By patches of the frame: the geometric mean of what each adds to the move, and of what the move changes
  /// by without it. A fit to all follows a patch, so the first one is too small; the second one is too large
  /// by as much (Bell and McCaffrey 2002).
  std::vector<Vector> pulls{};
  double misfit = 0, size = 0;  ///< sums of squares
};

/// The step of Gauss and Newton, with brightness and offset of the frame left free.
Step step_of(const FrameStack& frames, const FrameStack& seen, Index view, const std::vector<Move>& searched,
             const Inner& inner);

}  // namespace tandem::calibration
