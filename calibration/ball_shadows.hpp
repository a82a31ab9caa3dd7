#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "../core/space.hpp"

namespace tandem::calibration {

/// The shadow of one ball in one view.
struct Spot {
  Eigen::Vector2d cell;  ///< bin and row of its middle: the mean of cells, weighted by their values
  double variance;       ///< variance across its longest direction; the height of a cell is 1
};

/// The shadows of balls in one frame of line integrals, (row, bin). A shadow is a round spot above a quarter
/// of the frame's peak. The background, a plane through a rim about the spot, is subtracted. Spots that touch
/// each other or the edge of the frame are left out, and so are spots that are not round. `bin_size` is the
/// width of a cell over its height.
std::vector<Spot> ball_shadows(std::span<const float> frame, Index rows, Index bins, double bin_size = 1);

}  // namespace tandem::calibration
